// The processors' clocks, read on the device, and a way to keep its stream busy. C++17.
#pragma once

#include <vector>

#include <cuda_runtime_api.h>

namespace stepcast::calibrate {

/// One multiprocessor's counter of cycles, and the time.
struct ClockReading {
  unsigned long long multiprocessor, cycles, nanoseconds;
};

/// `blocks` readings, each by the multiprocessor that its block ran on. `readings` is memory that the device can write.
void read_clocks(ClockReading* readings, int blocks, cudaStream_t stream);

/// `blocks` blocks of one thread each wait for this time on the device.
void wait_on_device(unsigned long long nanoseconds, cudaStream_t stream, int blocks = 1);

/// Hz: median over multiprocessors of cycles over time between the readings; 0 where none was read twice. Counters of
/// different multiprocessors cannot be compared.
double clock_between(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

}  // namespace stepcast::calibrate
