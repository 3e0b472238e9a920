// Random numbers that are the same in every run, for cases that two answers are compared on.
#pragma once

#include <cmath>
#include <random>

namespace stepcast::test {

inline std::minstd_rand random_source(2026);

inline int integer_between(int low, int high) { return low + static_cast<int>(random_source() % (high - low + 1)); }
inline bool coin() { return integer_between(0, 1) == 1; }
/// Uniform in the logarithm.
inline double positive_between(double low, double high) {
  return low * std::pow(high / low, integer_between(0, 1000) / 1000.0);
}

}  // namespace stepcast::test
