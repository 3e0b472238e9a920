// A stream of the device, and the libraries that enqueue on it.
#pragma once

#include <cublas_v2.h>

#include "kernels/cuda/cudnn.hpp"
#include "kernels/cuda/error.hpp"
#ifdef STEPCAST_HAS_CUSOLVER
#include <optional>

#include "kernels/cuda/solver.hpp"
#endif

namespace stepcast::kernels {

class Solver;

class Context {
 public:
  /// @throws CudaError, CublasError, CudnnError, CusolverError
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// Nobody changes its mode; otherwise a kernel's result would depend on the kernels that ran before.
  [[nodiscard]] cublasHandle_t blas() const { return blas_; }
  /// Null where built without cuDNN.
  [[nodiscard]] Cudnn* dnn() const { return dnn_.get(); }
  /// Null where cuSOLVER was not found.
  [[nodiscard]] const Solver* solver() const;

 private:
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  CudnnPointer dnn_;
#ifdef STEPCAST_HAS_CUSOLVER
  std::optional<Solver> solver_;
#endif
};

}  // namespace stepcast::kernels
