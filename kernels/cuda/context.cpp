#include "kernels/cuda/context.hpp"

namespace stepcast::kernels {

Context::Context() {
  require_cuda(cudaStreamCreate(&stream_), "making a stream");
  require_cublas(cublasCreate(&blas_), "starting cuBLAS");
  require_cublas(cublasSetStream(blas_, stream_), "giving cuBLAS a stream");
  // By default cuBLAS may add up parts of a sum in bf16.
  require_cublas(cublasSetMathMode(blas_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                                    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
                 "keeping sums in fp32");
  dnn_ = start_cudnn(stream_);
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
  dnn_.reset();
#ifdef STEPCAST_HAS_CUSOLVER
  solver_.reset();
#endif
  cublasDestroy(blas_);
  cudaStreamDestroy(stream_);
}

}  // namespace stepcast::kernels
