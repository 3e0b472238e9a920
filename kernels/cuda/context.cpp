#include "kernels/cuda/context.hpp"

namespace stepcast::kernels {

Context::Context() {
  require_cuda(cudaStreamCreate(&stream_), "making a stream");
  require_cublas(cublasCreate(&blas_), "starting cuBLAS");
  require_cublas(cublasSetStream(blas_, stream_), "giving cuBLAS a stream");
  dnn_ = start_cudnn(stream_);
}

Context::~Context() {
  dnn_.reset();
  cublasDestroy(blas_);
  cudaStreamDestroy(stream_);
}

}  // namespace stepcast::kernels
