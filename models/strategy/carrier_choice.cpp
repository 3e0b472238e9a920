#include "models/strategy/carrier_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/strategy/exchange_price.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// The end of an isolated step, in which tasks wait for their stream and for the tasks before them.
Seconds isolated_step(const StepGraph& graph, const ClusterPrices& prices) {
  std::vector<std::vector<TaskId>> waits_for(graph.tasks.size());
  for (const Dependency& d : graph.dependencies)
    if (d.lag == 0) waits_for[d.after].push_back(d.before);
  std::vector<Seconds> ends, free(graph.streams.size());
  Seconds last{};
  for (const Task& task : graph.tasks) {
    Seconds& stream = free[task.worker_stream];
    for (const TaskId before : waits_for[ends.size()]) stream = std::max(stream, ends[before]);
    const auto* compute = std::get_if<ComputeWork>(&task.work);
    stream += compute ? compute->duration : exchange_price(task.work, graph, prices).total();
    ends.push_back(stream);
    last = std::max(last, stream);
  }
  return last / static_cast<double>(graph.local_steps);
}

}  // namespace

StepGraph with_cheapest_carrier(const GraphInput& input, Carrier carrier,
                                const std::function<StepGraph(Carrier)>& build) {
  if (carrier != Carrier::automatic) return build(carrier);
  if (std::holds_alternative<NoCompressor>(input.compressor)) return build(Carrier::sum_or_gather);
  const CompressorTraits traits = traits_of(input.compressor, input.workload.dtype);
  if (input.cluster.workers == input.summed_workers() || !traits.one_gathered_message)
    return build(Carrier::sum_or_gather);
  const Carrier in_parts = traits.votes ? Carrier::all_to_all : Carrier::all_to_all_once;
  StepGraph whole = build(Carrier::all_gather), parts = build(in_parts);
  const Seconds gathered = isolated_step(whole, input.prices), summed = isolated_step(parts, input.prices);
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
