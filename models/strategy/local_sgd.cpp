// Local SGD (Stich, ICLR 2019): each worker makes H independent steps of forward, backward and update. Then all workers
// average their parameters, which have as many bytes as the gradients. All parameters are ready at the last update, so
// the exchange overlaps nothing. A compressor encodes the change by the H steps. An outer optimizer (SlowMo, Wang et
// al., ICLR 2020; DiLoCo, Douillard et al. 2023) updates the averaged parameters in `outer_update_factor` times the
// update's time u.
//
// Forward takes f, backward b, an all-reduce of all n bytes at once T(n), and the codec C. A step then takes
//   f + b + u + (T(n) + C + outer_update_factor·u) / H.
// With several buckets, one is encoded or decoded while another is sent.
#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {
namespace {

StepGraph by_carrier(const LocalSgdStrategy& strategy, const GraphInput& input, Carrier carrier) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  // The first bucket has the full size, since no bucket can start early.
  const auto buckets = make_buckets(
      input.workload,
      {.grouping = strategy.grouping, .bucket_cap = strategy.bucket_cap, .first_bucket = {strategy.bucket_cap}});
  const std::vector<CodedExchange> coded = coded_exchanges(graph, input, buckets, false, strategy.collective, carrier);

  graph.local_steps = strategy.steps;
  const auto [begin, updated] = add_local_steps(graph, compute, input.workload, strategy.steps);
  std::vector<TaskId> ready;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    ready.push_back(add_inside(graph, communication, "sum in machines", coded[i].sum, i, coded.size(),
                               input.negotiation(), updated));
    if (coded[i].stages.front().encode == Seconds{}) continue;
    const TaskId encoded = graph.add_task(
        {numbered("encode", i, coded.size()), Phase::encode, ComputeWork{coded[i].stages.front().encode}, codec});
    graph.depend(encoded, ready.back());
    ready.back() = encoded;
  }
  std::vector<TaskId> averaged =
      add_exchanges(graph, communication, codec, coded, input.negotiation(), std::move(ready));
  if (strategy.outer_update_factor > 0) {
    const TaskId outer = graph.add_task(
        {"outer update", Phase::update, ComputeWork{input.workload.update * strategy.outer_update_factor}, compute});
    for (const TaskId input_of : averaged) graph.depend(outer, input_of);
    averaged = {outer};
  }
  for (const TaskId last : averaged) graph.depend(begin, last, 1);
  return graph;
}

}  // namespace

StepGraph build_local_sgd(const LocalSgdStrategy& strategy, const GraphInput& input) {
  return with_cheapest_carrier(input, strategy.carrier,
                               [&](Carrier carrier) { return by_carrier(strategy, input, carrier); });
}

}  // namespace stepcast
