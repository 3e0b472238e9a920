// Pipe-SGD (Li et al., NeurIPS 2018): w[t] = w[t-1] - lr·g[t-K]. Step t first applies the gradient that was
// sent K steps ago, then computes its own with the new parameters and sends it:
//
//   update_t (waits for exchange_{t-K}) → forward_t → backward_t → exchange_t
//
// With A = update + forward + backward and B = exchange the cycles are A (compute stream), B (communication
// stream) and A + B over K steps, so the period is max(A, B, (A+B)/K). The first K updates apply nothing.
// In the warm-up steps, and in the first step after them, an update waits for the step just before (K = 1).
#include "models/strategy/builder.hpp"
#include "models/strategy/prices.hpp"

namespace stepcast {

StepGraph build_pipelined(const PipelinedStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const auto segments = strategy.segments == 1 ? make_buckets(input.workload, Exchange{}) : make_segments(input.workload, strategy.segments);

  // Decoded gradients are applied at once, so decoding belongs to the step that updates.
  std::vector<TaskId> decodes;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Seconds decode = decode_time(input.compressor, segments[i].bytes);
    if (decode > Seconds{}) decodes.push_back(graph.add_task({numbered("decode", i, segments.size()), Phase::decode, ComputeWork{decode}, compute}));
  }
  const TaskId update = graph.add_task({"update", Phase::update, ComputeWork{input.workload.update}, compute});
  const TaskId forward = add_forward(graph, compute, input.workload);
  graph.depend(forward, update);
  const auto ready = add_backward(graph, compute, input, segments, 1.0);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Bytes bytes = payload(input.compressor, segments[i].bytes);
    const CollectiveCall call = decide(Operation::all_reduce, strategy.collective, bytes, input.cluster.workers, input.prices, natural_group(input.cluster));
    const TaskId exchange = graph.add_task({numbered("all-reduce", i, segments.size()), Phase::exchange, CollectiveWork{call}, communication});
    graph.depend(exchange, ready[i]);
    const TaskId user = decodes.empty() ? update : decodes[i];
    graph.depend(user, exchange, strategy.width);
    if (strategy.warmup_steps > 0) graph.depend(user, exchange, 1, strategy.warmup_steps + 1);
  }
  return graph;
}

}  // namespace stepcast
