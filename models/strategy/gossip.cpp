// Decentralized SGD: x_i ← weighted mean of x_i and its neighbours' x_j, minus lr·g_i (D-PSGD, Lian et al. 2017).
// Workers exchange the parameters from the start of the step, so the exchange can overlap the whole computation.
//
// With a compressor, each worker sends the difference between its parameters and x̂_i, the value that its neighbours
// hold (CHOCO-SGD, Koloskova et al., ICML 2019, algorithm 2):
//     q_i = C(x_i - x̂_i),   x̂_i += q_i,   s_i += sum of w_ij·q_j,   x_i += γ·(s_i - x̂_i)
// s_i is the weighted sum of all x̂_j, which needs no copy of each neighbour's x̂_j.
//
// Asynchronous workers (AD-PSGD, Lian et al., ICML 2018, algorithm 1) average in pairs. In each of its steps, a worker
// takes one neighbour by chance, both send each other their parameters, and both take the mean. A worker is in one pair
// at a time. With a compressor, they send codes of their parameters instead, from which each finds the other's values
// since its own are near (Moniqua, Lu and De Sa, ICML 2020, recalled). Both average what was sent. Each worker encodes once
// a step, and decodes its own codes and another worker's. So one that only answers has the kernels of one answer a step.
//
// So that workers do not wait for each other in a circle, the graph is bipartite, and one half of it chooses
// (section 4, recalled). The other half answers while its GPU computes.
#include <algorithm>

#include "models/collective/neighbours.hpp"
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// A worker's message, and the GPU time before it and after the exchange.
struct GossipMessage {
  Seconds encode{}, decode{};
  Bytes bytes{};
  Bytes added{};  ///< by γ's rate at each receiver
  std::string assumed;
};

/// One fused kernel on all elements: it reads and writes some vectors of `each` bytes.
CodecKernel on_vectors(const char* name, Bytes each, double read, double written) {
  return {.kernel = name, .read = each * read, .written = each * written};
}

GossipMessage message_of(const GraphInput& input, const Bucket& whole, int neighbours) {
  const Bytes n = whole.bytes;
  if (const auto known = by_bytes(input.compressor())) {
    const Bytes wire = n / known->ratio;
    return {n * known->encode_cost, n * known->decode_cost, wire, wire, ""};
  }
  const Chosen chosen = choose(input, whole, false);
  GossipMessage message{{}, {}, chosen.whole, chosen.whole, ""};
  if (!chosen.has_coded()) return message;
  // x - x̂ is read from two vectors. At last x, x̂, s, the own message's values and the neighbours' sum give x, x̂ and s.
  const CodecRates& rates = *input.methods.front().rates;
  message.encode = price({on_vectors("gossip-difference", n - chosen.whole, 2, 1)}, rates);
  message.decode = price({on_vectors("gossip-average", n - chosen.whole, 5, 3)}, rates);
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    const CodecPlan plan = plan_of(method, tensors, neighbours + 1);
    const auto own = whole_time(method, tensors);
    const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
    message.encode += own.value_or(time(plan.stages.front().encode));
    const int decoded = plan.summable() ? std::min(1, neighbours) : neighbours;
    const Seconds others = decoded > 0 ? time(sum_kernels(plan, decoded)) : Seconds{};
    if (!own) message.decode += time(sum_kernels(plan, 1)) + others;
    const Bytes coded = payload(plan);
    message.bytes += coded;
    if (plan.summable()) message.added += coded;
    add_assumption(message.assumed, method, plan.assumed);
  });
  return message;
}

/// Adds kernels after a task, if any. Returns the last task.
TaskId add_codec(StepGraph& graph, StreamId codec, const char* name, Phase phase, Seconds time, TaskId after) {
  if (time == Seconds{}) return after;
  const TaskId task = graph.add_task({name, phase, ComputeWork{time}, codec});
  if (after != kNoTask) graph.depend(task, after);
  return task;
}

/// The message of a pair. At last x and the values of both messages give x.
GossipMessage message_of_pair(const GraphInput& input, const Bucket& whole) {
  if (by_bytes(input.compressor())) return message_of(input, whole, 1);
  const Chosen chosen = choose(input, whole, false);
  GossipMessage message{{}, {}, chosen.whole, chosen.whole, ""};
  if (!chosen.has_coded()) return message;
  message.decode =
      price({on_vectors("gossip-average", whole.bytes - chosen.whole, 3, 1)}, *input.methods.front().rates);
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    const CodecPlan plan = plan_of(method, tensors, 2);
    const auto own = whole_time(method, tensors);
    const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
    message.encode += own.value_or(time(plan.stages.front().encode));
    message.decode += time(sum_kernels(plan, 1)) * (own ? 1.0 : 2.0);
    message.bytes += payload(plan);
    add_assumption(message.assumed, method, plan.assumed);
  });
  return message;
}

StepGraph build_pairs(const GossipStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  graph.asynchronous = true;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const std::vector<Bucket> whole = make_buckets(input.workload, Exchange{});
  const GossipMessage message = message_of_pair(input, whole.front());
  graph.payload = message.bytes;
  graph.assumed = message.assumed;
  const TaskId early =
      strategy.overlap ? add_codec(graph, codec, "encode", Phase::encode, message.encode, kNoTask) : kNoTask;
  const TaskId forward = add_forward(graph, compute, input.workload);
  const TaskId backward = add_backward(graph, compute, compute, input, whole, 1.0, parts_of(whole), {Seconds{}}).end;
  const TaskId ready =
      strategy.overlap ? early : add_codec(graph, codec, "encode", Phase::encode, message.encode, backward);
  const Neighbours neighbours{strategy.graph, strategy.dimensions, strategy.edges};
  const TaskId exchange = graph.add_task(
      {"pair exchange", Phase::exchange, PairWork{message.bytes, message.added, neighbours}, communication});
  if (ready != kNoTask) graph.depend(exchange, ready);
  const TaskId done = add_codec(graph, codec, "decode", Phase::decode, message.decode, exchange);
  const TaskId update = graph.add_task({"update", Phase::update, ComputeWork{input.workload.update}, compute});
  graph.depend(update, done);
  for (const TaskId first : {forward, early != kNoTask ? early : exchange}) graph.depend(first, update, 1);
  return graph;
}

}  // namespace

StepGraph build_gossip(const GossipStrategy& strategy, const GraphInput& input) {
  if (strategy.asynchronous) return build_pairs(strategy, input);
  const int p = input.cluster.workers;
  Neighbours neighbours{strategy.graph, strategy.dimensions, strategy.edges};

  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const std::vector<Bucket> whole = make_buckets(input.workload, Exchange{});
  const GossipMessage message = message_of(input, whole.front(), degree(neighbours, p));
  graph.local_steps = unlike_steps(strategy.graph, p);
  graph.assumed = message.assumed;

  std::vector<TaskId> first;  // tasks that wait for the update of the step before
  TaskId update = kNoTask;
  for (neighbours.step = 0; neighbours.step < graph.local_steps; ++neighbours.step) {
    TaskId ready = kNoTask;
    if (strategy.overlap) ready = add_codec(graph, codec, "encode", Phase::encode, message.encode, kNoTask);
    const TaskId forward = add_forward(graph, compute, input.workload);
    const TaskId backward = add_backward(graph, compute, compute, input, whole, 1.0, parts_of(whole), {Seconds{}}).end;
    if (!strategy.overlap) ready = add_codec(graph, codec, "encode", Phase::encode, message.encode, backward);
    const TaskId exchange =
        graph.add_task({numbered("neighbour exchange", neighbours.step, graph.local_steps), Phase::exchange,
                        NeighbourWork{message.bytes, message.added, neighbours}, communication});
    if (ready != kNoTask) graph.depend(exchange, ready);
    graph.payload += message.bytes;
    const TaskId done = add_codec(graph, codec, "decode", Phase::decode, message.decode, exchange);
    const TaskId last = graph.add_task({"update", Phase::update, ComputeWork{input.workload.update}, compute});
    graph.depend(last, done);
    for (const TaskId task : {forward, strategy.overlap && ready != kNoTask ? ready : exchange}) {
      if (update == kNoTask) first.push_back(task);
      else graph.depend(task, update);
    }
    update = last;
  }
  for (const TaskId task : first) graph.depend(task, update, 1);
  return graph;
}

}  // namespace stepcast
