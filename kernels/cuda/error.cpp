#include "kernels/cuda/error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace stepcast::kernels {

CudaError::CudaError(cudaError_t code, const std::string& what)
    : std::runtime_error(what + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")"), code_(code) {}

void require_cuda(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw CudaError(code, what);
}

void require_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CublasError(std::string(what) + ": " + cublasGetStatusString(status));
}

bool has_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) {
    cudaGetLastError();  // not sticky: the next call must not report it again
    return false;
  }
  require_cuda(code, "counting devices");
  return count > 0;
}

int skip() {
  const char* required = std::getenv("REQUIRE_GPU");
  const bool fail = required != nullptr && std::string(required) == "1";
  std::printf("no CUDA device%s\n", fail ? ", and REQUIRE_GPU=1" : ": skipped");
  return fail ? 1 : 77;
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  require_cuda(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)), "allocating device memory");
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

}  // namespace stepcast::kernels
