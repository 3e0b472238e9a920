// Decentralized SGD on a ring (D-PSGD, Lian et al. 2017): x_i ← average of x_{i-1}, x_i, x_{i+1}, minus lr·g_i. Workers
// exchange the parameters from the start of the step, so the exchange can overlap the whole computation.
#include "models/strategy/builder.hpp"

namespace stepcast {

StepGraph build_gossip(const GossipStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const TaskId forward = add_forward(graph, compute, input.workload);
  const std::vector<Bucket> whole = make_buckets(input.workload, Exchange{});
  const TaskId backward = add_backward(graph, compute, compute, input, whole, 1.0, {Seconds{}}).end;
  const TaskId exchange = graph.add_task(
      {"neighbour exchange", Phase::exchange, NeighbourWork{input.workload.gradient_bytes}, communication});
  graph.payload = input.workload.gradient_bytes;
  if (!strategy.overlap) graph.depend(exchange, backward);
  const TaskId update = add_update(graph, compute, input.workload, {exchange}, forward);
  graph.depend(exchange, update, 1);
  return graph;
}

}  // namespace stepcast
