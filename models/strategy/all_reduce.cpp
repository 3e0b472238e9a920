// Synchronous SGD over AllReduce: forward, backward, exchange, update; every worker has the same parameters
// in every step. Buckets are exchanged in the order in which backward completes them, one after the other,
// while it runs (overlap) or once it has ended.
#include "models/strategy/builder.hpp"
#include "models/strategy/prices.hpp"

namespace stepcast {

StepGraph build_all_reduce(const AllReduceStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const Exchange& exchange = strategy.exchange;
  const int p = input.cluster.workers;
  const bool overlap = exchange.overlap && exchange.grouping != Grouping::whole_model;
  const auto buckets = make_buckets(input.workload, exchange);

  const TaskId forward = add_forward(graph, compute, input.workload);
  // γ_o slows all of backward, as in the published equation max(γ_o·l_back, (k-1)·t(b)) + t(b̂).
  const auto ready = add_backward(graph, compute, input, buckets, overlap && p > 1 ? exchange.backward_slowdown : 1.0);
  const TaskId backward_end = static_cast<TaskId>(graph.tasks.size()) - 1;

  std::vector<TaskId> exchanged;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Bytes bytes = payload(input.compressor, buckets[i].bytes);
    const CollectiveCall call = decide(Operation::all_reduce, strategy.collective, bytes, p, input.prices, natural_group(input.cluster));
    exchanged.push_back(graph.add_task({numbered("all-reduce", i, buckets.size()), Phase::exchange, CollectiveWork{call}, communication}));
    graph.depend(exchanged.back(), overlap ? ready[i] : backward_end);
  }
  add_update(graph, compute, input.workload, add_decode(graph, compute, input, buckets, exchanged), forward);
  return graph;
}

}  // namespace stepcast
