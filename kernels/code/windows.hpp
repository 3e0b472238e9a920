// Windows that slide over height and width: output n is (n + 2·padding - kernel)/stride + 1, rounded down.
#pragma once

#include <cstdint>

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

struct Windows {
  int kernel_height, kernel_width, stride, padding_height, padding_width, height, width;

  STEPCAST_SHARED int out_height() const { return (height + 2 * padding_height - kernel_height) / stride + 1; }
  STEPCAST_SHARED int out_width() const { return (width + 2 * padding_width - kernel_width) / stride + 1; }
  STEPCAST_SHARED bool inside(int y, int x) const { return y >= 0 && y < height && x >= 0 && x < width; }
};

/// From the parameters of a pool, its channels before them.
inline Windows windows_of(const std::int64_t* parameters) {
  const auto at = [=](int i) { return static_cast<int>(parameters[i]); };
  return {at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
}

/// Whether max-pooling takes x instead of the best so far: it takes the first of the largest, or the first NaN.
STEPCAST_SHARED bool larger_or_nan(float x, float best) { return x > best || (x != x && best == best); }

}  // namespace stepcast::kernels
