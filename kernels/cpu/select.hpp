// The k-th largest magnitude, as the references find it.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/call.hpp"
#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

struct Selected {
  std::uint32_t key;   ///< magnitude_bits of the k-th largest
  std::uint32_t ties;  ///< how many elements of that key belong to the k, the first in index order
};

/// @pre 1 <= k <= n
inline Selected select_largest(const float* x, std::int64_t n, std::int64_t k) {
  std::vector<std::uint32_t> keys(n);
  std::transform(x, x + n, keys.begin(), magnitude_bits);
  std::nth_element(keys.begin(), keys.begin() + (k - 1), keys.end(), std::greater<>());
  const std::uint32_t key = keys[k - 1];
  const auto above = std::count_if(keys.begin(), keys.end(), [=](std::uint32_t x_key) { return x_key > key; });
  return {key, static_cast<std::uint32_t>(k - above)};
}

/// Values and indices of the selected elements, in index order.
inline void compact_selected(const float* x, std::int64_t n, Selected selected, float* values, std::uint32_t* indices) {
  std::int64_t j = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t key = magnitude_bits(x[i]);
    if (key < selected.key || (key == selected.key && selected.ties == 0)) continue;
    if (key == selected.key) --selected.ties;
    values[j] = x[i];
    indices[j++] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace stepcast::kernels
