// cuSOLVER, which not every toolkit has: STEPCAST_HAS_CUSOLVER tells (kernels/CMakeLists.txt).
#pragma once

#include <string>

#include <cusolverDn.h>

#include "kernels/cuda/error.hpp"

namespace stepcast::kernels {

class CusolverError : public LibraryError {
 public:
  using LibraryError::LibraryError;
};

/// @throws CusolverError naming `what` unless `status` is success
inline void require_cusolver(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw CusolverError(std::string(what) + ": cuSOLVER status " + std::to_string(static_cast<int>(status)));
}

/// A handle, and the parameters of Jacobi's method. Making one takes milliseconds.
class Solver {
 public:
  /// @throws CusolverError
  explicit Solver(cudaStream_t stream) {
    require_cusolver(cusolverDnCreate(&handle_), "starting cuSOLVER");
    require_cusolver(cusolverDnCreateGesvdjInfo(&parameters_), "starting cuSOLVER's SVD");
    require_cusolver(cusolverDnSetStream(handle_, stream), "giving cuSOLVER a stream");
  }
  ~Solver() {
    cusolverDnDestroyGesvdjInfo(parameters_);
    cusolverDnDestroy(handle_);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  [[nodiscard]] cusolverDnHandle_t handle() const { return handle_; }
  [[nodiscard]] gesvdjInfo_t parameters() const { return parameters_; }

 private:
  cusolverDnHandle_t handle_ = nullptr;
  gesvdjInfo_t parameters_ = nullptr;
};

}  // namespace stepcast::kernels
