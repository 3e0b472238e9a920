#include "kernels/cuda/context.hpp"

namespace stepcast::kernels {

Context::Context() {
  require_cuda(cudaStreamCreate(&stream_), "making a stream");
  require_cublas(cublasCreate(&blas_), "starting cuBLAS");
  require_cublas(cublasSetStream(blas_, stream_), "giving cuBLAS a stream");
#ifdef STEPCAST_HAS_CUSOLVER
  solver_.emplace(stream_);
#endif
}

const Solver* Context::solver() const {
#ifdef STEPCAST_HAS_CUSOLVER
  return &*solver_;
#else
  return nullptr;
#endif
}

Context::~Context() {
#ifdef STEPCAST_HAS_CUSOLVER
  solver_.reset();
#endif
  cublasDestroy(blas_);
  cudaStreamDestroy(stream_);
}

}  // namespace stepcast::kernels
