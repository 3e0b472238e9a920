#include "calibrate/cuda/device_timer.hpp"

#include <algorithm>
#include <chrono>

#include "calibrate/cuda/flush.hpp"

namespace stepcast::calibrate {
namespace {

using kernels::require_cuda;

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  require_cuda(cudaGetDevice(&device), "asking for the device");
  require_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for an attribute of the device");
  return value;
}

constexpr unsigned long long kLeastWait = 100'000, kMostWait = 20'000'000, kWaking = 75'000'000;  // ns
constexpr std::chrono::milliseconds kAwake{5};

double seconds_between(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  require_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "reading the time");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

DeviceTimer::DeviceTimer()
    : flushed_bytes_(2 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize))),
      written_(flushed_bytes_),
      read_(flushed_bytes_),
      blocks_(2 * attribute(cudaDevAttrMultiProcessorCount)) {
  require_cuda(cudaMemset(read_.data(), 0, flushed_bytes_), "filling the buffer that flushes L2");
  require_cuda(cudaMallocHost(reinterpret_cast<void**>(&readings_),
                              2 * static_cast<std::size_t>(blocks_) * sizeof(ClockReading)),
               "allocating memory for clocks");
}

DeviceTimer::~DeviceTimer() {
  for (const cudaEvent_t one : events_) cudaEventDestroy(one);
  cudaFreeHost(readings_);
}

cudaEvent_t DeviceTimer::event(std::size_t index) {
  while (events_.size() <= index) {
    cudaEvent_t made = nullptr;
    require_cuda(cudaEventCreate(&made), "making an event");
    events_.push_back(made);
  }
  return events_[index];
}

void DeviceTimer::synchronize() {
  require_cuda(cudaStreamSynchronize(context_.stream()), "running");
  busy_until_ = std::chrono::steady_clock::now();
}

void DeviceTimer::wake() {
  if (std::chrono::steady_clock::now() - busy_until_ < kAwake) return;
  wait_on_device(kWaking, context_.stream(), blocks_);
  require_cuda(cudaGetLastError(), "launching");
  synchronize();
}

void DeviceTimer::begin() { read_clocks(readings_, blocks_, context_.stream()); }

double DeviceTimer::end() {
  read_clocks(readings_ + blocks_, blocks_, context_.stream());
  require_cuda(cudaGetLastError(), "launching");
  synchronize();
  return clock_between({readings_, readings_ + blocks_}, {readings_ + blocks_, readings_ + 2 * blocks_});
}

unsigned long long DeviceTimer::wait_for(const std::function<void()>& run) {
  run();  // the first call loads the code
  require_cuda(cudaGetLastError(), "launching");
  synchronize();
  const auto from = std::chrono::steady_clock::now();
  run();
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - from).count();
  synchronize();
  return std::clamp(2 * static_cast<unsigned long long>(nanoseconds), kLeastWait, kMostWait);
}

Sample DeviceTimer::cold(const std::function<void()>& run, unsigned long long wait) {
  const cudaEvent_t from = event(0), to = event(1);
  begin();
  flush_l2(written_.data(), read_.data(), flushed_bytes_, context_.stream());
  wait_on_device(wait, context_.stream());
  require_cuda(cudaEventRecord(from, context_.stream()), "recording the begin");
  run();
  require_cuda(cudaEventRecord(to, context_.stream()), "recording the end");
  const double clock = end();
  return {seconds_between(from, to), clock};
}

std::vector<Sample> DeviceTimer::warm(const std::function<void()>& run, int runs, unsigned long long wait) {
  const auto count = static_cast<std::size_t>(runs);
  event(count);  // all made before the clocks run
  begin();
  wait_on_device(std::min(wait * count, kMostWait), context_.stream());
  for (std::size_t i = 0; i < count; ++i) {
    require_cuda(cudaEventRecord(event(i), context_.stream()), "recording a begin");
    run();
  }
  require_cuda(cudaEventRecord(event(count), context_.stream()), "recording the end");
  const double clock = end();
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back({seconds_between(event(i), event(i + 1)), clock});
  return samples;
}

}  // namespace stepcast::calibrate
