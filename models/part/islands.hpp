// Groups of workers that train together between the averages of local SGD or gossip.
#pragma once

#include <optional>

#include "models/describe/describe.hpp"
#include "models/part/collective_algorithm.hpp"
#include "models/part/exchange.hpp"
#include "models/part/sharding.hpp"

namespace stepcast {

/// Each group of consecutive workers holds one replica, and trains it by synchronous SGD. Local SGD averages the replicas,
/// or gossip does: DiLoCo (Douillard et al. 2023) calls the groups islands. Each worker exchanges its share of the
/// parameters with the workers of the same share in other islands.
struct Islands {
  int size = 1;
  int steps = 1;
  std::optional<ShardingStage> sharding{};
  Grouping grouping = Grouping::bucketed;
  Bytes bucket_cap = 25_MiB;
  bool overlap = true;
  CollectiveChoice collective{};

  template <class V>
  static void describe(V& v, Islands& x) {
    v.required("size", x.size, "g: workers of an island, consecutive ranks, such as those of a machine", at_least(2));
    v.optional(
        "steps", x.steps,
        "L: steps from one sum inside an island to the next. 1: gradients are summed in every step. More: workers "
        "train alone, and an island averages their parameters (hierarchical local SGD, Lin et al., ICLR 2020)",
        between(1, 10000));
    v.optional(
        "sharding", x.sharding,
        "the state that an island's workers share out (strategy sharded); null: each holds all of it, and gradients "
        "are all-reduced");
    v.optional("grouping", x.grouping, "gradients of a step that travel together inside an island");
    v.optional("bucket_cap", x.bucket_cap,
               "bucketed: a bucket is closed by the tensor that fills it to this size, the first one at 1 MiB",
               positive);
    v.optional("overlap", x.overlap, "exchange while a step computes, not between its parts");
    v.optional("collective", x.collective, "the collectives inside islands");
  }
  bool operator==(const Islands&) const = default;

  /// Whether an island's workers gather averages. With sharded gradients or parameters, the next step gathers them anyway.
  [[nodiscard]] bool gather_averages() const {
    return sharding.value_or(ShardingStage::optimizer_state) == ShardingStage::optimizer_state;
  }
  [[nodiscard]] Exchange exchange() const {
    return {.grouping = grouping, .bucket_cap = bucket_cap, .overlap = overlap};
  }
};

}  // namespace stepcast
