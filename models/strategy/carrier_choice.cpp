#include "models/strategy/carrier_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/exchange_price.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// The time of a step in the long run, on workers of speed 1. Tasks wait for their stream and for the tasks before them.
/// The mean is over as many runs of the template as were left out before, so that a first round's wait does not count.
Seconds mean_step(const StepGraph& graph, const ClusterPrices& prices) {
  constexpr int kRuns = 8;
  std::vector<std::vector<Dependency>> waits_for(graph.tasks.size());
  for (const Dependency& d : graph.dependencies) waits_for[d.after].push_back(d);
  std::vector<Seconds> times;
  for (const Task& task : graph.tasks) {
    const auto* compute = std::get_if<ComputeWork>(&task.work);
    times.push_back(compute ? compute->duration : exchange_price(task.work, graph, prices).total());
  }
  std::vector<std::vector<Seconds>> ends;  // of each run's tasks
  std::vector<Seconds> free(graph.streams.size()), last;
  for (int run = 0; run < 2 * kRuns; ++run) {
    ends.emplace_back(graph.tasks.size());
    for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
      Seconds& stream = free[graph.tasks[task].worker_stream];
      for (const Dependency& d : waits_for[task])
        if (d.lag <= run) stream = std::max(stream, ends[run - d.lag][d.before]);
      ends[run][task] = stream += times[task];
    }
    last.push_back(*std::max_element(ends[run].begin(), ends[run].end()));
  }
  return (last.back() - last[kRuns - 1]) / (1.0 * kRuns * graph.local_steps);
}

}  // namespace

StepGraph with_cheapest_carrier(const GraphInput& input, Carrier carrier,
                                const std::function<StepGraph(Carrier)>& build) {
  if (carrier != Carrier::automatic) return build(carrier);
  if (std::holds_alternative<NoCompressor>(input.compressor())) return build(Carrier::sum_or_gather);
  const auto any_method = [&](bool (*has)(const CompressorTraits&)) {
    return std::any_of(input.methods.begin(), input.methods.end(),
                       [&](const Method& method) { return has(method.traits); });
  };
  if (input.cluster.workers == input.summed_workers() || !any_method(has_parts)) return build(Carrier::sum_or_gather);
  const Carrier in_parts = any_method(is_recoded) ? Carrier::all_to_all_once : Carrier::all_to_all;
  StepGraph whole = build(Carrier::all_gather), parts = build(in_parts);
  const ClusterPrices& prices = input.prices.for_times();
  const Seconds gathered = mean_step(whole, prices), summed = mean_step(parts, prices);
  const auto text = [](Carrier taken, Seconds time, Carrier other, Seconds longer) {
    return fmt::format("{}: {} a step, for {} by {}", name_of(taken), human_text(time), human_text(longer),
                       name_of(other));
  };
  if (summed < gathered) {
    parts.carrier = text(in_parts, summed, Carrier::all_gather, gathered);
    return parts;
  }
  whole.carrier = text(Carrier::all_gather, gathered, in_parts, summed);
  return whole;
}

}  // namespace stepcast
