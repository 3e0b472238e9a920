#include "models/scenario/without_effect.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/part/connections.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/collective_choice.hpp"
#include "models/scenario/servers_without_effect.hpp"
#include "models/scenario/sharding_without_effect.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/scenario/workload_without_effect.hpp"

namespace stepcast {
namespace {

template <class Part>
const Part* strategy_of(const Scenario& s) {
  return std::get_if<Part>(&s.strategy);
}

bool compresses(const Scenario& s) { return !std::holds_alternative<NoCompressor>(s.compressor); }

// Collectives.

/// The operations that a strategy's `collective` may perform.
std::vector<Operation> operations(const Strategy& strategy) {
  if (const auto* benchmark = std::get_if<CollectiveBenchmark>(&strategy)) return {benchmark->operation};
  if (std::holds_alternative<ShardedStrategy>(strategy))
    return {Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all};  // the last: compressed gradients
  return {Operation::all_reduce, Operation::all_gather, Operation::all_to_all};  // the last two: compressed gradients
}

/// Whether `algorithm` is the chosen one, or with "auto" may be.
bool may_be(const Scenario& s, Algorithm chosen, Algorithm algorithm) {
  const std::vector<Operation> all = operations(s.strategy);
  return chosen == algorithm ||
         (chosen == Algorithm::automatic && std::any_of(all.begin(), all.end(), [&](Operation operation) {
            return may_choose(s.cluster.algorithms, algorithm, operation);
          }));
}

/// The algorithm in use. Hops that decode and encode need a ring.
std::optional<Algorithm> algorithm_of(const Scenario& s) {
  const auto* choice = collective_of(s.strategy);
  if (!choice) return {};
  return carrier_of(s.strategy) == Carrier::in_collective && compresses(s) ? Algorithm::ring : choice->algorithm;
}

/// Returns "" if one of these algorithms may run.
std::string unless_one_of(const Scenario& s, std::initializer_list<Algorithm> algorithms) {
  const auto chosen = algorithm_of(s);
  if (!chosen || std::any_of(algorithms.begin(), algorithms.end(),
                             [&](Algorithm algorithm) { return may_be(s, *chosen, algorithm); }))
    return "";
  return *chosen == Algorithm::automatic ? "no algorithm that auto may choose has one here"
                                         : fmt::format("the algorithm is {}", name_of(*chosen));
}

std::string group_size(const Scenario& s) {
  return unless_one_of(s, {Algorithm::hierarchical, Algorithm::multi_ring, Algorithm::nccl_tree});
}
std::string rings(const Scenario& s) { return unless_one_of(s, {Algorithm::multi_ring, Algorithm::nccl_tree}); }
std::string between_groups(const Scenario& s) { return unless_one_of(s, {Algorithm::hierarchical}); }

/// For hierarchical: "" if `algorithm` may run between its groups.
std::string unless_between(const Scenario& s, Algorithm algorithm) {
  const std::vector<Operation> all = operations(s.strategy);
  const Algorithm between = collective_of(s.strategy)->between_groups;
  const bool may_be =
      between == Algorithm::automatic && std::any_of(all.begin(), all.end(), [algorithm](Operation operation) {
        const auto named = algorithms_between(operation);
        return std::find(named.begin(), named.end(), algorithm) != named.end();
      });
  return unless(may_be || between == algorithm,
                fmt::format("the algorithm is hierarchical, with {} between groups", name_of(between)));
}

std::string pipeline_segments(const Scenario& s) {
  return algorithm_of(s) == Algorithm::hierarchical
             ? unless_between(s, Algorithm::double_binary_tree)
             : unless_one_of(s, {Algorithm::double_binary_tree, Algorithm::nccl_tree});
}

std::string exchange_order(const Scenario& s) {
  if (algorithm_of(s) == Algorithm::hierarchical) return unless_between(s, Algorithm::halving_doubling);
  return unless_one_of(s, {Algorithm::halving_doubling, Algorithm::hierarchical});
}

// Grouping and overlap of gradients.

std::string of_buckets(const Scenario& s) {
  const auto* exchange = exchange_of(s.strategy);
  return exchange ? unless_bucketed(exchange->grouping) : "";
}
std::string of_averaged_buckets(const Scenario& s) {
  const auto* local = strategy_of<LocalSgdStrategy>(s);
  return local ? unless_bucketed(local->grouping) : "";
}
std::string overlap(const Scenario& s) {
  const auto* exchange = exchange_of(s.strategy);
  return unless(!exchange || exchange->grouping != Grouping::whole_model,
                "grouping is whole-model, which never overlaps");
}

std::string of_overlap(const Scenario& s) {
  const auto* exchange = exchange_of(s.strategy);
  return exchange && exchange->overlap ? overlap(s) : unless(!exchange, "overlap is false");
}

std::string prefetch(const Scenario& s) {
  if (!strategy_of<ShardedStrategy>(s)) return "";
  const std::string kept = kept_parameters(s);
  return kept.empty() ? of_overlap(s) : kept;
}

std::string warmup_steps(const Scenario& s) {
  return unless(!strategy_of<PipelinedStrategy>(s), "steps are forecast for the steady pipeline");
}

// Clusters.

std::string link(const Scenario& s) {
  return unless(!std::holds_alternative<SimGridXml>(s.cluster.topology), "topology simgrid-xml has its own links");
}

std::string reduction_cost(const Scenario& s) {
  const auto* server = strategy_of<ParameterServerStrategy>(s);
  if (server && server->server_reduction_cost && !server->sum_in_machine) return "server_reduction_cost is set";
  const auto* one = strategy_of<CollectiveBenchmark>(s);
  if (!one || one->operation == Operation::all_reduce || one->operation == Operation::reduce_scatter) return "";
  return fmt::format("{} adds nothing", name_of(one->operation));
}

std::string sum_between_groups(const Scenario& s) {
  const auto* sharded = strategy_of<ShardedStrategy>(s);
  return unless(!sharded || sharded->group(s.cluster.workers) < s.cluster.workers,
                "all workers share out one copy of the state");
}

/// Whether gossip sometimes averages all workers.
bool averages_all(const Scenario& s) {
  const auto* gossip = strategy_of<GossipStrategy>(s);
  return gossip && gossip->average;
}

std::string of_collectives(const Scenario& s) {
  if (const auto* server = strategy_of<ParameterServerStrategy>(s); server && server->sum_in_machine) return "";
  return unless(collective_of(s.strategy) || averages_all(s) || islands_of(s.strategy),
                "the strategy has no collectives");
}

std::string nic_of_gpu(const Scenario& s) {
  const auto* nodes = std::get_if<Nodes>(&s.cluster.topology);
  if (nodes && nodes->nics == 1) return "a machine has one NIC";
  return unless(!nodes || nodes->nics != nodes->gpus_per_node, "each GPU has a separate NIC");
}

/// The sums between groups and of islands, and averages of gossip have a choice of their own.
std::string of_collectives_by(const Scenario& s, std::initializer_list<Algorithm> algorithms) {
  if (std::string none = of_collectives(s); !none.empty()) return none;
  if ((strategy_of<ShardedStrategy>(s) && sum_between_groups(s).empty()) || islands_of(s.strategy) || averages_all(s))
    return "";
  return unless_one_of(s, algorithms);
}
std::string in_network(const Scenario& s) {
  const std::string none = of_collectives_by(s, {Algorithm::in_network});
  return none.empty() || algorithm_of(s) != Algorithm::hierarchical ? none : unless_between(s, Algorithm::in_network);
}
std::string ring_latency(const Scenario& s) {
  if (std::holds_alternative<TcpTransport>(s.cluster.transport)) return "transport tcp keeps each link's latency";
  return of_collectives_by(s, {Algorithm::ring, Algorithm::multi_ring, Algorithm::hierarchical});
}

std::string worker_price(const Scenario& s) {
  return unless(!s.cluster.prices || !strategy_of<CollectiveBenchmark>(s),
                "strategy collective has no training to price");
}
std::string jitter_cv(const Scenario& s) {
  return unless(!strategy_of<CollectiveBenchmark>(s), "strategy collective computes nothing");
}
std::string jitter_distribution(const Scenario& s) { return unless(s.cluster.jitter.cv > 0, "cv is 0"); }

// Compressors and codecs.

/// Returns "" for compressors without the field.
std::string framework(const Scenario& s) {
  return std::visit(
      [](const auto& x) -> std::string {
        if constexpr (requires { std::pair(x.framework, x.packing); })
          return unless(x.packing == Packing::grace, fmt::format("packing is {}", name_of(x.packing)));
        else return "";
      },
      s.compressor);
}

/// Whether a collective of the scenario is an all-gather.
bool gathers(const Scenario& s) {
  if (const auto* benchmark = strategy_of<CollectiveBenchmark>(s)) return benchmark->operation == Operation::all_gather;
  if (strategy_of<ShardedStrategy>(s) || islands_of(s.strategy)) return true;
  if (const auto* servers = strategy_of<ParameterServerStrategy>(s))
    return servers->sum_in_machine && host_costs(s.cluster).workers_of_machine > 1;
  if (!compresses(s) || strategy_of<GossipStrategy>(s)) return false;
  if (const int g = summed_workers(s); g > 1) {
    const Dtype dtype = s.workload ? s.workload->dtype : Dtype::fp32;
    return g < s.cluster.workers || (compresses_inside(s) && !traits_of(s.inner_compressor, dtype).summable);
  }
  if (std::holds_alternative<RatioCompressor>(s.compressor) || carrier_of(s.strategy) == Carrier::in_collective)
    return false;
  return !s.workload || any_has(s, is_gathered);
}
std::string of_gathers(const Scenario& s) { return unless(gathers(s), "no messages are gathered"); }

std::string backward_slowdown(const Scenario& s) {
  if (exchange_of(s.strategy)) return of_overlap(s);
  if (const Islands* islands = islands_of(s.strategy))
    return islands->overlap ? overlap_of_islands(s) : "overlap of islands is false";
  return fmt::format("strategy {} slows no backward", kind_of(s.strategy));
}

/// Strategies whose collectives workers agree on.
std::string negotiation_cost(const Scenario& s) {
  const Islands* islands = islands_of(s.strategy);
  const bool agrees = strategy_of<AllReduceStrategy>(s) || strategy_of<PipelinedStrategy>(s) ||
                      strategy_of<LocalSgdStrategy>(s) || averages_all(s) || (islands && islands->gather_averages());
  return unless(agrees, fmt::format("strategy {} does not negotiate", kind_of(s.strategy)));
}

/// Only all-reduces wait for looks.
std::string cycle(const Scenario& s) {
  const auto* all_reduce = strategy_of<AllReduceStrategy>(s);
  if (!all_reduce) return fmt::format("strategy {} waits for no cycle", kind_of(s.strategy));
  if (all_reduce->exchange.priority) return "parts with priority wait for no cycle";
  if (s.cluster.workers == 1) return "a single worker exchanges nothing";
  return unless(summed_workers(s) == 1, "gradients are summed inside machines as soon as they are ready");
}
std::string connections(const Scenario& s) {
  return unless(s.cluster.stack.connection_bandwidth.has_value(), "connection_bandwidth is null");
}
std::string connection_bandwidth(const Scenario& s) {
  return unless(connections_limit(s.cluster).has_value(), "no host's link has more than the connections");
}
std::string byte_cost_limit(const Scenario& s) {
  const Stack& stack = s.cluster.stack;
  if (stack.sum_byte_cost > SecondsPerByte{}) return "";
  return stack.gather_byte_cost > SecondsPerByte{} ? of_gathers(s) : "gather_byte_cost and sum_byte_cost are 0";
}

std::string unless_graph(const Scenario& s, NeighbourGraph graph) {
  const auto* gossip = strategy_of<GossipStrategy>(s);
  return !gossip || gossip->graph == graph ? "" : fmt::format("graph is {}", name_of(gossip->graph));
}

std::string of_pairs(const Scenario& s) {
  const auto* gossip = strategy_of<GossipStrategy>(s);
  return unless(!gossip || gossip->asynchronous, "workers exchange with all neighbours");
}

std::string of_parts(const Scenario& s) { return unless(s.cluster.workers > 1, "a single worker exchanges nothing"); }
std::string codec_sharing(const Scenario& s) { return unless(compresses(s), "nothing is compressed"); }
std::string codec_device(const Scenario& s) {
  if (const auto* sharded = strategy_of<ShardedStrategy>(s); sharded && sharded->quantized_gather) return "";
  if (std::holds_alternative<RatioCompressor>(s.compressor) && !compresses_tensors(s.inner_compressor))
    return "compressor ratio states its costs";
  return codec_sharing(s);
}

std::string codec_overlap(const Scenario& s) {
  if (!compresses(s)) return "nothing is compressed";
  if (strategy_of<LocalSgdStrategy>(s)) return "strategy local-sgd encodes after its steps";
  if (strategy_of<ShardedStrategy>(s)) return "strategy sharded encodes a unit when it is reduced";
  if (strategy_of<GossipStrategy>(s)) return "strategy gossip encodes parameters, not gradients";
  if (const auto* pipelined = strategy_of<PipelinedStrategy>(s))
    return unless(pipelined->segments > 1, "there is one segment");
  return overlap(s);
}

std::string codec_scope(const Scenario& s) {
  if (!compresses(s)) return "nothing is compressed";
  if (strategy_of<CollectiveBenchmark>(s)) return "strategy collective adds up nothing before its collective";
  return unless(host_costs(s.cluster).workers_of_machine > 1, "each worker is a machine");
}
std::string of_tensors(const Scenario& s) {
  return std::holds_alternative<RatioCompressor>(s.compressor) &&
                 !(compresses_inside(s) && compresses_tensors(s.inner_compressor))
             ? "compressor ratio knows no tensors"
             : codec_sharing(s);
}

// Evaluation.

std::string of_replay(const Scenario& s) {
  return unless(s.evaluation.evaluator != Evaluator::equations, "evaluator is equations");
}
std::string of_chance(const Scenario& s) { return unless(is_random(s), "there is no jitter"); }
std::string tolerance(const Scenario& s) {
  return unless(s.evaluation.evaluator == Evaluator::both,
                fmt::format("evaluator is {}", name_of(s.evaluation.evaluator)));
}

constexpr std::array kFields = {
    SometimesField{"/workload/backward_spread", backward_spread},
    SometimesField{"/workload/autocast", autocast},
    SometimesField{"/workload/fused_update", fused_update},
    SometimesField{"/workload/recomputation", recomputation},
    SometimesField{"/workload/recomputed_share", recomputed_share},
    SometimesField{"/workload/transformer/composed", composed},
    SometimesField{"/cluster/link/bandwidth", link},
    SometimesField{"/cluster/link/latency", link},
    SometimesField{"/cluster/topology/nic_of_gpu", nic_of_gpu},
    SometimesField{"/cluster/reduction_cost", reduction_cost},
    SometimesField{"/cluster/collective_cost", of_collectives},
    SometimesField{"/cluster/collective_byte_cost", of_collectives},
    SometimesField{"/cluster/protocols", of_collectives},
    SometimesField{"/cluster/algorithms", of_collectives},
    SometimesField{"/cluster/ring_latency", ring_latency},
    SometimesField{"/cluster/in_network_factor", in_network},
    SometimesField{"/cluster/jitter/distribution", jitter_distribution},
    SometimesField{"/cluster/jitter/cv", jitter_cv},
    SometimesField{"/cluster/prices/worker", worker_price},
    SometimesField{"/cluster/prices/server", server_price},
    SometimesField{"/strategy/collective/group_size", group_size},
    SometimesField{"/strategy/collective/pipeline_segments", pipeline_segments},
    SometimesField{"/strategy/collective/rings", rings},
    SometimesField{"/strategy/collective/between", between_groups},
    SometimesField{"/strategy/collective/exchange_order", exchange_order},
    SometimesField{"/strategy/exchange/bucket_cap", of_buckets},
    SometimesField{"/strategy/exchange/first_bucket", of_buckets},
    SometimesField{"/strategy/exchange/overlap", overlap},
    SometimesField{"/stack/backward_slowdown", backward_slowdown},
    SometimesField{"/strategy/bucket_cap", of_averaged_buckets},
    SometimesField{"/strategy/islands/bucket_cap", bucket_cap_of_islands},
    SometimesField{"/strategy/islands/overlap", overlap_of_islands},
    SometimesField{"/strategy/all_reduce/algorithm", sum_between_groups},
    SometimesField{"/strategy/prefetch", prefetch},
    SometimesField{"/strategy/backward_group_size", backward_group_size},
    SometimesField{"/strategy/quantized_gather/bits", quantized_gather},
    SometimesField{"/strategy/quantized_gather/block", quantized_gather},
    SometimesField{"/strategy/reduce_after", reduce_after},
    SometimesField{"/strategy/reduce_dtype", reduce_dtype},
    SometimesField{"/strategy/warmup_steps", warmup_steps},
    SometimesField{"/strategy/backup_workers", backup_workers},
    SometimesField{"/strategy/bound", staleness_bound},
    SometimesField{"/strategy/balance", balance},
    SometimesField{"/strategy/server_reduction_cost", server_reduction_cost},
    SometimesField{"/strategy/server_update_factor", server_update_factor},
    SometimesField{"/strategy/sum_in_machine", sum_in_machine},
    SometimesField{"/strategy/duplex", duplex},
    SometimesField{"/strategy/dimensions", [](const Scenario& s) { return unless_graph(s, NeighbourGraph::torus); }},
    SometimesField{"/strategy/edges", [](const Scenario& s) { return unless_graph(s, NeighbourGraph::edges); }},
    SometimesField{"/strategy/choosers", of_pairs},
    SometimesField{"/compressor/framework", framework},
    SometimesField{"/stack/gather_cost", of_gathers},
    SometimesField{"/stack/negotiation_cost", negotiation_cost},
    SometimesField{"/stack/cycle", cycle},
    SometimesField{"/stack/connections", connections},
    SometimesField{"/stack/connection_bandwidth", connection_bandwidth},
    SometimesField{"/stack/byte_cost_limit", byte_cost_limit},
    SometimesField{"/strategy/exchange/partition", of_parts},
    SometimesField{"/stack/gather_byte_cost", of_gathers},
    SometimesField{"/codec/device", codec_device},
    SometimesField{"/codec/slowdown", codec_device},
    SometimesField{"/codec/overlap", codec_overlap},
    SometimesField{"/codec/scope", codec_scope},
    SometimesField{"/inner_compressor", codec_scope},
    SometimesField{"/codec/min_elements", of_tensors},
    SometimesField{"/codec/whole_vectors", of_tensors},
    SometimesField{"/codec/sharing", codec_sharing},
    SometimesField{"/evaluation/fidelity", of_replay, true},
    SometimesField{"/evaluation/tolerance", tolerance, true},
    SometimesField{"/evaluation/max_steps", of_replay, true},
    SometimesField{"/evaluation/runs", of_chance, true},
    SometimesField{"/evaluation/seed", of_chance, true},
};

}  // namespace

std::span<const SometimesField> sometimes_fields() { return kFields; }

}  // namespace stepcast
