// Division by a number that is known before a kernel starts: a multiplication and a shift replace it. An integer
// division costs a GPU about twenty instructions. Granlund and Montgomery, Division by invariant integers using
// multiplication, PLDI 1994, figure 4.1: exact for all 32-bit numbers.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

class Divisor {
 public:
  /// @pre divisor > 0
  explicit Divisor(std::uint32_t divisor) : divisor_(divisor) {
    while ((std::uint64_t{1} << shift_) < divisor) ++shift_;
    multiplier_ =
        static_cast<std::uint32_t>((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift_) - divisor) / divisor + 1);
  }
  /// x / divisor, rounded down.
  STEPCAST_MEMBER std::uint32_t quotient(std::uint32_t x) const {
    const std::uint64_t high = (std::uint64_t{multiplier_} * x) >> 32;
    return static_cast<std::uint32_t>((high + x) >> shift_);
  }
  /// Replaces x by its quotient.
  /// @return the remainder
  STEPCAST_MEMBER std::uint32_t split(std::uint32_t& x) const {
    const std::uint32_t q = quotient(x), remainder = x - q * divisor_;
    x = q;
    return remainder;
  }

 private:
  std::uint32_t divisor_, multiplier_ = 0, shift_ = 0;
};

}  // namespace stepcast::kernels
