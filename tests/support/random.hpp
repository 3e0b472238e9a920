// Random clusters, workloads and exchanges for properties of strategies, in ranges where no cost drowns the others.
#pragma once

#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

namespace stepcast::test {

/// 1 to 9 workers on a star, with each of the other costs or without it.
inline Cluster random_star() {
  Cluster cluster = star_cluster(integer_between(1, 9), BytesPerSecond(positive_between(1e8, 1e10)),
                                 Seconds(positive_between(1e-6, 1e-3)));
  if (coin()) cluster.reduction_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
  if (coin()) cluster.stack.host_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
  if (coin()) cluster.collective_cost = Seconds(positive_between(1e-6, 1e-3));
  if (coin()) cluster.stack.backward_slowdown = real_between(1, 1.5);
  return cluster;
}

inline Exchange random_exchange() {
  Exchange exchange;
  exchange.grouping = static_cast<Grouping>(integer_between(0, 2));
  exchange.first_bucket.value = Bytes(positive_between(1e4, 1e7));
  exchange.bucket_cap = Bytes(positive_between(1e4, 1e7));
  exchange.overlap = coin();
  return exchange;
}

}  // namespace stepcast::test
