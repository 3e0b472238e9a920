#include "models/strategy/machine_sums.hpp"

#include <algorithm>
#include <cstddef>

#include "models/strategy/parts.hpp"

namespace stepcast {
namespace {

/// A turn of the communication stream: a bucket's sum, or its first messages.
struct Exchanged {
  bool is_sum = true;
  std::size_t bucket = 0;
};

class SummedBackward {
 public:
  SummedBackward(StepGraph& graph, StreamId compute, StreamId communication, StreamId codec, const GraphInput& input,
                 const std::vector<CodedExchange>& coded)
      : graph_(graph),
        compute_(compute),
        communication_(communication),
        codec_(codec),
        input_(input),
        coded_(coded),
        ready_(coded.size(), kNoTask) {}

  std::vector<TaskId> add(const std::vector<Bucket>& buckets, double slowdown, bool overlap) && {
    plan(buckets, slowdown, overlap);
    TaskId last = kNoTask;
    const BackwardPass backward =
        add_back_propagation(graph_, compute_, input_, buckets, slowdown, [&](std::size_t i, TaskId task) {
          last = task;
          ready_[i] = task;
          while (encoded_ < coded_.size() && place_[encoded_] <= i) encode(encoded_++);
        });
    if (!overlap) std::fill(ready_.begin(), ready_.end(), backward.end);
    while (encoded_ < coded_.size()) encode(encoded_++);
    while (turn_ < order_.size()) take_turn();
    return std::move(ready_);
  }

 private:
  [[nodiscard]] Seconds time_of(const std::vector<CollectiveCall>& calls) const {
    Seconds sum{};
    for (const CollectiveCall& call : calls) sum += input_.prices(call).total();
    return sum;
  }

  /// The order of turns, and the place of each encoding: the last of the backward tasks before it.
  void plan(const std::vector<Bucket>& buckets, double slowdown, bool overlap) {
    constexpr std::size_t kMessages = 0, kSum = 1;  // priorities
    std::vector<Seconds> ends;
    for (Seconds end{}; const Bucket& bucket : buckets) ends.push_back(end += bucket.gap * slowdown);
    const Seconds all = std::max(ends.back(), input_.workload.backward * slowdown);
    std::vector<Turn> sums;
    std::vector<Exchanged> turns;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      sums.push_back({overlap ? ends[i] : all, time_of({*coded_[i].sum}), kSum});
      turns.push_back({true, i});
    }
    place_.resize(buckets.size());
    Seconds encoded{};  // the last encoding's end
    const auto then = [&](std::size_t turn, Seconds end) -> std::optional<Turn> {
      if (!turns[turn].is_sum) return {};
      const std::size_t i = turns[turn].bucket;
      turns.push_back({false, i});
      const bool beside = overlap && input_.codec.overlap;
      const auto free = beside ? std::lower_bound(ends.begin(), ends.end(), end) : ends.end();
      place_[i] = static_cast<std::size_t>(free - ends.begin());
      const CodedStage& first = coded_[i].stages.front();
      encoded = std::max({encoded, end, free == ends.end() ? all : *free}) + first.encode;
      return Turn{first.encode > Seconds{} ? encoded : end, time_of(first.collectives), kMessages};
    };
    for (const std::size_t turn : order_by_priority(sums, then)) order_.push_back(turns[turn]);
  }

  void encode(std::size_t i) {
    while (!summed(i)) take_turn();
    const Seconds time = coded_[i].stages.front().encode;
    if (time == Seconds{}) return;
    const TaskId task =
        graph_.add_task({numbered("encode", i, coded_.size()), Phase::encode, ComputeWork{time}, codec_});
    graph_.depend(task, ready_[i]);
    ready_[i] = task;
  }

  /// Whether the bucket's sum is there. Sums come in the order of the buckets.
  [[nodiscard]] bool summed(std::size_t i) const { return i < sums_; }

  void take_turn() {
    const auto [is_sum, i] = order_[turn_++];
    if (is_sum) {
      ready_[i] = add_inside(graph_, communication_, "sum in machines", coded_[i].sum, i, coded_.size(),
                             input_.negotiation(), ready_[i]);
      sums_ = i + 1;
    } else {
      ready_[i] = add_stage(graph_, communication_, codec_, coded_, i, 0, input_.negotiation(), ready_[i]);
    }
  }

  StepGraph& graph_;
  StreamId compute_, communication_, codec_;
  const GraphInput& input_;
  const std::vector<CodedExchange>& coded_;
  std::vector<TaskId> ready_;     ///< by bucket, its last task so far
  std::vector<Exchanged> order_;  ///< of the communication stream
  std::vector<std::size_t>
      place_;  ///< by bucket: the backward task behind which it is encoded; their number: behind all
  std::size_t encoded_ = 0, turn_ = 0, sums_ = 0;
};

}  // namespace

std::vector<TaskId> add_summed_backward(StepGraph& graph, StreamId compute, StreamId communication, StreamId codec,
                                        const GraphInput& input, const std::vector<Bucket>& buckets, double slowdown,
                                        const std::vector<CodedExchange>& coded, bool overlap) {
  return SummedBackward(graph, compute, communication, codec, input, coded).add(buckets, slowdown, overlap);
}

}  // namespace stepcast
