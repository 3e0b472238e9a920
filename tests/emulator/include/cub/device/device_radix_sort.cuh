// Keys are sorted as CUB sorts them: by their bits, -0 as 0.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/code/samples.hpp"
#include "tests/emulator/device_builtins.hpp"

namespace cub {

struct DeviceRadixSort {
  /// With scratch for a second set of keys.
  static cudaError_t SortKeys(void* scratch, std::size_t& bytes, const float* from, float* to, std::uint32_t count,
                              int = 0, int = 32, cudaStream_t = nullptr) {
    if (scratch == nullptr) {
      bytes = count * sizeof(float);
      return cudaSuccess;
    }
    if (bytes < count * sizeof(float)) return cudaErrorInvalidValue;
    auto* const keys = static_cast<float*>(scratch);
    std::copy_n(from, count, keys);
    std::stable_sort(keys, keys + count, [](float a, float b) {
      return stepcast::kernels::ordered_bits(a) < stepcast::kernels::ordered_bits(b);
    });
    std::copy_n(keys, count, to);
    return cudaSuccess;
  }
};

}  // namespace cub
