#include "calibrate/harness.hpp"

namespace stepcast::calibrate {
namespace {

using kernels::require_cublas;
using kernels::require_cuda;

std::size_t twice_l2() {
  int device = 0, bytes = 0;
  require_cuda(cudaGetDevice(&device), "asking for the device");
  require_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "asking for the size of L2");
  return 2 * static_cast<std::size_t>(bytes);
}

}  // namespace

Harness::Harness(StoppingRule rule) : rule_(rule), flushed_bytes_(twice_l2()), flushed_(flushed_bytes_) {
  require_cuda(cudaEventCreate(&begin_), "making an event");
  require_cuda(cudaEventCreate(&end_), "making an event");
}

Harness::~Harness() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

std::vector<double> Harness::time(const std::function<void(cudaStream_t)>& work) const {
  const cudaStream_t stream = context_.stream();
  for (int i = 0; i < 3; ++i) work(stream);
  require_cuda(cudaGetLastError(), "launching");
  require_cuda(cudaStreamSynchronize(stream), "warming up");
  std::vector<double> samples;
  while (!rule_.enough(samples)) {
    require_cuda(cudaMemsetAsync(flushed_.data(), 0, flushed_bytes_, stream), "flushing L2");
    require_cuda(cudaEventRecord(begin_, stream), "recording the begin");
    work(stream);
    require_cuda(cudaEventRecord(end_, stream), "recording the end");
    require_cuda(cudaEventSynchronize(end_), "running");
    float milliseconds = 0;
    require_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the time");
    samples.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  return samples;
}

double matrix_product_rate(const Harness& harness, bool half) {
  constexpr int n = 8192;
  const std::size_t bytes = std::size_t{n} * n * (half ? 2 : 4);
  const kernels::DeviceMemory a(bytes), b(bytes), c(bytes);
  for (const kernels::DeviceMemory* matrix : {&a, &b, &c}) require_cuda(cudaMemset(matrix->data(), 0x11, bytes), "filling a matrix");  // small positive numbers in either type
  const float one = 1, zero = 0;
  const cudaDataType_t type = half ? CUDA_R_16F : CUDA_R_32F;
  const double seconds = median(harness.time([&](cudaStream_t) {
    require_cublas(cublasGemmEx(harness.context().blas(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), type, n, b.data(), type, n, &zero, c.data(), type, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT), "multiplying matrices");
  }));
  return 2.0 * n * n * n / seconds;
}

}  // namespace stepcast::calibrate
