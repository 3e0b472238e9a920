// Synchronous SGD with collectives: forward, backward, exchange, update. All workers have the same parameters in every
// step. Buckets are exchanged one by one, in the order in which backward completes them. The exchange runs during
// backward (overlap) or after it.
//
// With a compressor of several stages (coded_exchange.hpp), all buckets send their first messages, then all send their
// second ones. Encoding of a later stage runs after back-propagation, since GPU streams run in order. With local SGD,
// the first H - 1 of H steps only compute and update.
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {
namespace {

/// Training steps per exchange (Qsparse-local-SGD). Without a compressor, use strategy local-sgd for this.
int local_steps(const Compressor& compressor) {
  const auto* local = std::get_if<QsparseLocalSgd>(&compressor);
  return local ? local->local_steps : 1;
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

  const std::vector<CodedExchange> coded =
      coded_exchanges(graph, input, buckets, false, strategy.collective, strategy.carrier);
  graph.local_steps = local_steps(input.compressor);
  const TaskId local =
      graph.local_steps > 1 ? add_local_steps(graph, compute, input.workload, graph.local_steps - 1).first : kNoTask;
  const TaskId forward = add_forward(graph, compute, input.workload);
  // γ_o slows all of backward, as in the published equation max(γ_o·l_back, (k-1)·t(b)) + t(b̂).
  const double slowdown = overlap && input.cluster.workers > 1 ? input.cluster.stack.backward_slowdown : 1.0;
  const BackwardPass backward = add_backward(graph, compute, codec, input, buckets, slowdown, first_encodes(coded));
  const std::vector<TaskId> exchanged =
      add_exchanges(graph, communication, codec, coded, backward.ready, overlap ? kNoTask : backward.end);
  add_update(graph, compute, input.workload, exchanged, local == kNoTask ? forward : local);
  return graph;
}

}  // namespace stepcast
