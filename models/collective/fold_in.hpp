// The fold-in step: it lets algorithms for powers of two serve any p (Thakur 2005, section 4.5).
//
// With q = 2^floor(lg p) and r = p - q, ranks 0..2r-1 form pairs. The odd rank gives its data to the even one and
// pauses. The q remaining "core" ranks run the algorithm. The odd ranks get the result at the end.
#pragma once

#include "models/collective/schedule.hpp"

namespace stepcast {

class PowerOfTwoFold {
 public:
  explicit PowerOfTwoFold(int p) : p_(p), core_(1 << floor_log2(p)), extra_(p - core_) {}

  [[nodiscard]] int core() const { return core_; }    ///< q, a power of two
  [[nodiscard]] int extra() const { return extra_; }  ///< r, the number of ranks folded into another
  [[nodiscard]] int levels() const { return floor_log2(core_); }
  [[nodiscard]] bool needed() const { return extra_ > 0; }
  /// The rank of core member c.
  [[nodiscard]] int rank(int c) const { return c < extra_ ? 2 * c : c + extra_; }
  /// The first rank that core member c represents; c == q gives p.
  [[nodiscard]] int first(int c) const { return c < extra_ ? 2 * c : c + extra_; }
  /// The number of ranks that core members [c, c + count) represent.
  [[nodiscard]] int covered(int c, int count) const { return (c + count >= core_ ? p_ : first(c + count)) - first(c); }

 private:
  int p_, core_, extra_;
};

}  // namespace stepcast
