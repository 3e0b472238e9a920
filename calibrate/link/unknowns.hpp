// The unknowns of a link's fits.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "calibrate/link/link_fit.hpp"

namespace stepcast::calibrate {

/// S, κ, α and β inside a host, the latency that a message between hosts adds, and its β.
enum Column : std::size_t { kSetup, kBuffer, kInnerAlpha, kInnerBeta, kAlpha, kBeta, kColumns };

/// The parts of a time, by unknown; none of κ. A message between hosts has the latency of one inside as well, where the two are
/// told apart.
inline std::array<double, kColumns> row_of(double setup, const Terms& terms, bool two_kinds) {
  std::array<double, kColumns> row{};
  row[kSetup] = setup;
  row[kInnerAlpha] = terms.inside.messages + (two_kinds ? terms.between.messages : 0);
  row[kAlpha] = terms.between.messages;
  row[kInnerBeta] = terms.inside.bytes;
  row[kBeta] = terms.between.bytes;
  return row;
}

/// Those unknowns as prices.
inline LinkPrices links_of(const std::vector<double>& x) {
  return {{Seconds(x[kInnerAlpha] + x[kAlpha]), SecondsPerByte(x[kBeta])},
          {Seconds(x[kInnerAlpha]), SecondsPerByte(x[kInnerBeta])}};
}

}  // namespace stepcast::calibrate
