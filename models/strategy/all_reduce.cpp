// Synchronous SGD with collectives: forward, backward, exchange, update. All workers have the same parameters in every
// step. Buckets are exchanged one by one, in the order in which backward completes them. The exchange runs during
// backward (overlap) or after it.
//
// With a compressor of several stages (coded_exchange.hpp), all buckets send their first messages, then all send their
// second ones. Encoding of a later stage runs after back-propagation, since GPU streams run in order. With local SGD,
// the first H - 1 of H steps only compute and update. With codec scope machines, sums inside machines come before the
// first encoding (machine_sums.hpp).
//
// With `partition`, a bucket is exchanged in parts. With `priority`, the first layers' parts go first among those that
// are ready, in the order of an isolated step on a worker of speed 1. There, an exchange takes its price or its
// negotiation, whichever is longer. The next step's forward pass runs by buckets, each after its own update. All of a
// step's parts end before the next backward pass begins, so parts of two steps never compete.
#include <algorithm>
#include <utility>

#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_exchange.hpp"
#include "models/strategy/exchange_price.hpp"
#include "models/strategy/machine_sums.hpp"
#include "models/strategy/parts.hpp"

namespace stepcast {
namespace {

/// Training steps per exchange (Qsparse-local-SGD). Without a compressor, use strategy local-sgd for this.
int local_steps(const Compressor& compressor) {
  const auto* local = std::get_if<QsparseLocalSgd>(&compressor);
  return local ? local->local_steps : 1;
}

/// γ_o slows all of backward, as in the published equation max(γ_o·l_back, (k-1)·t(b)) + t(b̂).
double slowdown_of(bool overlap, const Cluster& cluster) {
  return overlap && cluster.workers > 1 ? cluster.stack.backward_slowdown : 1.0;
}

/// The exchange of each bucket, uncompressed.
std::vector<CodedExchange> exchanges_in_parts(StepGraph& graph, const GraphInput& input,
                                              const std::vector<Bucket>& buckets, const AllReduceStrategy& strategy) {
  std::vector<CodedExchange> all(buckets.size(),
                                 {.stages = {CodedStage{}}, .decode = {}, .payload = {}, .assumed = {}});
  for (const auto& [bucket, bytes] : parts_of(buckets, strategy.exchange)) {
    all[bucket].stages.front().collectives.push_back(
        input.prices.decide(Operation::all_reduce, strategy.collective, bytes, input.synchronous_workers()));
    graph.payload += bytes;
  }
  return all;
}

StepGraph by_priority(const AllReduceStrategy& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute"), communication = graph.add_stream("communication");
  const bool overlap = strategy.exchange.overlap;
  const std::vector<Bucket> buckets = make_buckets(input.workload, strategy.exchange);
  const std::vector<TaskId> first_use =
      add_forward_by_buckets(graph, compute, input.workload, buckets, input.workload.update);
  const double slowdown = slowdown_of(overlap, input.cluster);
  const BackwardPass backward =
      add_backward(graph, compute, compute, input, buckets, slowdown, std::vector<Seconds>(buckets.size()));
  const std::vector<Part> parts = parts_of(buckets, strategy.exchange);
  std::vector<Seconds> ready;
  for (Seconds end{}; const Bucket& bucket : buckets) ready.push_back(end += bucket.gap * slowdown);
  std::vector<CollectiveWork> work;
  std::vector<Turn> turns;
  for (const auto& [bucket, bytes] : parts) {
    graph.payload += bytes;
    work.push_back({input.prices.decide(Operation::all_reduce, strategy.collective, bytes)});
    const Seconds exchange = exchange_price(work.back(), graph, input.prices).total();
    turns.push_back({overlap ? ready[bucket] : Seconds{}, std::max(exchange, input.negotiation()), bucket});
  }
  for (const std::size_t part : order_by_priority(turns)) {
    const TaskId task =
        add_negotiated(graph, communication, numbered("all-reduce", part, parts.size()), work[part].call,
                       input.negotiation(), {overlap ? backward.ready[parts[part].bucket] : backward.end});
    graph.depend(first_use[parts[part].bucket], task, 1);
  }
  return graph;
}

StepGraph by_carrier(const AllReduceStrategy& strategy, const GraphInput& input, Carrier carrier) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const Exchange& exchange = strategy.exchange;
  const bool overlap = exchange.overlap && exchange.grouping != Grouping::whole_model;
  const auto buckets = make_buckets(input.workload, exchange);

  const std::vector<CodedExchange> coded =
      std::holds_alternative<NoCompressor>(input.compressor())
          ? exchanges_in_parts(graph, input, buckets, strategy)
          : coded_exchanges(graph, input, buckets, false, strategy.collective, carrier);
  graph.local_steps = local_steps(input.compressor());
  const TaskId local = graph.local_steps > 1
                           ? add_local_steps(graph, compute, input.workload, graph.local_steps - 1).first.front()
                           : kNoTask;
  const TaskId forward = add_forward(graph, compute, input.workload);
  const double slowdown = slowdown_of(overlap, input.cluster);
  std::vector<TaskId> exchanged;
  if (!coded.empty() && coded.front().sum) {
    const std::vector<TaskId> ready =
        add_summed_backward(graph, compute, communication, codec, input, buckets, slowdown, coded, overlap);
    exchanged = add_exchanges(graph, communication, codec, coded, input.negotiation(), ready, kNoTask, 1);
  } else {
    const BackwardPass backward = add_backward(graph, compute, codec, input, buckets, slowdown, first_encodes(coded));
    exchanged = add_exchanges(graph, communication, codec, coded, input.negotiation(), backward.ready,
                              overlap ? kNoTask : backward.end);
  }
  add_update(graph, compute, input.workload, exchanged, local == kNoTask ? forward : local);
  return graph;
}

}  // namespace

StepGraph build_all_reduce(const AllReduceStrategy& strategy, const GraphInput& input) {
  if (strategy.exchange.priority) return by_priority(strategy, input);
  return with_cheapest_carrier(input, strategy.carrier,
                               [&](Carrier carrier) { return by_carrier(strategy, input, carrier); });
}

}  // namespace stepcast
