// Local SGD (Stich, ICLR 2019): each worker makes H independent steps of forward, backward and update. Then all workers
// average their parameters, which have as many bytes as the gradients. All parameters are ready at the last update, so
// the exchange overlaps no back-propagation. A compressor encodes the change by the H steps. An outer optimizer (SlowMo,
// Wang et al., ICLR 2020; DiLoCo, Douillard et al. 2023) updates the averaged parameters in `outer_update_factor` times
// the update's time u.
//
// Forward takes f, backward b, an all-reduce of all n bytes at once T(n), and the codec C. A step then takes
//   f + b + u + (T(n) + C + outer_update_factor·u) / H.
// With several buckets, one is encoded or decoded while another is sent.
//
// Streaming DiLoCo (Douillard et al. 2025, sections 2.2 and 2.3, recalled): fragment j of P is due after step
// ceil((j + 1)·H/P) of a round, and its average is used τ steps later, maybe in the next round. CoCoD-SGD (Shen et al.,
// IJCAI 2019, recalled) has P = 1 and τ = H. A GPU runs the codec's kernels between two steps: those of the exchange's
// stage s of S after the first floor(τ·s/S) of the τ steps. Without a codec, while T(n/P) is less than τ steps and H/P
// steps, averaging takes no time.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {
namespace {

/// Tasks of which each waits for the one before.
struct Chain {
  TaskId first = kNoTask, last = kNoTask;
};

/// Parameters that are averaged together.
struct Fragment {
  int due = 0;       ///< steps of a round before they are sent
  double share = 1;  ///< of all parameters
  std::vector<CodedExchange> buckets;
  std::vector<std::vector<Chain>> slots;  ///< tasks of each slot and bucket: the exchange's stages, and its end
  std::vector<bool> late;                 ///< slots in the round after the one that sends
  TaskId sent = kNoTask;                  ///< the update before the first slot
  TaskId outer = kNoTask;                 ///< the outer update, if any
  TaskId next = kNoTask;                  ///< the computation that needs the average; none: the next round's first
};

/// A fragment's tasks between two steps.
struct Slot {
  int after = 0;  ///< steps of the round
  std::size_t fragment = 0, number = 0;
};

/// The fragment of the tensors or buckets that end at `end` of all bytes, and begin at `begin`: by their middle.
std::size_t fragment_at(Bytes begin, Bytes end, Bytes all, int fragments) {
  const double middle = (begin + end) / (all * 2.0);
  return static_cast<std::size_t>(std::min(fragments - 1.0, std::floor(middle * fragments)));
}

/// Buckets by fragment. A bucket is in the fragment of its middle; a whole model's tensors are, likewise.
std::vector<std::vector<Bucket>> buckets_of(const LocalSgdStrategy& strategy, const Workload& workload) {
  const bool whole = strategy.grouping == Grouping::whole_model;
  std::vector<std::vector<Bucket>> fragments(static_cast<std::size_t>(strategy.fragments));
  Bytes sent{};
  // The first bucket has the full size, since no bucket can start early.
  for (const Bucket& bucket :
       make_buckets(workload, {.grouping = whole && strategy.fragments > 1 ? Grouping::per_tensor : strategy.grouping,
                              .bucket_cap = strategy.bucket_cap,
                              .first_bucket = {strategy.bucket_cap}})) {
    auto& fragment = fragments[fragment_at(sent, sent + bucket.bytes, workload.gradient_bytes, strategy.fragments)];
    sent += bucket.bytes;
    if (whole && !fragment.empty()) {
      fragment.back().last = bucket.last;
      fragment.back().bytes += bucket.bytes;
      fragment.back().gap += bucket.gap;
    } else {
      fragment.push_back(bucket);
    }
  }
  return fragments;
}

class RoundBuilder {
 public:
  RoundBuilder(const LocalSgdStrategy& strategy, const GraphInput& input, Carrier carrier)
      : strategy_(strategy), input_(input) {
    compute_ = graph_.add_stream("compute");
    communication_ = graph_.add_stream("communication");
    codec_ = add_codec_stream(graph_, compute_, input);
    graph_.local_steps = strategy.steps;
    const auto fragments = buckets_of(strategy, input.workload);
    for (std::size_t j = 0; j < fragments.size(); ++j)
      if (!fragments[j].empty()) add_fragment(fragments[j], static_cast<int>(j), carrier);
  }

  StepGraph graph() && {
    for (const Slot& slot : slots_in_order()) {
      compute_until(slot.after);
      take(slot);
    }
    compute_until(strategy_.steps);
    for (const Fragment& fragment : fragments_) add_dependencies(fragment);
    return std::move(graph_);
  }

 private:
  void add_fragment(const std::vector<Bucket>& buckets, int j, Carrier carrier) {
    Fragment fragment;
    Bytes bytes{};
    for (const Bucket& bucket : buckets) bytes += bucket.bytes;
    const std::int64_t steps = (std::int64_t{j} + 1) * strategy_.steps;
    fragment.due = static_cast<int>((steps + strategy_.fragments - 1) / strategy_.fragments);
    fragment.share = bytes / input_.workload.gradient_bytes;
    fragment.buckets = coded_exchanges(graph_, input_, buckets, false, strategy_.collective, carrier);
    std::size_t stages = 0;
    for (const CodedExchange& bucket : fragment.buckets) stages = std::max(stages, bucket.stages.size());
    fragment.slots.assign(stages + 1, std::vector<Chain>(buckets.size()));
    for (std::size_t slot = 0; slot <= stages; ++slot) fragment.late.push_back(after(fragment, slot) > strategy_.steps);
    fragments_.push_back(std::move(fragment));
  }

  /// Steps from the beginning of the sending round to the slot.
  [[nodiscard]] int after(const Fragment& fragment, std::size_t slot) const {
    return fragment.due + static_cast<int>(std::int64_t{strategy_.averaging_steps} * static_cast<std::int64_t>(slot) /
                                           static_cast<std::int64_t>(fragment.slots.size() - 1));
  }

  /// All slots of a round as streams take them. Between two steps, older work comes first.
  [[nodiscard]] std::vector<Slot> slots_in_order() const {
    std::vector<Slot> slots;
    for (std::size_t f = 0; f < fragments_.size(); ++f)
      for (std::size_t n = 0; n < fragments_[f].slots.size(); ++n)
        slots.push_back({after(fragments_[f], n) - (fragments_[f].late[n] ? strategy_.steps : 0), f, n});
    const auto key = [&](const Slot& x) {
      return std::tuple(x.after, !fragments_[x.fragment].late[x.number], x.fragment);
    };
    std::stable_sort(slots.begin(), slots.end(), [&](const Slot& a, const Slot& b) { return key(a) < key(b); });
    return slots;
  }

  /// Adds the steps up to `step` of the round.
  void compute_until(int step) {
    if (step <= computed_) return;
    const auto [first, last] = add_local_steps(graph_, compute_, input_.workload, step - computed_);
    if (begin_ == kNoTask) begin_ = first;
    for (const std::size_t f : used_) fragments_[f].next = first;
    used_.clear();
    updated_ = last;
    computed_ = step;
  }

  void take(const Slot& slot) {
    Fragment& fragment = fragments_[slot.fragment];
    const std::size_t named_from = graph_.tasks.size();
    if (slot.number + 1 < fragment.slots.size()) add_stages(fragment, slot.number);
    else add_end(fragment);
    if (slot.number == 0) fragment.sent = updated_;
    if (slot.number + 1 == fragment.slots.size()) used_.push_back(slot.fragment);
    if (fragments_.size() == 1) return;
    for (std::size_t t = named_from; t < graph_.tasks.size(); ++t)
      graph_.tasks[t].name += fmt::format(" of fragment {}", slot.fragment + 1);
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
    return [=, this](TaskId before) {
      if (time == Seconds{}) return before;
      const TaskId task = graph_.add_task({numbered(name, i, count), phase, ComputeWork{time}, codec_});
      if (before != kNoTask) graph_.depend(task, before);
      return task;
    };
  }

  /// Adds a stage of each bucket's exchange.
  void add_stages(Fragment& fragment, std::size_t stage) {
    const std::vector<CodedExchange>& buckets = fragment.buckets;
    for (std::size_t i = 0; stage == 0 && i < buckets.size(); ++i) {
      Chain& chain = fragment.slots[stage][i];
      append(chain, inside("sum in machines", buckets[i].sum, i, buckets.size()));
      append(chain, computing("encode", Phase::encode, buckets[i].stages.front().encode, i, buckets.size()));
    }
    for (std::size_t i = 0; i < buckets.size(); ++i)
      if (stage < buckets[i].stages.size())
        append(fragment.slots[stage][i], [&](TaskId before) {
          return add_stage(graph_, communication_, codec_, buckets, i, stage, input_.negotiation(), before);
        });
  }

  /// Adds what follows the messages: decoding, gathering in machines, an outer update.
  void add_end(Fragment& fragment) {
    const std::vector<CodedExchange>& buckets = fragment.buckets;
    for (std::size_t i = 0; i < buckets.size(); ++i)
      append(fragment.slots.back()[i], computing("decode", Phase::decode, buckets[i].decode, i, buckets.size()));
    for (std::size_t i = 0; i < buckets.size(); ++i)
      append(fragment.slots.back()[i], inside("gather in machines", buckets[i].spread, i, buckets.size()));
    if (strategy_.outer_update_factor == 0) return;
    const Seconds time = input_.workload.update * (strategy_.outer_update_factor * fragment.share);
    fragment.outer = graph_.add_task({"outer update", Phase::update, ComputeWork{time}, compute_});
  }

  /// Each slot waits for the slot before, and the outer update for all buckets. The average is needed by the next
  /// computation. A fragment that is used when it is sent again is sent with its average.
  void add_dependencies(const Fragment& fragment) {
    const int used = fragment.late.back() ? 1 : 0;  // rounds after the one that sends
    std::vector<std::pair<TaskId, int>> needed{fragment.next == kNoTask ? std::pair(begin_, 1)
                                                                        : std::pair(fragment.next, 0)};
    for (const Chain& chain : fragment.slots.front())
      if (strategy_.averaging_steps == strategy_.steps && chain.first != kNoTask) needed.emplace_back(chain.first, 0);
    for (std::size_t i = 0; i < fragment.buckets.size(); ++i) {
      TaskId before = fragment.sent;
      int round = 0;  // of `before`
      for (std::size_t n = 0; n < fragment.slots.size(); ++n) {
        const Chain& chain = fragment.slots[n][i];
        if (chain.first == kNoTask) continue;
        const int here = fragment.late[n] ? 1 : 0;
        graph_.depend(chain.first, before, here - round);
        before = chain.last;
        round = here;
      }
      if (fragment.outer != kNoTask) graph_.depend(fragment.outer, before, used - round);
      else
        for (const auto& [task, lag] : needed) graph_.depend(task, before, used - round + lag);
    }
    if (fragment.outer != kNoTask)
      for (const auto& [task, lag] : needed) graph_.depend(task, fragment.outer, lag);
  }

  const LocalSgdStrategy& strategy_;
  const GraphInput& input_;
  StepGraph graph_;
  StreamId compute_ = kNoStream, communication_ = kNoStream, codec_ = kNoStream;
  std::vector<Fragment> fragments_;
  std::vector<std::size_t> used_;  ///< fragments whose averages the next computation needs
  TaskId begin_ = kNoTask, updated_ = kNoTask;
  int computed_ = 0;  ///< steps of the round so far
};

}  // namespace

StepGraph build_local_sgd(const LocalSgdStrategy& strategy, const GraphInput& input) {
  return with_cheapest_carrier(input, strategy.carrier,
                               [&](Carrier carrier) { return RoundBuilder(strategy, input, carrier).graph(); });
}

}  // namespace stepcast
