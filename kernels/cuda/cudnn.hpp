// cuDNN: its handle, and the convolutions prepared for it. Built where CMake finds it (STEPCAST_CUDNN); elsewhere
// without_cudnn.cpp stands in, with no launches.
#pragma once

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/launch.hpp"

namespace stepcast::kernels {

class CudnnError : public LibraryError {
 public:
  using LibraryError::LibraryError;
};

struct DeleteCudnn {
  void operator()(Cudnn* cudnn) const;
};
using CudnnPointer = std::unique_ptr<Cudnn, DeleteCudnn>;

/// Whether cudnn_layer_kernels() have launches here.
bool has_cudnn();

/// Enqueues on `stream`; null without cuDNN.
/// @throws CudnnError
CudnnPointer start_cudnn(cudaStream_t stream);

void add_cudnn_launches(std::vector<Launch>& list);

}  // namespace stepcast::kernels
