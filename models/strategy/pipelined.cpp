// Pipe-SGD (Li et al., NeurIPS 2018): w[t] = w[t-1] - lr·g[t-K]. Step t first applies the gradient that was sent K
// steps before. It then computes its own gradient with the new parameters and sends it:
//
//   update_t (waits for exchange_{t-K}) → forward_t → backward_t → exchange_t
//
// Let A = update + forward + backward and B = exchange. The cycles are A (compute stream), B (communication stream) and
// A + B over K steps, so the period is max(A, B, (A+B)/K). The first K updates apply nothing. In the warm-up steps, and
// in the first step after them, an update waits for the previous step (K = 1).
//
// A compressor of several stages needs the GPU between two messages, while the GPU is several steps ahead. It has a
// separate stream there (codec sharing fair).
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {

StepGraph build_pipelined(const PipelinedStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const bool cut = strategy.segments > 1;
  const auto segments =
      cut ? make_segments(input.workload, strategy.segments) : make_buckets(input.workload, Exchange{});

  const PartExchanges coded =
      coded_exchanges(graph, input, segments, parts_of(segments), cut, strategy.collective, strategy.carrier);

  // Decoded gradients are applied immediately, so decoding belongs to the step that updates.
  std::vector<TaskId> users(segments.size(), kNoTask);  // by segment, the user of its sum: decoding, or the update
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (coded[i].decode > Seconds{})
      users[i] =
          graph.add_task({TaskName("decode", i, segments.size()), Phase::decode, ComputeWork{coded[i].decode}, codec});
  const TaskId update = graph.add_task({"update", Phase::update, ComputeWork{input.workload.update}, compute});
  for (TaskId& user : users) {
    if (user == kNoTask) user = update;
    else graph.depend(update, user);
  }
  const TaskId forward = add_forward(graph, compute, input.workload);
  graph.depend(forward, update);
  const BackwardPass backward =
      add_backward(graph, compute, codec, input, segments, 1.0, parts_of(segments), first_encodes(coded));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    // Works segment by segment: the GPU is several steps ahead, and no task needs one stage of all segments.
    TaskId last = backward.ready[i];
    for (std::size_t s = 0; s < coded[i].stages.size(); ++s)
      last = add_stage(graph, communication, codec, coded, i, s, input.negotiation(), last);
    graph.depend(users[i], last, strategy.width);
    if (strategy.warmup_steps > 0) graph.depend(users[i], last, 1, strategy.warmup_steps + 1);
  }
  return graph;
}

}  // namespace stepcast
