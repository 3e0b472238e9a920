#include <algorithm>

#include "calibrate/cuda/clocks.hpp"

namespace stepcast::calibrate {
namespace {

__device__ unsigned long long global_nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void read(ClockReading* readings) {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  const long long cycles = clock64();
  readings[blockIdx.x] = {multiprocessor, static_cast<unsigned long long>(cycles), global_nanoseconds()};
}

__global__ void wait(unsigned long long nanoseconds) {
  const unsigned long long begin = global_nanoseconds();
  while (global_nanoseconds() - begin < nanoseconds) {
  }
}

}  // namespace

void read_clocks(ClockReading* readings, int blocks, cudaStream_t stream) { read<<<blocks, 1, 0, stream>>>(readings); }

void wait_on_device(unsigned long long nanoseconds, cudaStream_t stream, int blocks) {
  wait<<<blocks, 1, 0, stream>>>(nanoseconds);
}

double clock_between(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  std::vector<double> clocks;
  for (const ClockReading& last : after)
    for (const ClockReading& first : before) {
      if (first.multiprocessor != last.multiprocessor) continue;
      if (last.nanoseconds > first.nanoseconds && last.cycles > first.cycles)
        clocks.push_back(1e9 * static_cast<double>(last.cycles - first.cycles) /
                         static_cast<double>(last.nanoseconds - first.nanoseconds));
      break;
    }
  if (clocks.empty()) return 0;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

}  // namespace stepcast::calibrate
