// Random islands of local SGD.
#pragma once

#include <algorithm>
#include <optional>

#include "models/part/strategy.hpp"
#include "tests/support/property.hpp"

namespace stepcast::test {

/// Islands that divide p workers, if there are any.
inline std::optional<Islands> random_islands(int p) {
  const int g = integer_between(2, std::max(2, p / 2));
  if (p % g != 0 || g == p) return {};
  Islands islands{.size = g,
                  .grouping = static_cast<Grouping>(integer_between(0, 2)),
                  .bucket_cap = Bytes(positive_between(1e5, 1e7)),
                  .overlap = coin()};
  if (coin()) islands.sharding = static_cast<ShardingStage>(integer_between(0, 2));
  return islands;
}

}  // namespace stepcast::test
