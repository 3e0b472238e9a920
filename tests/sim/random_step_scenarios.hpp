// Random clusters and exchanges, the same in every run (fixed_random.hpp).
#pragma once

#include "tests/sim/fixed_random.hpp"
#include "tests/sim/support.hpp"

namespace stepcast::test {

/// Two to nine workers on a star, in machines of two or in racks of two. On a star, the last worker may differ.
inline Cluster random_cluster() {
  Cluster cluster = star(integer_between(2, 9));
  const Link inner{BytesPerSecond(positive_between(1e9, 1e11)), Seconds(positive_between(1e-6, 1e-4))};
  switch (integer_between(0, 4)) {
    case 0: cluster.topology = Nodes{2, inner, integer_between(1, 2)}; break;
    case 1: cluster.topology = Racks{2, 2.0, Seconds(positive_between(1e-6, 1e-3))}; break;
    default: break;
  }
  if (coin() && std::holds_alternative<Star>(cluster.topology))
    cluster.groups = {{1, positive_between(0.3, 2), BytesPerSecond(positive_between(1e8, 1e10)), {}}};
  return cluster;
}

inline Exchange random_exchange() {
  const Grouping groupings[] = {Grouping::whole_model, Grouping::per_tensor, Grouping::bucketed};
  return {.grouping = groupings[integer_between(0, 2)],
          .bucket_cap = Bytes(positive_between(1e5, 1e7)),
          .overlap = coin(),
          .priority = coin()};
}

}  // namespace stepcast::test
