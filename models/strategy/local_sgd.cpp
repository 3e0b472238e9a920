// Local SGD (Stich, ICLR 2019): each worker makes H independent steps of forward f, backward b and update u. Then all
// workers average their parameters, which have as many bytes n as the gradients. They wait for the average, so the
// exchange overlaps no back-propagation. A compressor encodes the change by the H steps. An outer optimizer (SlowMo, Wang
// et al., ICLR 2020; DiLoCo, Douillard et al. 2023) updates the averaged parameters in `outer_update_factor` times u.
//
// With an all-reduce of all bytes at once T(n) and the codec C, a step takes
//   f + b + u + (T(n) + C + outer_update_factor·u) / H.
// With several buckets, one is encoded or decoded while another is sent.
//
// Workers may compute on for τ steps while an average travels, and then merge it with the steps made meanwhile: CoCoD-SGD
// (Shen et al., IJCAI 2019, recalled; τ = H). With P fragments, each is sent after its own step of a round, and used τ
// steps later, maybe in the next round: Streaming DiLoCo (Douillard et al. 2025, sections 2.2 and 2.3, recalled). On the
// compute stream, the codec's kernels run between two steps: those of the exchange's stage s of S after floor(τ·s/S) of
// the τ steps. Averages of equal fragments take no time while T(n/P) is at most τ steps and at most H/P steps, without a
// codec and an outer update.
//
// With islands of g workers (DiLoCo's), each step is one of synchronous SGD inside each island, and takes its time instead
// of f + b + u. Worker r of each island averages share r, n/g bytes, with the workers of the same share, and makes 1/g of
// the outer update. Then the island's workers gather all shares, unless their next step gathers them anyway (sharded
// gradients or parameters).
// Workers of an island may also train alone and average their parameters every L steps: hierarchical local SGD (Lin et al.,
// ICLR 2020). A step takes f + b + u + (T_g(n))/L + (A + G + o·u/g)/H then, with T_g(n) inside the island.
// Averages in flight have a stream of their own: they do not hold up messages inside islands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_exchange.hpp"
#include "models/strategy/fragments.hpp"
#include "models/strategy/island_steps.hpp"

namespace stepcast {
namespace {

/// Tasks of which each waits for the one before.
struct Chain {
  TaskId first = kNoTask, last = kNoTask;
};

/// A fragment's way through a round, and into the next one.
struct Flight {
  Fragment fragment;
  PartExchanges buckets{};
  std::vector<std::vector<Chain>> slots{};  ///< tasks of each slot and bucket: the exchange's stages, and its end
  std::vector<bool> late{};                 ///< slots in the round after the one that sends
  std::vector<TaskId> sent{};               ///< the tasks that end the step before the first slot
  TaskId outer = kNoTask;                   ///< the outer update, if any
  std::vector<TaskId> ends{};               ///< it, and gatherings of what it made
  std::vector<TaskId> next{};               ///< the tasks that need the average; none: those that begin the next round
};

/// A fragment's tasks between two steps.
struct Slot {
  int after = 0;  ///< steps of the round
  std::size_t flight = 0, number = 0;
};

class RoundBuilder {
 public:
  RoundBuilder(const LocalSgdStrategy& strategy, const GraphInput& input, Carrier carrier)
      : strategy_(strategy), input_(input) {
    compute_ = graph_.add_stream("compute");
    communication_ = graph_.add_stream("communication");
    codec_ = add_codec_stream(graph_, compute_, input);
    graph_.local_steps = strategy.steps;
    if (strategy.islands && strategy.averaging_steps > 0) graph_.in_flight = communication_;
    if (strategy.islands) islands_.emplace(island_step(*strategy.islands, input), graph_, compute_);
    for (Fragment& fragment : fragments_of(strategy, input.workload)) add_flight(std::move(fragment), carrier);
  }

  StepGraph graph() && {
    for (const Slot& slot : slots_in_order()) {
      compute_until(slot.after);
      take(slot);
    }
    compute_until(strategy_.steps);
    for (const Flight& flight : flights_) add_dependencies(flight);
    if (islands_) islands_->close();
    return std::move(graph_);
  }

 private:
  void add_flight(Fragment fragment, Carrier carrier) {
    Flight flight{.fragment = std::move(fragment)};
    const std::vector<Bucket>& buckets = flight.fragment.buckets;
    flight.buckets = coded_exchanges(graph_, input_, buckets, parts_of(buckets), false, strategy_.collective, carrier);
    if (strategy_.islands && !strategy_.islands->gather_averages())
      for (CodedExchange& bucket : flight.buckets.unlike()) bucket.spread.reset();
    const std::size_t stages = flight.buckets.stages();
    flight.slots.assign(stages + 1, std::vector<Chain>(flight.buckets.size()));
    for (std::size_t slot = 0; slot <= stages; ++slot) flight.late.push_back(after(flight, slot) > strategy_.steps);
    flights_.push_back(std::move(flight));
  }

  /// Steps from the beginning of the sending round to the slot.
  [[nodiscard]] int after(const Flight& flight, std::size_t slot) const {
    return flight.fragment.due +
           static_cast<int>(std::int64_t{strategy_.averaging_steps} * static_cast<std::int64_t>(slot) /
                            static_cast<std::int64_t>(flight.slots.size() - 1));
  }

  /// All slots of a round as streams take them. Between two steps, older work comes first.
  [[nodiscard]] std::vector<Slot> slots_in_order() const {
    std::vector<Slot> slots;
    for (std::size_t f = 0; f < flights_.size(); ++f)
      for (std::size_t n = 0; n < flights_[f].slots.size(); ++n)
        slots.push_back({after(flights_[f], n) - (flights_[f].late[n] ? strategy_.steps : 0), f, n});
    const auto key = [&](const Slot& x) { return std::tuple(x.after, !flights_[x.flight].late[x.number], x.flight); };
    std::stable_sort(slots.begin(), slots.end(), [&](const Slot& a, const Slot& b) { return key(a) < key(b); });
    return slots;
  }

  [[nodiscard]] LocalSteps add_steps(int count) {
    if (!islands_) return add_local_steps(graph_, compute_, input_.workload, count);
    const int each = strategy_.islands->steps;
    LocalSteps steps = islands_->add();
    for (int added = each; added < count; added += each) steps.last = islands_->add().last;
    return steps;
  }

  /// Adds the steps up to `step` of the round.
  void compute_until(int step) {
    if (step <= computed_) return;
    const LocalSteps steps = add_steps(step - computed_);
    if (begin_.empty()) begin_ = steps.first;
    for (const std::size_t f : used_) flights_[f].next = steps.first;
    used_.clear();
    updated_ = steps.last;
    computed_ = step;
  }

  void take(const Slot& slot) {
    Flight& flight = flights_[slot.flight];
    const std::size_t named_from = graph_.tasks.size();
    if (slot.number + 1 < flight.slots.size()) add_stages(flight, slot.number);
    else add_end(flight);
    if (slot.number == 0) flight.sent = updated_;
    if (slot.number + 1 == flight.slots.size()) used_.push_back(slot.flight);
    if (strategy_.fragments == 1) return;
    for (std::size_t t = named_from; t < graph_.tasks.size(); ++t)
      graph_.tasks[t].name = fmt::format("{} of fragment {}", graph_.tasks[t].name.text(), flight.fragment.number + 1);
  }

  /// Lets tasks follow a chain. `add` takes the task to wait for, if any, and returns its own last task.
  template <class Add>
  void append(Chain& chain, const Add& add) {
    const auto first = static_cast<TaskId>(graph_.tasks.size());
    const TaskId last = add(chain.last);
    if (graph_.tasks.size() == static_cast<std::size_t>(first)) return;
    if (chain.first == kNoTask) chain.first = first;
    chain.last = last;
  }
  auto inside(const char* name, const std::optional<CollectiveCall>& call, std::size_t i, std::size_t count) {
    return [=, this](TaskId before) {
      return add_inside(graph_, communication_, name, call, i, count, input_.negotiation(), before);
    };
  }
  auto computing(const char* name, Phase phase, Seconds time, std::size_t i, std::size_t count) {
    return
        [=, this](TaskId before) { return add_kernels(graph_, codec_, TaskName(name, i, count), phase, time, before); };
  }

  /// Adds a stage of each bucket's exchange.
  void add_stages(Flight& flight, std::size_t stage) {
    const PartExchanges& buckets = flight.buckets;
    for (std::size_t i = 0; stage == 0 && i < buckets.size(); ++i) {
      Chain& chain = flight.slots[stage][i];
      append(chain, computing("encode inner", Phase::encode, buckets[i].encode_inner, i, buckets.size()));
      append(chain, inside("sum in machines", buckets[i].sum, i, buckets.size()));
      append(chain, computing("encode", Phase::encode, buckets[i].stages.front().encode, i, buckets.size()));
    }
    for (std::size_t i = 0; i < buckets.size(); ++i)
      if (stage < buckets[i].stages.size())
        append(flight.slots[stage][i], [&](TaskId before) {
          return add_stage(graph_, communication_, codec_, buckets, i, stage, input_.negotiation(), before);
        });
  }

  /// Adds what follows the messages: decoding, gathering in machines, an outer update. Islands update shares, and gather
  /// them then.
  void add_end(Flight& flight) {
    const PartExchanges& buckets = flight.buckets;
    std::vector<Chain>& slot = flight.slots.back();
    for (std::size_t i = 0; i < buckets.size(); ++i)
      append(slot[i], computing("decode", Phase::decode, buckets[i].decode, i, buckets.size()));
    const bool shares = islands_ && strategy_.outer_update_factor > 0;
    const char* gather = islands_ ? "gather in islands" : "gather in machines";
    for (std::size_t i = 0; i < buckets.size() && !shares; ++i)
      append(slot[i], inside(gather, buckets[i].spread, i, buckets.size()));
    for (std::size_t i = 0; i < buckets.size(); ++i)
      append(slot[i], computing("decode inner", Phase::decode, buckets[i].decode_inner, i, buckets.size()));
    if (strategy_.outer_update_factor == 0) return;
    const double share = strategy_.outer_update_factor / strategy_.workers_of_replica();
    const Seconds time = input_.workload.update * (share * (flight.fragment.bytes / input_.workload.gradient_bytes));
    flight.outer = graph_.add_task({"outer update", Phase::update, ComputeWork{time}, compute_});
    flight.ends = {flight.outer};
    for (std::size_t i = 0; i < buckets.size() && shares; ++i)
      if (buckets[i].spread) flight.ends.push_back(inside(gather, buckets[i].spread, i, buckets.size())(flight.outer));
  }

  /// Each slot waits for the slot before, and the outer update for all buckets. The average is needed by the next
  /// computation. A fragment that is used when it is sent again is sent with its average.
  void add_dependencies(const Flight& flight) {
    const int used = flight.late.back() ? 1 : 0;  // rounds after the one that sends
    std::vector<std::pair<TaskId, int>> needed;
    for (const TaskId task : flight.next.empty() ? begin_ : flight.next)
      needed.emplace_back(task, flight.next.empty() ? 1 : 0);
    for (const Chain& chain : flight.slots.front())
      if (strategy_.averaging_steps == strategy_.steps && chain.first != kNoTask) needed.emplace_back(chain.first, 0);
    for (std::size_t i = 0; i < flight.buckets.size(); ++i) {
      std::vector<TaskId> before = flight.sent;
      int round = 0;  // of `before`
      for (std::size_t n = 0; n < flight.slots.size(); ++n) {
        const Chain& chain = flight.slots[n][i];
        if (chain.first == kNoTask) continue;
        const int here = flight.late[n] ? 1 : 0;
        for (const TaskId task : before) graph_.depend(chain.first, task, here - round);
        before = {chain.last};
        round = here;
      }
      for (const TaskId last : before)
        if (flight.outer != kNoTask) graph_.depend(flight.outer, last, used - round);
        else
          for (const auto& [task, lag] : needed) graph_.depend(task, last, used - round + lag);
    }
    for (const TaskId end : flight.ends)
      for (const auto& [task, lag] : needed) graph_.depend(task, end, lag);
  }

  const LocalSgdStrategy& strategy_;
  const GraphInput& input_;
  StepGraph graph_;
  std::optional<IslandSteps> islands_;
  StreamId compute_ = kNoStream, communication_ = kNoStream, codec_ = kNoStream;
  std::vector<Flight> flights_;
  std::vector<std::size_t> used_;        ///< fragments whose averages the next computation needs
  std::vector<TaskId> begin_, updated_;  ///< tasks that begin a round, and those that end the steps so far
  int computed_ = 0;                     ///< steps of the round so far
};

}  // namespace

StepGraph build_local_sgd(const LocalSgdStrategy& strategy, const GraphInput& input) {
  GraphInput averaging = input;
  if (strategy.islands) averaging.islands = &*strategy.islands;
  return with_cheapest_carrier(averaging, strategy.carrier,
                               [&](Carrier carrier) { return RoundBuilder(strategy, averaging, carrier).graph(); });
}

}  // namespace stepcast
