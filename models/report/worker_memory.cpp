#include "models/report/worker_memory.hpp"

#include <algorithm>
#include <variant>

#include "models/collective/neighbours.hpp"
#include "models/compressor/compressor.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/whole_tensors.hpp"
#include "models/strategy/fragments.hpp"
#include "models/strategy/island_steps.hpp"
#include "models/strategy/quantized_gather.hpp"
#include "models/workload/autocast.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

Bytes largest_unit(const Workload& workload, const Exchange& exchange) {
  Bytes largest{};
  for (const Bucket& unit : make_buckets(workload, exchange)) largest = std::max(largest, unit.bytes);
  return largest;
}

Bytes optimizer_state(Optimizer optimizer, const Workload& workload) {
  double elements = 0;
  for (const Gradient& gradient : workload.gradients) elements += static_cast<double>(gradient.elements);
  const double weights = size_of(workload.dtype) < 4_B ? 1 : 0;
  return 4_B * elements * (states_of(optimizer) + weights);
}

/// Error feedback keeps this of the tensors that are compressed.
Bytes feedback_of(const Scenario& scenario, const Workload& workload) {
  if (!sends_compressed(scenario.codec, scenario.compressor, scenario.cluster)) return {};
  if (std::holds_alternative<GossipStrategy>(scenario.strategy)) return {};  // counted among its parameters
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  const Dtype dtype = sharded ? sharded->reduce_dtype.value_or(workload.dtype) : workload.dtype;
  Bytes compressed{};
  const int senders = compressed_senders(scenario);
  int kept = 0;  // a compressor that leaves a tensor unchanged keeps nothing of it
  for (const Gradient& gradient : workload.gradients) {
    if (stays_whole(scenario.codec, gradient)) continue;
    compressed += gradient.bytes * (size_of(dtype) / size_of(workload.dtype));
    if (kept == 0) kept = make_plan(scenario.compressor, Tensor{gradient.shape(), dtype}, senders).kept;
  }
  return compressed * static_cast<double>(kept);
}

/// Units that are gathered and not yet released: the one in use and those prefetched.
Bytes gathered(const ShardedStrategy& x, const Workload& workload) {
  return largest_unit(workload, x.exchange) * (x.exchange.overlap ? x.prefetch + 1.0 : 1.0);
}

/// The casts of parameters that automatic mixed precision keeps, for parameters that are stored whole.
Bytes casts_of(const Scenario& scenario, const Workload& workload) {
  const WorkloadTable& table = *scenario.workload;
  if (!is_mixed(table)) return {};
  Bytes whole = workload.gradient_bytes;
  if (table.autocast) {
    whole = {};
    for (const Layer& layer : list_gradients(table).layers)
      for (const double elements : cast_weights(layer)) whole += size_of(table.dtype) * elements;
  }
  if (const auto sharded = sharded_step(scenario.strategy); sharded && sharded->stage == ShardingStage::parameters)
    whole = std::min(whole, gathered(*sharded, workload));
  return whole * (size_of(compute_dtype_of(table)) / size_of(table.dtype));
}

/// The share of all sums that one worker encodes again, with a separate error feedback. It is a part of an all-to-all,
/// the answer of a shard on its host, or the sum of a machine.
double recoded_share(const Scenario& scenario) {
  if (const int m = first_hop_workers(scenario.codec, scenario.cluster); m > 1) return 1.0 / m;
  if (carrier_of(scenario.strategy) == Carrier::all_to_all && scenario.cluster.workers > 1)
    return 1.0 / scenario.cluster.workers;
  const auto* x = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return x && x->two_way && x->placement == ServerPlacement::co_located ? 1.0 / x->shards : 0.0;
}

struct MemoryOf {
  const Scenario& scenario;
  const Workload& workload;
  Bytes n, s;

  /// Local steps keep the parameters of their start if they need the change since then.
  WorkerMemory operator()(const AllReduceStrategy&) const {
    const auto* local = std::get_if<QsparseLocalSgd>(&scenario.compressor);
    return {local && local->local_steps > 1 ? n * 2.0 : n, n, s, {}, {}};
  }
  /// An island's workers each average and update a share, and keep what that needs. Where averages in flight are gathered
  /// while workers compute, all shares arrive in memory of their own.
  WorkerMemory operator()(const LocalSgdStrategy& x) const {
    const bool compressed = sends_compressed(scenario.codec, scenario.compressor, scenario.cluster),
               outer = x.outer_update_factor > 0;
    const double g = x.workers_of_replica();
    const Bytes in_flight = most_in_flight(x, workload);
    const auto sharded = sharded_step(x);
    WorkerMemory memory = sharded ? (*this)(*sharded) : WorkerMemory{n, n, s, {}, {}};
    // Parameters in flight are in a message. Without the parameters of the start there is a copy as they were sent, too:
    // the change since then is added to the average.
    const double copies = compressed || outer ? 1 : 2;
    memory.parameters += (n * (compressed || outer ? 1.0 : 0.0) + in_flight * copies) / g;
    if (outer) memory.optimizer += n / g;
    else if (x.islands && x.islands->gather_averages()) memory.parameters += in_flight;
    return memory;
  }
  WorkerMemory operator()(const PipelinedStrategy& x) const { return {n, n * x.width, s, {}, {}}; }
  /// With several steps from one exchange to the next, as for local steps above.
  WorkerMemory operator()(const ParameterServerStrategy& x) const {
    const bool local = x.steps > 1;
    return {local ? n * 2.0 : n, n, local || x.two_way ? s : Bytes{}, {}, {}};
  }
  /// The parameters, and those of each neighbour; with a compressor x, x̂ and s of CHOCO-SGD.
  WorkerMemory operator()(const GossipStrategy& x) const {
    const bool compressed = sends_compressed(scenario.codec, scenario.compressor, scenario.cluster);
    const int neighbours = degree({x.graph, x.dimensions, x.edges}, scenario.cluster.workers);
    return {n * (compressed ? 3.0 : 1.0 + neighbours), n, s, {}, {}};
  }
  WorkerMemory operator()(const CollectiveBenchmark&) const { return {}; }
  WorkerMemory operator()(const ShardedStrategy& x) const {
    const double g = x.group(scenario.cluster.workers);
    const auto shared = [&](Bytes all, Bytes units) { return std::min(all, all / g + units); };
    const double wider = x.reduced_over(workload.dtype);
    const bool reduced_on_the_way =
        x.exchange.overlap && (workload.accumulation == 1 || x.reduce_after != ReduceAfter::last_pass);
    const int h = x.backward_group(scenario.cluster.workers);
    const bool gathers_again = x.stage == ShardingStage::parameters && make_buckets(workload, x.exchange).size() > 1;
    const Bytes second_copy = gathers_again && h < g ? gathered_share(x, n, workload.dtype, h) : Bytes{};
    return {x.stage == ShardingStage::parameters ? shared(n, gathered(x, workload)) + second_copy : n,
            reduced_on_the_way ? shared(n * wider, largest_unit(workload, x.exchange) * (2.0 * wider)) : n * wider,
            s / g,
            {},
            {}};
  }
};

}  // namespace

WorkerMemory worker_memory(const Scenario& scenario, const Workload& workload) {
  WorkerMemory memory = std::visit(
      MemoryOf{scenario, workload, workload.gradient_bytes, optimizer_state(scenario.workload->optimizer, workload)},
      scenario.strategy);
  memory.parameters += casts_of(scenario, workload);
  const int g = summed_workers(scenario);
  memory.feedback = feedback_of(scenario, workload) * (1.0 / g + recoded_share(scenario));
  memory.activations = workload.activations;
  return memory;
}

}  // namespace stepcast
