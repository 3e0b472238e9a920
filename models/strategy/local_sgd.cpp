// Local SGD (Stich, ICLR 2019): each worker makes H steps of its own, forward, backward and update, and then all
// average their parameters, which are as many bytes as the gradients. All of them are there when the last update ends,
// so nothing hides the exchange. A compressor encodes what the H steps have changed. An outer optimizer (SlowMo, Wang
// et al., ICLR 2020; DiLoCo, Douillard et al. 2023) updates the averaged parameters, in `outer_update_factor` of the
// update's time u.
//
// With forward f, backward b, an all-reduce T(n) of all n bytes at once and a codec of C a step takes
//   f + b + u + (T(n) + C + outer_update_factor·u) / H.
// Of several buckets one is encoded or decoded while another travels.
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {

StepGraph build_local_sgd(const LocalSgdStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  // No first bucket is smaller: none can start early.
  const auto buckets = make_buckets(
      input.workload,
      {.grouping = strategy.grouping, .bucket_cap = strategy.bucket_cap, .first_bucket = {strategy.bucket_cap}});
  const std::vector<CodedExchange> coded =
      coded_exchanges(graph, input, buckets, false, strategy.collective, strategy.carrier);

  graph.local_steps = strategy.steps;
  const auto [begin, updated] = add_local_steps(graph, compute, input.workload, strategy.steps);
  std::vector<TaskId> ready;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    ready.push_back(updated);
    if (coded[i].stages.front().encode == Seconds{}) continue;
    ready.back() = graph.add_task(
        {numbered("encode", i, coded.size()), Phase::encode, ComputeWork{coded[i].stages.front().encode}, codec});
    graph.depend(ready.back(), updated);
  }
  std::vector<TaskId> averaged = add_exchanges(graph, communication, codec, coded, std::move(ready));
  if (strategy.outer_update_factor > 0) {
    const TaskId outer = graph.add_task(
        {"outer update", Phase::update, ComputeWork{input.workload.update * strategy.outer_update_factor}, compute});
    for (const TaskId input_of : averaged) graph.depend(outer, input_of);
    averaged = {outer};
  }
  for (const TaskId last : averaged) graph.depend(begin, last, 1);
  return graph;
}

}  // namespace stepcast
