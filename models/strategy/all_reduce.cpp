// Synchronous SGD over collectives: forward, backward, exchange, update; every worker has the same parameters in
// every step. Buckets are exchanged in the order in which backward completes them, one after the other, while it
// runs (overlap) or once it has ended.
//
// A compressor with several stages (coded_exchange.hpp) sends all buckets' first messages, then all second ones; what
// a later stage encodes is done once back-propagation has ended, since GPU streams run in order. With local SGD the
// steps before the last of H compute and update, and send nothing.
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {
namespace {

/// Training steps per exchange.
int local_steps(const Compressor& compressor) {
  const auto* local = std::get_if<QsparseLocalSgd>(&compressor);
  return local ? local->local_steps : 1;
}

/// Adds a step that exchanges nothing, as one of the steps of the template.
TaskId add_local_step(StepGraph& graph, StreamId compute, const Workload& workload) {
  const TaskId forward = add_forward(graph, compute, workload);
  graph.add_task({"backward", Phase::backward, ComputeWork{workload.backward}, compute});
  graph.add_task({"update", Phase::update, ComputeWork{workload.update}, compute});
  return forward;
}

}  // namespace

StepGraph build_all_reduce(const AllReduceStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const Exchange& exchange = strategy.exchange;
  const bool overlap = exchange.overlap && exchange.grouping != Grouping::whole_model;
  const auto buckets = make_buckets(input.workload, exchange);

  std::vector<CodedExchange> coded;
  std::vector<Seconds> encode, decode;
  for (const Bucket& bucket : buckets) {
    coded.push_back(coded_exchange(input, bucket, false, strategy.collective, strategy.carrier));
    encode.push_back(coded.back().stages.front().encode);
    decode.push_back(coded.back().decode);
    graph.payload += coded.back().payload;
    if (graph.assumed.empty()) graph.assumed = coded.back().assumed;
  }

  graph.local_steps = local_steps(input.compressor);
  TaskId begin = kNoTask;
  for (int step = 1; step < graph.local_steps; ++step) {
    const TaskId local = add_local_step(graph, compute, input.workload);
    if (begin == kNoTask) begin = local;
  }
  const TaskId forward = add_forward(graph, compute, input.workload);
  if (begin == kNoTask) begin = forward;
  // γ_o slows all of backward, as in the published equation max(γ_o·l_back, (k-1)·t(b)) + t(b̂).
  const double slowdown = overlap && input.cluster.workers > 1 ? exchange.backward_slowdown : 1.0;
  const BackwardPass backward = add_backward(graph, compute, codec, input, buckets, slowdown, encode);

  std::vector<TaskId> exchanged = backward.ready;
  std::size_t stages = 0;
  for (const CodedExchange& one : coded) stages = std::max(stages, one.stages.size());
  for (std::size_t s = 0; s < stages; ++s) {
    for (std::size_t i = 0; s > 0 && i < buckets.size(); ++i) {
      if (s >= coded[i].stages.size() || coded[i].stages[s].encode == Seconds{}) continue;
      const TaskId again = graph.add_task({numbered("encode again", i, buckets.size()), Phase::encode, ComputeWork{coded[i].stages[s].encode}, codec});
      graph.depend(again, exchanged[i]);
      exchanged[i] = again;
    }
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (s >= coded[i].stages.size()) continue;
      for (const CollectiveCall& call : coded[i].stages[s].collectives) {
        const TaskId task = graph.add_task({numbered(name_of(call.algorithm->operation), i, buckets.size()), Phase::exchange, CollectiveWork{call}, communication});
        graph.depend(task, exchanged[i]);
        if (!overlap) graph.depend(task, backward.end);
        exchanged[i] = task;
      }
    }
  }
  add_update(graph, compute, input.workload, add_decode(graph, codec, decode, exchanged), begin);
  return graph;
}

}  // namespace stepcast
