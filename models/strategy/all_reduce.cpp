// Synchronous SGD with collectives: forward, backward, exchange, update. All workers have the same parameters in every
// step. Buckets are exchanged one by one, in the order in which backward completes them. The exchange runs during
// backward (overlap) or after it.
//
// With a compressor of several stages (coded_exchange.hpp), all buckets send their first messages, then all send their
// second ones. Encoding of a later stage runs after back-propagation, since GPU streams run in order. With local SGD,
// the first H - 1 of H steps only compute and update. With codec scope machines, sums inside machines come before the
// first encoding (machine_sums.hpp).
//
// With a stack's cycle, buckets wait for the look that finds them (looks.hpp). Parts with `priority` wait for no look, and
// neither do gradients that machines sum first.
//
// With `partition`, a bucket is encoded and exchanged in parts. With `priority`, the first layers' parts go first among
// those that are ready, in the order of an isolated step on a worker of speed 1. There, an exchange takes its price or
// its negotiation, whichever is longer. Later stages of a part are encoded after back-propagation. The next step's
// forward pass runs by buckets, each after its own decoding and update. All of a step's parts end before the next
// backward pass begins, so parts of two steps never compete.
#include <algorithm>
#include <utility>

#include "models/part/worker_kinds.hpp"
#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_exchange.hpp"
#include "models/strategy/exchange_price.hpp"
#include "models/strategy/looks.hpp"
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

/// The exchange of each part.
PartExchanges exchanges(StepGraph& graph, const GraphInput& input, const std::vector<Bucket>& buckets,
                        const std::vector<BucketPart>& parts, const AllReduceStrategy& strategy, Carrier carrier) {
  if (!std::holds_alternative<NoCompressor>(input.compressor()))
    return coded_exchanges(graph, input, buckets, parts, false, strategy.collective, carrier);
  PartExchanges all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    graph.payload += parts[i].bytes;
    const CollectiveCall call =
        input.prices.decide(Operation::all_reduce, strategy.collective, parts[i].bytes, input.synchronous_workers());
    all.add({.stages = {{{}, {call}}}, .decode = {}, .payload = parts[i].bytes, .assumed = {}});
  }
  return all;
}

/// The time of a stage's messages, each its price or its negotiation.
Seconds messages_time(const CodedStage& stage, const StepGraph& graph, const GraphInput& input) {
  Seconds sum{};
  for (const CollectiveCall& call : stage.collectives)
    sum += std::max(exchange_price(CollectiveWork{call}, graph, input.prices.for_times()).total(), input.negotiation());
  return sum;
}

/// A stage of a part's messages.
struct StageTurn {
  std::size_t part = 0, stage = 0;
};

/// The stages of all parts, by priority, in an isolated step.
/// @param ready  by part, the time at which it may be sent
/// @param end    of the backward pass and all first encodings
std::vector<StageTurn> order_of_stages(const StepGraph& graph, const GraphInput& input,
                                       const std::vector<BucketPart>& parts, const PartExchanges& coded,
                                       const std::vector<Seconds>& ready, Seconds end) {
  std::vector<StageTurn> all;
  std::vector<Turn> turns;
  const auto add_turn = [&](const StageTurn& at, Seconds from) {
    all.push_back(at);
    return Turn{from, messages_time(coded[at.part].stages[at.stage], graph, input), parts[at.part].bucket};
  };
  for (std::size_t i = 0; i < parts.size(); ++i) turns.push_back(add_turn({i, 0}, ready[i]));
  const auto next = [&](std::size_t turn, Seconds sent) -> std::optional<Turn> {
    const StageTurn following{all[turn].part, all[turn].stage + 1};
    const std::vector<CodedStage>& stages = coded[following.part].stages;
    if (following.stage == stages.size()) return {};
    const CodedStage& stage = stages[following.stage];
    const Seconds time = stage.sum + stage.encode;
    return add_turn(following, time > Seconds{} ? std::max(sent, end) + time : sent);
  };
  std::vector<StageTurn> order;
  for (const std::size_t turn : order_by_priority(turns, next)) order.push_back(all[turn]);
  return order;
}

StepGraph by_priority(const AllReduceStrategy& strategy, const GraphInput& input, Carrier carrier) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute"), communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const bool overlap = strategy.exchange.overlap;
  const std::vector<Bucket> buckets = make_buckets(input.workload, strategy.exchange);
  const std::vector<BucketPart> parts = parts_of(buckets, strategy.exchange.partition);
  const PartExchanges coded = exchanges(graph, input, buckets, parts, strategy, carrier);
  std::vector<BucketUse> use = updates_of(input.workload, buckets);
  for (std::size_t i = 0; i < parts.size(); ++i) use[parts[i].bucket].decode += coded[i].decode;
  const std::vector<TaskId> first_use =
      add_forward_by_buckets(graph, {compute, codec, communication}, input, buckets, use);
  const auto first_of_backward = static_cast<TaskId>(graph.tasks.size());
  const double slowdown = slowdown_of(overlap, input.cluster);
  const BackwardPass backward =
      add_backward(graph, compute, codec, input, buckets, slowdown, parts, first_encodes(coded));
  const std::vector<Seconds> ends = ends_of_computing(graph, first_of_backward);
  const std::vector<Seconds> ready = times_of_parts(backward, ends, overlap);
  std::vector<TaskId> last = backward.ready;
  for (const auto& [part, stage] :
       order_of_stages(graph, input, parts, coded, ready, *std::max_element(ends.begin(), ends.end()))) {
    last[part] = add_stage(graph, communication, codec, coded, part, stage, input.negotiation(), last[part],
                           overlap || last[part] == backward.end ? kNoTask : backward.end);
    if (stage + 1 == coded[part].stages.size()) graph.depend(first_use[parts[part].bucket], last[part], 1);
  }
  return graph;
}

/// The buckets that one look finds are apart from those of the next one, if exchanges begin during back-propagation.
std::vector<Bucket> buckets_of(const GraphInput& input, const Exchange& exchange, bool overlap) {
  const auto cycle = input.cycle();
  if (!cycle || !overlap) return make_buckets(input.workload, exchange);
  const double factor = slowdown_of(overlap, input.cluster) / worker_speeds(input.cluster).slowest;
  return make_buckets(input.workload, exchange, [&](Seconds time) { return look_at(time * factor, *cycle); });
}

/// Adds the first messages of each part, each with the look that finds it.
std::vector<TaskId> add_when_found(StepGraph& graph, StreamId communication, StreamId codec, const GraphInput& input,
                                   const PartExchanges& coded, const BackwardPass& backward, TaskId forward,
                                   bool overlap) {
  std::vector<Seconds> ends = ends_of_computing(graph, forward + 1);
  for (Seconds& end : ends) end = end / worker_speeds(input.cluster).slowest;
  const std::vector<TaskId> looks =
      add_looks(graph, *input.cycle(), times_of_parts(backward, ends, overlap), overlap ? forward : backward.end,
                overlap ? Seconds{} : ends[backward.end]);
  std::vector<TaskId> sent;
  for (std::size_t i = 0; i < coded.size(); ++i)
    sent.push_back(
        add_stage(graph, communication, codec, coded, i, 0, input.negotiation(), backward.ready[i], looks[i]));
  return sent;
}

StepGraph by_carrier(const AllReduceStrategy& strategy, const GraphInput& input, Carrier carrier) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId communication = graph.add_stream("communication");
  const StreamId codec = add_codec_stream(graph, compute, input);
  const Exchange& exchange = strategy.exchange;
  const bool overlap = exchange.overlap && exchange.grouping != Grouping::whole_model;
  const std::vector<Bucket> buckets = buckets_of(input, exchange, overlap);
  const std::vector<BucketPart> parts = parts_of(buckets, exchange.partition);
  const PartExchanges coded = exchanges(graph, input, buckets, parts, strategy, carrier);
  constexpr std::size_t kOthers = 8;  // tasks of the whole step
  graph.tasks.reserve(buckets.size() + 4 * parts.size() + kOthers);
  graph.dependencies.reserve(4 * parts.size() + kOthers);
  graph.local_steps = local_steps(input.compressor());
  const TaskId local = graph.local_steps > 1
                           ? add_local_steps(graph, compute, input.workload, graph.local_steps - 1).first.front()
                           : kNoTask;
  const TaskId forward = add_forward(graph, compute, input.workload);
  const auto last_forward = static_cast<TaskId>(graph.tasks.size()) - 1;
  const double slowdown = slowdown_of(overlap, input.cluster);
  std::vector<TaskId> exchanged;
  if (!coded.empty() && coded[0].sum) {
    std::vector<SummedPart> summed;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const CodedStage& first = coded[i].stages.front();
      summed.push_back({coded[i].encode_inner, *coded[i].sum, first.encode, messages_time(first, graph, input)});
    }
    SummedBackward backward(graph, {compute, communication, codec}, input, buckets, parts, std::move(summed),
                            {slowdown, overlap, true, input.negotiation()});
    std::vector<TaskId> ready;
    for (std::size_t i = 0; i < parts.size(); ++i)
      ready.push_back(
          add_stage(graph, communication, codec, coded, i, 0, input.negotiation(), backward.add_until_ready(i)));
    backward.add_rest();
    exchanged = add_exchanges(graph, communication, codec, coded, input.negotiation(), ready, kNoTask, 1);
  } else {
    const BackwardPass backward =
        add_backward(graph, compute, codec, input, buckets, slowdown, parts, first_encodes(coded));
    const bool looks = input.cycle().has_value();
    exchanged =
        add_exchanges(graph, communication, codec, coded, input.negotiation(),
                      looks ? add_when_found(graph, communication, codec, input, coded, backward, last_forward, overlap)
                            : backward.ready,
                      overlap ? kNoTask : backward.end, looks ? 1 : 0);
  }
  add_update(graph, compute, input.workload, exchanged, local == kNoTask ? forward : local);
  return graph;
}

}  // namespace

StepGraph build_all_reduce(const AllReduceStrategy& strategy, const GraphInput& input) {
  return with_cheapest_carrier(input, strategy.carrier, [&](Carrier carrier) {
    return strategy.exchange.priority ? by_priority(strategy, input, carrier) : by_carrier(strategy, input, carrier);
  });
}

}  // namespace stepcast
