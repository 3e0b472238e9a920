// Errors of the CUDA runtime and of cuBLAS as exceptions, and memory on the device.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

namespace stepcast::kernels {

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& what);
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// @throws CudaError naming `what` unless `code` is success
void require_cuda(cudaError_t code, const char* what);

/// A library refuses one call; the device still works.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CublasError : public LibraryError {
 public:
  using LibraryError::LibraryError;
};

/// @throws CublasError naming `what` unless `status` is success
void require_cublas(cublasStatus_t status, const char* what);

/// Whether a device can be used: false on cudaErrorNoDevice and cudaErrorInsufficientDriver.
/// @throws CudaError on any other error
bool has_device();
/// Says that there is no device, for a program that checks or measures one. Returns the exit code: 77, by which ctest
/// knows a skipped test, or 1 with REQUIRE_GPU=1 in the environment.
int skip();

/// Bytes on the device, at least 256-byte aligned as cudaMalloc gives them.
class DeviceMemory {
 public:
  /// @throws CudaError
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace stepcast::kernels
