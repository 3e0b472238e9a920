#include "kernels/cuda/cudnn.hpp"

namespace stepcast::kernels {

void DeleteCudnn::operator()(Cudnn*) const {}
bool has_cudnn() { return false; }
CudnnPointer start_cudnn(cudaStream_t) { return nullptr; }
void add_cudnn_launches(std::vector<Launch>&) {}

}  // namespace stepcast::kernels
