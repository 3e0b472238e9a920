// The fold-in step that lets algorithms for powers of two serve any p (Thakur 2005, section 4.5).
//
// With q = 2^floor(lg p) and r = p - q, ranks 0..2r-1 form pairs: the odd one hands its data to the even one
// and stays out; the q remaining "core" ranks run the algorithm; the odd ones get the result at the end.
#pragma once

#include "models/collective/schedule.hpp"

namespace stepcast {

class PowerOfTwoFold {
 public:
  explicit PowerOfTwoFold(int p) : p_(p), core_(1 << floor_log2(p)), extra_(p - core_) {}

  [[nodiscard]] int core() const { return core_; }    ///< q, a power of two
  [[nodiscard]] int extra() const { return extra_; }  ///< r, ranks folded into another
  [[nodiscard]] int levels() const { return floor_log2(core_); }
  [[nodiscard]] bool needed() const { return extra_ > 0; }
  /// Rank of core member c.
  [[nodiscard]] int rank(int c) const { return c < extra_ ? 2 * c : c + extra_; }
  /// First rank whose data core member c stands for; c == q gives p.
  [[nodiscard]] int first(int c) const { return c < extra_ ? 2 * c : c + extra_; }
  /// Ranks that core members [c, c + count) stand for.
  [[nodiscard]] int covered(int c, int count) const { return (c + count >= core_ ? p_ : first(c + count)) - first(c); }

 private:
  int p_, core_, extra_;
};

}  // namespace stepcast
