#include "models/report/worker_memory.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "models/compressor/compressor.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/gossip_rounds.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"
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

/// The share of the sums of a compressor's messages that one worker encodes again, with a separate error feedback. It is
/// a part of an all-to-all, the answer of a shard on its host, or the sum of a machine.
double recoded_share(const Scenario& scenario, const CompressorTraits& traits) {
  if (carrier_of(scenario.strategy) == Carrier::all_to_all && scenario.cluster.workers > 1 && has_parts(traits))
    return 1.0 / scenario.cluster.workers;
  const auto* x = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return x && x->two_way && !traits.answers && x->placement == ServerPlacement::co_located ? 1.0 / x->shards : 0.0;
}

Dtype reduced_dtype(const Scenario& scenario, const Workload& workload) {
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  return sharded ? sharded->reduce_dtype.value_or(workload.dtype) : workload.dtype;
}

/// Error feedback keeps this of the tensors that are compressed: of a worker's share, and of the sums that it encodes
/// again.
Bytes feedback_between(const Scenario& scenario, const Workload& workload) {
  if (!sends_compressed(scenario)) return {};
  if (std::holds_alternative<GossipStrategy>(scenario.strategy)) return {};  // counted among its parameters
  const Dtype dtype = reduced_dtype(scenario, workload);
  const std::vector<const Compressor*> compressors = compressors_of(scenario);
  std::vector<Bytes> compressed(compressors.size());
  std::vector<int> kept(compressors.size());  // a compressor that leaves a tensor unchanged keeps nothing of it
  std::vector<TensorsByShape> seen(compressors.size());
  const int senders = compressed_senders(scenario);
  for (const Gradient& gradient : workload.gradients) {
    const auto own = compressor_of(scenario.codec, others_of(scenario), gradient);
    if (!own) continue;
    compressed[*own] += gradient.bytes * (size_of(dtype) / size_of(workload.dtype));
    if (kept[*own] > 0) continue;
    if (!seen[*own].insert(&gradient).second) continue;
    kept[*own] = make_plan(*compressors[*own], Tensor{gradient.shape(), dtype}, senders).kept;
  }
  Bytes sum{};
  for (std::size_t i = 0; i < compressors.size(); ++i)
    sum += compressed[i] * static_cast<double>(kept[i]) *
           (1.0 / summed_workers(scenario) + recoded_share(scenario, traits_of(*compressors[i], dtype)));
  return sum;
}

/// The same of the inner compressor: of a worker's gradients, and of its share of the machine's sum if that is encoded
/// before it is gathered.
Bytes feedback_inside(const Scenario& scenario, const Workload& workload) {
  if (!compresses_inside(scenario)) return {};
  const Dtype dtype = reduced_dtype(scenario, workload);
  const double g = summed_workers(scenario.codec, scenario.compressor, scenario.cluster);
  const auto* servers = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  const bool all_reduced =
      !sends_compressed(scenario) && traits_of(scenario.inner_compressor, dtype).summable;  // by one machine alone
  const bool gathers =
      servers ? servers->two_way : !std::holds_alternative<ShardedStrategy>(scenario.strategy) && !all_reduced;
  Bytes compressed{};
  int kept = 0;
  for (const Gradient& gradient : workload.gradients) {
    if (stays_whole(scenario.codec, gradient)) continue;
    compressed += gradient.bytes * (size_of(dtype) / size_of(workload.dtype));
    if (kept == 0)
      kept = make_plan(scenario.inner_compressor, Tensor{gradient.shape(), dtype}, static_cast<int>(g)).kept;
  }
  return compressed * static_cast<double>(kept) * (gathers ? 1 + 1 / g : 1.0);
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
    const bool compressed = sends_compressed(scenario) || compresses_inside(scenario),
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
    const bool local = x.period() > 1;
    return {local ? n * 2.0 : n, n, local || x.two_way ? s : Bytes{}, {}, {}};
  }
  /// The parameters, and those of each neighbour, or of one at a time in pairs, and a copy to answer if all choose. With
  /// a compressor, x, x̂ and s of CHOCO-SGD, or nothing for power steps. Islands keep this of a share. The shares that they
  /// gather while they compute are in memory of their own, and an outer update keeps the parameters of the last average and
  /// a momentum.
  WorkerMemory operator()(const GossipStrategy& x) const {
    const Bytes copies = copies_of_neighbours(x);
    const auto sharded = sharded_step(x);
    WorkerMemory memory = sharded ? (*this)(*sharded) : WorkerMemory{n, n, s, {}, {}};
    const double g = x.workers_of_replica();
    const bool outer = x.average && x.average->outer_update_factor > 0;
    memory.parameters += (copies + n * (outer ? 1.0 : 0.0)) / g;
    if (outer) memory.optimizer += n / g;
    if (x.islands && x.overlap && x.islands->gather_averages()) memory.parameters += n;
    return memory;
  }
  /// By tensor: those of neighbours as they are, x̂ and s, or nothing.
  [[nodiscard]] Bytes copies_of_neighbours(const GossipStrategy& x) const {
    const double all = degree(neighbours_of(x), scenario.cluster.workers);
    if (x.asynchronous) return n * (std::min(1.0, all) * (x.choosers == PairChoosers::all ? 2 : 1));
    if (!sends_compressed(scenario)) return n * all;
    std::vector<double> copies;  // by compressor
    for (const Compressor* one : compressors_of(scenario))
      copies.push_back(traits_of(*one, workload.dtype).stages > 1 ? 0.0 : 2.0);
    Bytes sum{};
    for (const Gradient& gradient : workload.gradients) {
      const auto own = compressor_of(scenario.codec, others_of(scenario), gradient);
      sum += gradient.bytes * (own ? copies[*own] : all);
    }
    return sum;
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
  memory.feedback = feedback_between(scenario, workload) + feedback_inside(scenario, workload);
  memory.activations = workload.activations;
  return memory;
}

}  // namespace stepcast
