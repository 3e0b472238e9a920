// Decentralized SGD: x_i ← weighted mean of x_i and its neighbours' x_j, minus lr·g_i (D-PSGD, Lian et al. 2017).
// Workers exchange the parameters from the start of the step, so the exchange can overlap the whole computation. The
// messages of compressors are in gossip_message.hpp. A method's second message waits for the neighbours' first ones. It is
// encoded after back-propagation, since GPU streams run in order.
//
// Workers may exchange after every H-th step alone, and average exactly after every τ-th one by all-reduce (gossip with
// periodic global averages, Chen et al., ICML 2021; SlowMo, with an outer update). That average takes the place of the
// step's exchange, and the next step waits for it.
//
// With islands of g workers, each step is one of synchronous SGD inside each island. Worker r of an island exchanges share
// r, n/g bytes, of the step's first parameters with the workers of the same share. The neighbours' part comes on top of
// the update. Then the island's workers gather all shares, unless their next step gathers them anyway. Without overlap,
// islands exchange updated parameters. Exchanges have a stream of their own: they do not hold up messages inside islands.
//
// Asynchronous workers (AD-PSGD, Lian et al., ICML 2018, algorithm 1) average in pairs. In each of its steps, a worker
// takes one neighbour by chance, both send each other their parameters, and both take the mean. A worker is in one pair
// at a time. With a compressor, they send codes of their parameters instead, from which each finds the other's values
// since its own are near (Moniqua, Lu and De Sa, ICML 2020, recalled). Both average what was sent. Each worker encodes once
// a step, and decodes its own codes and another worker's. So one that only answers has the kernels of one answer a step.
// The workers of an island choose the same one, and each averages its share with the worker of the same share.
//
// So that workers do not wait for each other in a circle, the graph is bipartite, and one half of it chooses
// (section 4, recalled). The other half answers while its GPU computes. If all workers choose, on any graph, a worker's
// host answers from a copy of its parameters, beside its own pair (SwarmSGD, Nadiradze et al., NeurIPS 2021, recalled).
// Each worker then also answers once a step, in the mean: it encodes once, decodes two messages and averages twice.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/gossip_rounds.hpp"
#include "models/strategy/builder.hpp"
#include "models/strategy/gossip_message.hpp"
#include "models/strategy/island_steps.hpp"

namespace stepcast {
namespace {

class GossipRounds {
 public:
  GossipRounds(const GossipStrategy& strategy, const GraphInput& input)
      : strategy_(strategy),
        input_(input),
        neighbours_(neighbours_of(strategy)),
        unlike_(unlike_steps(neighbours_, input.cluster.workers)),
        whole_(make_buckets(input.workload, Exchange{})),
        message_(strategy.asynchronous ? message_of_pair(input, whole_.front(), strategy.workers_of_replica(),
                                                         strategy.choosers == PairChoosers::all ? 2 : 1)
                                       : message_of(input, whole_.front(), degree(neighbours_, input.cluster.workers),
                                                    strategy.workers_of_replica())) {
    graph_.asynchronous = strategy.asynchronous;
    compute_ = graph_.add_stream("compute");
    communication_ = graph_.add_stream("communication");
    codec_ = add_codec_stream(graph_, compute_, input);
    graph_.assumed = message_.assumed;
    if (!strategy.islands) return;
    islands_.emplace(island_step(*strategy.islands, input), graph_, compute_);
    if (strategy.overlap) graph_.in_flight = communication_;
  }

  StepGraph graph() && {
    const auto steps = static_cast<int>(period_of(strategy_, input_.cluster.workers));
    graph_.local_steps = steps;
    const int each = strategy_.islands ? strategy_.islands->steps : 1;
    for (int step = each; step <= steps; step += each) {
      const bool averages = strategy_.average && step % strategy_.average->steps == 0;
      const bool exchanges = step % strategy_.steps == 0;
      if (averages) add_averaging_step();
      else if (exchanges) islands_ ? add_exchanging_step_of_islands() : add_exchanging_step();
      else add_lone_step();
      if (exchanges) neighbours_.step = (neighbours_.step + 1) % unlike_;
    }
    for (const TaskId task : first_)
      for (const TaskId end : ends_) graph_.depend(task, end, 1);
    if (islands_) islands_->close();
    return std::move(graph_);
  }

 private:
  /// Lets tasks that begin a step follow the end of the step before.
  void begin_after_ends(const std::vector<TaskId>& tasks) {
    if (ends_.empty()) first_ = tasks;
    for (const TaskId task : tasks)
      for (const TaskId end : ends_) graph_.depend(task, end);
  }

  LocalSteps add_step() { return islands_ ? islands_->add() : add_local_steps(graph_, compute_, input_.workload, 1); }

  void add_lone_step() {
    const LocalSteps step = add_step();
    begin_after_ends(step.first);
    ends_ = step.last;
  }

  TaskId encode(std::size_t stage, TaskId after) {
    return add_kernels(graph_, codec_, stage == 0 ? "encode" : "encode again", Phase::encode,
                       message_.stages[stage].encode, after);
  }

  TaskId add_message(std::size_t stage) {
    const GossipStage& sent = message_.stages[stage];
    graph_.payload += sent.bytes;
    if (strategy_.asynchronous)
      return graph_.add_task({"pair exchange", Phase::exchange,
                              PairWork{sent.bytes, sent.added, neighbours_, strategy_.choosers}, communication_});
    std::string name = TaskName("neighbour exchange", neighbours_.step, unlike_).text();
    if (stage > 0) name += fmt::format(", message {}", stage + 1);
    return graph_.add_task(
        {std::move(name), Phase::exchange, NeighbourWork{sent.bytes, sent.added, neighbours_}, communication_});
  }

  /// Adds the stages after the first one, and the decoding.
  TaskId add_rest_of_exchange(TaskId done) {
    for (std::size_t stage = 1; stage < message_.stages.size(); ++stage) {
      const TaskId ready = encode(stage, done);
      done = add_message(stage);
      graph_.depend(done, ready);
    }
    return add_kernels(graph_, codec_, "decode", Phase::decode, message_.decode, done);
  }

  void add_exchanging_step() {
    TaskId ready = strategy_.overlap ? encode(0, kNoTask) : kNoTask;
    const TaskId forward = add_forward(graph_, compute_, input_.workload);
    const TaskId backward =
        add_backward(graph_, compute_, compute_, input_, whole_, 1.0, parts_of(whole_), {Seconds{}}).end;
    if (!strategy_.overlap) ready = encode(0, backward);
    const TaskId exchange = add_message(0);
    if (ready != kNoTask) graph_.depend(exchange, ready);
    const TaskId done = add_rest_of_exchange(exchange);
    const TaskId update = graph_.add_task({"update", Phase::update, ComputeWork{input_.workload.update}, compute_});
    graph_.depend(update, done);
    begin_after_ends({forward, strategy_.overlap && ready != kNoTask ? ready : exchange});
    ends_ = {update};
  }

  void add_exchanging_step_of_islands() {
    TaskId ready = strategy_.overlap ? encode(0, kNoTask) : kNoTask;
    const LocalSteps step = add_step();
    if (!strategy_.overlap) ready = encode(0, kNoTask);
    const TaskId exchange = add_message(0);
    if (ready != kNoTask) graph_.depend(exchange, ready);
    const TaskId first = ready != kNoTask ? ready : exchange;  // of the exchange's tasks
    const TaskId done = add_gathered(add_rest_of_exchange(exchange));
    std::vector<TaskId> begin = step.first;
    if (strategy_.overlap) begin.push_back(first);
    else
      for (const TaskId task : step.last) graph_.depend(first, task);
    begin_after_ends(begin);
    ends_ = step.last;
    ends_.push_back(done);
  }

  void add_averaging_step() {
    const LocalSteps step = add_step();
    begin_after_ends(step.first);
    const GlobalAverage& average = *strategy_.average;
    const int g = strategy_.workers_of_replica(), p = input_.cluster.workers;
    const CollectiveCall call =
        input_.prices.decide(Operation::all_reduce, average.collective, whole_.front().bytes / g,
                             g > 1 ? between_groups(g, p) : Communicators{});
    graph_.payload += call.bytes;
    TaskId done = add_negotiated(graph_, communication_, "average of all", call, input_.negotiation(), step.last);
    if (average.outer_update_factor > 0) {
      const TaskId outer =
          graph_.add_task({"outer update", Phase::update,
                           ComputeWork{input_.workload.update * (average.outer_update_factor / g)}, compute_});
      graph_.depend(outer, std::exchange(done, outer));
    }
    ends_ = {add_gathered(done)};
  }

  /// Adds the gathering of shares in islands, if the next step does not gather them.
  TaskId add_gathered(TaskId done) {
    if (!islands_ || !strategy_.islands->gather_averages()) return done;
    const CollectiveCall call = gather_in_islands(*strategy_.islands, input_, whole_.front().bytes);
    return add_negotiated(graph_, communication_, "gather in islands", call, input_.negotiation(), std::array{done});
  }

  const GossipStrategy& strategy_;
  const GraphInput& input_;
  Neighbours neighbours_;  ///< of the next exchange
  int unlike_;             ///< exchanges until the graph is the same again
  std::vector<Bucket> whole_;
  GossipMessage message_;
  StepGraph graph_;
  std::optional<IslandSteps> islands_;
  StreamId compute_ = kNoStream, communication_ = kNoStream, codec_ = kNoStream;
  std::vector<TaskId> first_;  ///< tasks that begin the period
  std::vector<TaskId> ends_;   ///< tasks that end the step before
};

}  // namespace

StepGraph build_gossip(const GossipStrategy& strategy, const GraphInput& input) {
  return GossipRounds(strategy, input).graph();
}

}  // namespace stepcast
