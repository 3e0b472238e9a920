// The choices of a scenario's "strategy": how the workers exchange gradients. models/strategy/ turns them into step
// graphs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/collective_algorithm.hpp"
#include "models/part/dtype.hpp"
#include "models/part/exchange.hpp"
#include "models/part/islands.hpp"
#include "models/part/neighbour_graph.hpp"
#include "models/part/sharding.hpp"

namespace stepcast {

/// Synchronous SGD with an AllReduce collective.
struct AllReduceStrategy {
  static constexpr std::string_view kind = "all-reduce";
  static constexpr std::string_view meaning = "synchronous SGD over AllReduce";
  CollectiveChoice collective{};
  Exchange exchange{.grouping = Grouping::bucketed};
  Carrier carrier = Carrier::automatic;

  template <class V>
  static void describe(V& v, AllReduceStrategy& x) {
    v.optional("collective", x.collective, "the collective that carries gradients");
    v.optional("carrier", x.carrier, "the collective for compressed gradients");
    v.optional("exchange", x.exchange, "gradients that travel together, and when");
  }
  bool operator==(const AllReduceStrategy&) const = default;
};

enum class ServerPlacement { dedicated, co_located };

template <>
struct Choices<ServerPlacement> {
  static constexpr std::array table = {
      Choice<ServerPlacement>{"dedicated", ServerPlacement::dedicated, "each shard on a separate host"},
      Choice<ServerPlacement>{"co-located", ServerPlacement::co_located,
                              "beside workers, one a worker at most, spread over machines and racks"},
  };
};

enum class Consistency { synchronous, backup_workers, asynchronous, stale_synchronous };

template <>
struct Choices<Consistency> {
  static constexpr std::array table = {
      Choice<Consistency>{"synchronous", Consistency::synchronous, "servers update once all workers have pushed"},
      Choice<Consistency>{"backup-workers", Consistency::backup_workers,
                          "synchronous, but an update takes the first pushes, of all workers but `backup_workers`; "
                          "later ones are dropped (Chen et al. 2016)"},
      Choice<Consistency>{"asynchronous", Consistency::asynchronous, "servers update at every push; no worker waits"},
      Choice<Consistency>{"stale-synchronous", Consistency::stale_synchronous,
                          "asynchronous, but no worker more than `bound` exchanges ahead"},
  };
};

enum class ShardBalance { split, greedy };

template <>
struct Choices<ShardBalance> {
  static constexpr std::array table = {
      Choice<ShardBalance>{"split", ShardBalance::split, "every message is cut evenly over all shards"},
      Choice<ShardBalance>{
          "greedy", ShardBalance::greedy,
          "whole tensors, or whole parts with `partition`, largest first, each to the shard with the "
          "fewest bytes. One goes after the other, so other shards idle meanwhile; shards beyond their "
          "number hold nothing"},
  };
};

/// SGD with a parameter server of `shards` shards.
struct ParameterServerStrategy {
  static constexpr std::string_view kind = "parameter-server";
  static constexpr std::string_view meaning = "push gradients to servers, pull parameters back";
  int shards = 1;
  ServerPlacement placement = ServerPlacement::dedicated;
  Consistency consistency = Consistency::synchronous;
  int steps = 1;
  std::optional<int> pull_steps{};
  int backup_workers = 1;
  int bound = 3;
  ShardBalance balance = ShardBalance::split;
  std::optional<SecondsPerByte> server_reduction_cost{};
  double server_update_factor = 1.0;
  bool two_way = false;
  bool sum_in_machine = false;
  bool duplex = true;
  Exchange exchange{};

  /// n_fetch: steps from one pull to the next.
  [[nodiscard]] int steps_of_pull() const { return pull_steps.value_or(steps); }
  /// Steps until a push and a pull fall together again. Only the last of them has both.
  [[nodiscard]] int period() const { return std::lcm(steps, steps_of_pull()); }

  template <class V>
  static void describe(V& v, ParameterServerStrategy& x) {
    v.optional("shards", x.shards, "M: servers the parameters are divided over", between(1, 65536));
    v.optional(
        "placement", x.placement,
        "hosts of the shards. Co-located ones go in turn to the machines of nodes, or to racks, and there to one "
        "worker after the other; in a fat-tree, torus or dragonfly shard j is beside worker floor(j*p/M), else beside "
        "worker j");
    v.optional("consistency", x.consistency, "the rule by which workers and servers wait");
    v.optional(
        "steps", x.steps,
        "steps of a worker, with updates of its own, from one exchange with the servers to the next: it pushes the "
        "sum of their gradients (Downpour SGD, Dean et al. 2012: n_push and n_fetch), or the change of its "
        "parameters (elastic averaging, Zhang et al. 2015)",
        between(1, 10000));
    v.optional(
        "pull_steps", x.pull_steps,
        "asynchronous: steps of a worker from one pull to the next (n_fetch), if it pulls more or less often than it "
        "pushes; null: steps",
        between(1, 10000));
    v.optional("backup_workers", x.backup_workers,
               "backup-workers: b of the p workers, for whose gradients no update waits. A shard updates a bucket once "
               "p-b workers have pushed gradients of its newest parameters. A worker that comes later pulls those "
               "parameters at once",
               between(1, 65535));
    v.optional("bound", x.bound, "stale-synchronous: exchanges the fastest worker may be ahead of the slowest",
               between(0, 1000000));
    v.optional("balance", x.balance, "how parameters are divided over the shards");
    v.optional(
        "server_reduction_cost", x.server_reduction_cost,
        "server's time to add one received byte; null: cluster.reduction_cost. A host whose memory bounds it reads "
        "two bytes and writes one",
        non_negative);
    v.optional("server_update_factor", x.server_update_factor,
               "update time on one server that held all parameters, over the workload's update time", non_negative);
    v.optional(
        "two_way", x.two_way,
        "servers compress the sums they send back, and workers update (DoubleSqueeze, Tang et al. 2019); otherwise "
        "servers update and send back uncompressed parameters. If workers do not wait for all others, each gets what has "
        "changed since its last pull (DGS, Yan et al. 2020, recalled)");
    v.optional(
        "sum_in_machine", x.sum_in_machine,
        "a machine's workers first reduce-scatter their gradients; each pushes and pulls its share of the sum, and "
        "they gather what came back (BytePS, Jiang et al., OSDI 2020, section 4). A compressor is for these shares, "
        "with codec scope machines");
    v.optional(
        "duplex", x.duplex,
        "pushes and pulls go side by side, one bucket's with another's; false: in turn. Several co-located shards "
        "always do so in turn");
    v.optional("exchange", x.exchange, "gradients that travel together, and when");
  }
  bool operator==(const ParameterServerStrategy&) const = default;
};

/// Pipe-SGD (Li et al., NeurIPS 2018): w[t] = w[t-1] - lr·g[t-K]. The exchange of step t overlaps the compute of the
/// next K-1 steps.
struct PipelinedStrategy {
  static constexpr std::string_view kind = "pipelined";
  static constexpr std::string_view meaning = "Pipe-SGD: gradients are applied K steps later";
  int width = 2;
  int segments = 1;
  int warmup_steps = 0;
  CollectiveChoice collective;
  Carrier carrier = Carrier::automatic;

  template <class V>
  static void describe(V& v, PipelinedStrategy& x) {
    v.optional(
        "width", x.width,
        "K: iterations in flight; 1 is synchronous. An all-reduce that may be late by at most K-1 steps takes the "
        "same time, since its workers wait as late",
        between(1, 1024));
    v.optional("segments", x.segments,
               "L: pieces of the gradient, exchanged one after the other, each once back-propagation has computed it",
               between(1, 1024));
    v.optional("warmup_steps", x.warmup_steps, "first steps that are synchronous (width 1)", between(0, 100000));
    v.optional("collective", x.collective, "the collective that carries gradients");
    v.optional("carrier", x.carrier, "the collective for compressed gradients");
  }
  bool operator==(const PipelinedStrategy&) const = default;
};

/// Sharded data parallelism (ZeRO, Rajbhandari et al., SC 2020; FSDP, Zhao et al., VLDB 2023). It is synchronous SGD
/// where each worker holds 1/p of the state named by `stage`. With groups of g workers, each worker holds 1/g of the
/// state, and each group holds all of it. This is hybrid sharding (Zhao et al., section 3.2.2; MiCS, Zhang et al., VLDB
/// 2022).
struct ShardedStrategy {
  static constexpr std::string_view kind = "sharded";
  static constexpr std::string_view meaning = "ZeRO, FSDP: gradients reduce-scattered, parameters all-gathered";
  ShardingStage stage = ShardingStage::parameters;
  int prefetch = 1;
  CollectiveChoice collective{};
  Exchange exchange{.grouping = Grouping::bucketed};
  std::optional<int> group_size{};
  CollectiveChoice all_reduce{};
  ReduceAfter reduce_after = ReduceAfter::last_pass;
  std::optional<Dtype> reduce_dtype{};
  std::optional<int> backward_group_size{};
  std::optional<QuantizedGather> quantized_gather{};

  /// g: the workers that together hold one copy of the model.
  [[nodiscard]] int group(int workers) const { return group_size.value_or(workers); }
  /// h: the workers that together hold the parameters of the backward pass.
  [[nodiscard]] int backward_group(int workers) const { return backward_group_size.value_or(group(workers)); }
  /// Ratio of a gradient's bytes when it is reduced to its bytes in the workload's type.
  [[nodiscard]] double reduced_over(Dtype dtype) const {
    return size_of(reduce_dtype.value_or(dtype)) / size_of(dtype);
  }

  template <class V>
  static void describe(V& v, ShardedStrategy& x) {
    v.optional("stage", x.stage, "the state that workers share, and when they gather the parameters");
    v.optional("prefetch", x.prefetch, "stage parameters: units gathered ahead of the one that computes",
               between(0, 1024));
    v.optional("group_size", x.group_size,
               "g: workers that share one copy of the state, consecutive ranks, such as those of a machine (FSDP's "
               "HYBRID_SHARD); each group holds the whole model; null: all workers",
               at_least(1));
    v.optional(
        "backward_group_size", x.backward_group_size,
        "stage parameters: h workers, consecutive ranks, keep a second copy of all parameters after the forward "
        "pass, and the backward pass gathers from it (hpZ of ZeRO++; FSDP's reshard_after_forward with a number); "
        "null: group_size",
        at_least(2));
    v.optional("quantized_gather", x.quantized_gather,
               "parameters travel as integer codes (qwZ of ZeRO++, QSDP); null: in the workload's dtype");
    v.optional("collective", x.collective, "the algorithm of its all-gathers, reduce-scatters and all-to-alls");
    v.optional(
        "all_reduce", x.all_reduce,
        "with group_size: the algorithm of the all-reduces among the workers of all groups that hold the same share");
    v.optional("exchange", x.exchange,
               "parameters that make a unit (backward order), and whether units travel during computation");
    v.optional("reduce_after", x.reduce_after, "with accumulation: the passes whose gradients are reduced");
    v.optional(
        "reduce_dtype", x.reduce_dtype,
        "type in which gradients are reduced and kept (reduce_dtype of FSDP's mixed precision); null: the workload's "
        "dtype, in which parameters are gathered");
  }
  bool operator==(const ShardedStrategy&) const = default;
};

/// Local SGD (Stich, ICLR 2019; Lin et al., ICLR 2020): workers, or islands of workers, train independently for H steps,
/// then average their parameters.
struct LocalSgdStrategy {
  static constexpr std::string_view kind = "local-sgd";
  static constexpr std::string_view meaning = "local SGD: parameters averaged every H steps";
  static constexpr int kMostFragments = 1000;
  int steps = 8;
  Grouping grouping = Grouping::whole_model;
  Bytes bucket_cap = 25_MiB;
  CollectiveChoice collective{};
  Carrier carrier = Carrier::automatic;
  double outer_update_factor = 0.0;
  int fragments = 1;
  int averaging_steps = 0;
  std::optional<Islands> islands{};

  /// g: the workers that train a replica together.
  [[nodiscard]] int workers_of_replica() const { return islands ? islands->size : 1; }

  template <class V>
  static void describe(V& v, LocalSgdStrategy& x) {
    v.optional("steps", x.steps, "H: steps from one averaging to the next; 1 averages after every step",
               between(1, 10000));
    v.optional("grouping", x.grouping,
               "parameters that travel together; all are ready at once, when the last of the H updates ends");
    v.optional("bucket_cap", x.bucket_cap, "bucketed: a bucket is closed by the tensor that fills it to this size",
               positive);
    v.optional("collective", x.collective, "the collective that averages parameters");
    v.optional("carrier", x.carrier, "the collective for compressed changes of the H steps");
    v.optional(
        "outer_update_factor", x.outer_update_factor,
        "time of an outer optimizer's update of the averaged parameters (SlowMo, DiLoCo) over the workload's update time; 0: none",
        non_negative);
    v.optional("fragments", x.fragments, "P: parts of whole tensors or buckets, each averaged every H steps, in turn",
               between(1, kMostFragments));
    v.optional("averaging_steps", x.averaging_steps,
               "τ: steps that workers make while an average travels, before they use it; 0: they wait",
               between(0, 10000));
    v.optional("islands", x.islands,
               "groups of workers that make every step together, by synchronous SGD; null: each worker trains alone");
  }
  bool operator==(const LocalSgdStrategy&) const = default;
};

/// An exact average of all workers or islands from time to time (gossip with periodic global averages, Chen et al., ICML
/// 2021). With an outer update it is SlowMo over gossip (Wang et al., ICLR 2020).
struct GlobalAverage {
  int steps = 48;
  double outer_update_factor = 0.0;
  CollectiveChoice collective{};

  template <class V>
  static void describe(V& v, GlobalAverage& x) {
    v.optional("steps", x.steps,
               "steps from one average of all to the next. Its step has no exchange with neighbours; it waits for the "
               "average of updated parameters, which no compressor encodes",
               between(1, 10000));
    v.optional(
        "outer_update_factor", x.outer_update_factor,
        "time of an outer optimizer's update of the averaged parameters over the workload's update time; 0: none",
        non_negative);
    v.optional("collective", x.collective, "the all-reduce that averages");
  }
  bool operator==(const GlobalAverage&) const = default;
};

/// Decentralized SGD (D-PSGD, Lian et al., NeurIPS 2017): each worker averages its parameters with those of its
/// neighbours in a graph.
struct GossipStrategy {
  static constexpr std::string_view kind = "gossip";
  static constexpr std::string_view meaning = "decentralized SGD: parameters averaged with neighbours in a graph";
  static constexpr int kLongestPeriod = 10000;
  bool overlap = true;
  NeighbourGraph graph = NeighbourGraph::ring;
  std::vector<int> dimensions{};
  std::vector<NeighbourEdge> edges{};
  bool asynchronous = false;
  PairChoosers choosers = PairChoosers::half;
  int steps = 1;
  std::optional<Islands> islands{};
  std::optional<GlobalAverage> average{};

  /// g: the workers that train a replica together.
  [[nodiscard]] int workers_of_replica() const { return islands ? islands->size : 1; }

  template <class V>
  static void describe(V& v, GossipStrategy& x) {
    v.optional(
        "overlap", x.overlap,
        "exchange parameters while the gradient is computed; false: after it, or with islands after their update");
    v.optional("steps", x.steps,
               "H: steps from one exchange with neighbours to the next; workers or islands train alone in between",
               between(1, 10000));
    v.optional(
        "asynchronous", x.asynchronous,
        "no worker waits for another one's step. In each of its own, one that chooses averages with one neighbour, by "
        "chance");
    v.optional("choosers", x.choosers,
               "asynchronous: the workers that choose; a neighbour answers whatever it computes");
    v.optional("graph", x.graph, "the workers with which each one averages");
    v.optional("dimensions", x.dimensions,
               "torus: ranks along each dimension; []: two dimensions, as equal as the number of workers allows",
               at_least(1));
    v.optional("edges", x.edges, "graph edges: pairs of workers, or of islands, that average with each other");
    v.optional("islands", x.islands,
               "groups of workers that make every step together, by synchronous SGD. The graph is one of islands: each "
               "worker exchanges its share of the parameters with those of the same share. null: each worker is one");
    v.optional("average", x.average, "an exact average of all from time to time; null: none");
  }
  bool operator==(const GossipStrategy&) const = default;
};

/// No training: one collective, repeated, as nccl-tests does.
struct CollectiveBenchmark {
  static constexpr std::string_view kind = "collective";
  static constexpr std::string_view meaning = "one collective per step and nothing else, as nccl-tests measures it";
  Operation operation = Operation::all_reduce;
  Bytes size{};
  CollectiveChoice collective;

  template <class V>
  static void describe(V& v, CollectiveBenchmark& x) {
    v.optional("operation", x.operation, "the collective operation");
    v.required("size", x.size, "n: bytes of the whole buffer (all-gather: of the gathered result)", positive);
    v.optional("collective", x.collective, "its algorithm");
  }
  bool operator==(const CollectiveBenchmark&) const = default;
};

using Strategy = std::variant<AllReduceStrategy, ParameterServerStrategy, PipelinedStrategy, LocalSgdStrategy,
                              ShardedStrategy, GossipStrategy, CollectiveBenchmark>;

inline std::string_view kind_of(const Strategy& strategy) {
  return std::visit([](const auto& x) { return x.kind; }, strategy);
}

/// The workers whose gradients an update uses: all, or all but backup workers.
inline int workers_of_update(const Strategy& strategy, int workers) {
  const auto* servers = std::get_if<ParameterServerStrategy>(&strategy);
  return servers && servers->consistency == Consistency::backup_workers ? workers - servers->backup_workers : workers;
}

/// Whether chance decides which workers exchange.
inline bool meets_by_chance(const Strategy& strategy) {
  const auto* gossip = std::get_if<GossipStrategy>(&strategy);
  return gossip && gossip->asynchronous;
}

/// The islands of local SGD or gossip; null if each worker trains alone, or all together.
inline const Islands* islands_of(const Strategy& strategy) {
  if (const auto* local = std::get_if<LocalSgdStrategy>(&strategy)) return local->islands ? &*local->islands : nullptr;
  const auto* gossip = std::get_if<GossipStrategy>(&strategy);
  return gossip && gossip->islands ? &*gossip->islands : nullptr;
}

}  // namespace stepcast
