// Timing on the device: warm-up, then samples each of which flushes L2 first, in the order of nvbench's cold
// measurement. The stream stays busy with the flush while the host enqueues, so events time the device, not the host.
#pragma once

#include <functional>

#include "calibrate/statistics.hpp"
#include "kernels/cuda/context.hpp"

namespace stepcast::calibrate {

class Harness {
 public:
  /// @throws CudaError, CublasError
  explicit Harness(StoppingRule rule);
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  /// Seconds of each sample of `work`, which enqueues on the context's stream.
  /// @throws CudaError
  [[nodiscard]] std::vector<double> time(const std::function<void(cudaStream_t)>& work) const;
  [[nodiscard]] const kernels::Context& context() const { return context_; }

 private:
  StoppingRule rule_;
  std::size_t flushed_bytes_;
  kernels::DeviceMemory flushed_;
  kernels::Context context_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// flop/s of 2·8192³ operations by cuBLAS, fp32 without TF32 or fp16 with sums in fp32.
/// @throws CudaError, CublasError
double matrix_product_rate(const Harness& harness, bool half);

}  // namespace stepcast::calibrate
