// Timing on the device, in the order of nvbench's measurements. Around each sample:
//
//     clocks read | L2 flushed | wait | event | work | event | clocks read
//
// Warm samples leave out the flush and put work after work between events. During the wait, the host enqueues the rest,
// so events time the device and not the host. A sample's clock is that of the whole span. A clock of nanoseconds that
// ticks every microsecond, as on some devices, then still gives it to a percent or so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "calibrate/cuda/clocks.hpp"
#include "calibrate/sampling.hpp"
#include "kernels/cuda/context.hpp"

namespace stepcast::calibrate {

class DeviceTimer {
 public:
  /// @throws CudaError, CublasError
  DeviceTimer();
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  [[nodiscard]] const kernels::Context& context() const { return context_; }
  /// Keeps all multiprocessors busy for 75 ms if we ran nothing for 5 ms. Their clock falls while the host fills
  /// buffers and checks, and must be up when samples begin.
  /// @throws CudaError
  void wake();
  /// A wait in nanoseconds that surely is enough for the host to enqueue one run of `run`. It is found by trying.
  /// @throws CudaError
  unsigned long long wait_for(const std::function<void()>& run);
  /// @throws CudaError
  Sample cold(const std::function<void()>& run, unsigned long long wait);
  /// @throws CudaError
  std::vector<Sample> warm(const std::function<void()>& run, int runs, unsigned long long wait);

 private:
  void begin();
  double end();
  void synchronize();
  cudaEvent_t event(std::size_t index);

  kernels::Context context_;
  std::size_t flushed_bytes_;
  kernels::DeviceMemory written_, read_;  ///< to flush L2
  int blocks_;
  ClockReading* readings_ = nullptr;  ///< on the host, written by the device: `blocks_` before, as many after
  std::vector<cudaEvent_t> events_;
  std::chrono::steady_clock::time_point busy_until_{};
};

/// Work that enqueues calls on the timer's stream. It is made just before it is sampled.
class DeviceWork : public Work {
 public:
  /// @param run  holds what it needs alive
  /// @throws CudaError
  DeviceWork(std::shared_ptr<DeviceTimer> timer, std::function<void()> run)
      : timer_(std::move(timer)), run_(std::move(run)) {
    timer_->wake();
    wait_ = timer_->wait_for(run_);
  }
  Sample cold() override { return timer_->cold(run_, wait_); }
  std::vector<Sample> warm(int runs) override { return timer_->warm(run_, runs, wait_); }

 private:
  std::shared_ptr<DeviceTimer> timer_;
  std::function<void()> run_;
  unsigned long long wait_ = 0;
};

}  // namespace stepcast::calibrate
