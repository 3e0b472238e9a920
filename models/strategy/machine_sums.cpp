#include "models/strategy/machine_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "models/strategy/exchange_price.hpp"

namespace stepcast {
namespace {

/// The next work of the GPU or the link for one bucket.
struct BucketWork {
  enum class Kind { backward, sum, encode, message };
  Kind kind = Kind::backward;
  std::size_t bucket = 0;  ///< backward: their number for the tail
};

/// Times of each bucket's work.
struct BucketTimes {
  Seconds backward{}, sum{}, encode{}, message{};
};

/// An isolated step of one GPU and one link, each of which takes what is ready and never waits while something is. The
/// link prefers sums to messages, the GPU encodings to back-propagation; buckets are in order.
class IsolatedStep {
 public:
  struct Rules {
    bool sum_beside, encode_beside;  ///< beside back-propagation, not after it
  };

  IsolatedStep(std::vector<BucketTimes> times, Seconds tail, Rules rules)
      : times_(std::move(times)), tail_(tail), rules_(rules) {}

  /// All pieces in the order in which they begin.
  std::vector<BucketWork> order() && {
    while (const auto next = earlier(of_gpu(), of_link())) {
      begin(*next);
      order_.push_back(next->work);
      // Without a kernel, a bucket is encoded when its sum is there.
      for (std::size_t i = encoded_.size(); i < summed_.size() && times_[i].encode == Seconds{}; ++i)
        encoded_.push_back(summed_[i]);
    }
    return std::move(order_);
  }

 private:
  struct Begin {
    Seconds at{};
    BucketWork work;
  };
  using Next = std::optional<Begin>;
  using Kind = BucketWork::Kind;

  static Next earlier(const Next& one, const Next& other) {
    if (!one || !other) return one ? one : other;
    return other->at < one->at ? other : one;
  }

  [[nodiscard]] bool propagated() const { return computed_.size() == times_.size() && (tail_ == Seconds{} || tailed_); }

  /// The next of a kind, if it is known when it is ready.
  [[nodiscard]] Next next(Kind kind, Seconds free, const std::vector<Seconds>& before, std::size_t done,
                          bool beside) const {
    if (done >= before.size() || (!beside && !propagated())) return {};
    return Begin{std::max({free, before[done], beside ? Seconds{} : back_end_}), {kind, done}};
  }
  [[nodiscard]] Next of_gpu() const {
    const Next encode = next(Kind::encode, gpu_, summed_, encoded_.size(), rules_.encode_beside);
    if (propagated()) return encode;
    const Begin backward{gpu_, {Kind::backward, computed_.size()}};
    return encode && encode->at <= backward.at ? encode : backward;
  }
  [[nodiscard]] Next of_link() const {
    const Next sum = next(Kind::sum, link_, computed_, summed_.size(), rules_.sum_beside),
               message = next(Kind::message, link_, encoded_, sent_, true);
    return sum && message ? (message->at < sum->at ? message : sum) : earlier(sum, message);
  }

  void begin(const Begin& next) {
    const std::size_t i = next.work.bucket;
    switch (next.work.kind) {
      case Kind::backward:
        gpu_ = back_end_ = next.at + (i < times_.size() ? times_[i].backward : tail_);
        if (i < times_.size()) computed_.push_back(gpu_);
        else tailed_ = true;
        return;
      case Kind::encode: encoded_.push_back(gpu_ = next.at + times_[i].encode); return;
      case Kind::sum: summed_.push_back(link_ = next.at + times_[i].sum); return;
      case Kind::message: link_ = next.at + times_[i].message; ++sent_;
    }
  }

  std::vector<BucketTimes> times_;
  Seconds tail_;
  Rules rules_;
  std::vector<BucketWork> order_;
  Seconds gpu_{}, link_{}, back_end_{};               ///< the times at which they are free, and backward has ended
  std::vector<Seconds> computed_, summed_, encoded_;  ///< ends so far, by bucket
  std::size_t sent_ = 0;
  bool tailed_ = false;
};

}  // namespace

std::vector<TaskId> add_summed_backward(StepGraph& graph, StreamId compute, StreamId communication, StreamId codec,
                                        const GraphInput& input, const std::vector<Bucket>& buckets, double slowdown,
                                        const std::vector<CodedExchange>& coded, bool overlap) {
  const auto time_of = [&](const CollectiveCall& call) {
    return std::max(exchange_price(CollectiveWork{call}, graph, input.prices).total(), input.negotiation());
  };
  std::vector<BucketTimes> times;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const CodedStage& first = coded[i].stages.front();
    times.push_back({buckets[i].gap * slowdown, time_of(*coded[i].sum), first.encode, {}});
    for (const CollectiveCall& call : first.collectives) times.back().message += time_of(call);
  }
  BackPropagation backward(graph, compute, input, buckets, slowdown);
  const std::vector<BucketWork> order =
      IsolatedStep(std::move(times), backward.tail(), {overlap, overlap && input.codec.overlap}).order();
  std::vector<TaskId> ready(buckets.size(), kNoTask);
  for (const auto& [kind, i] : order) {
    switch (kind) {
      case BucketWork::Kind::backward: {
        const TaskId task = backward.add_next();
        if (i < ready.size()) ready[i] = task;
        break;
      }
      case BucketWork::Kind::sum:
        ready[i] = add_inside(graph, communication, "sum in machines", coded[i].sum, i, coded.size(),
                              input.negotiation(), overlap ? ready[i] : backward.last());
        break;
      case BucketWork::Kind::encode:
        if (const Seconds time = coded[i].stages.front().encode; time > Seconds{}) {
          const TaskId task =
              graph.add_task({numbered("encode", i, coded.size()), Phase::encode, ComputeWork{time}, codec});
          graph.depend(task, ready[i]);
          ready[i] = task;
        }
        break;
      case BucketWork::Kind::message:
        ready[i] = add_stage(graph, communication, codec, coded, i, 0, input.negotiation(), ready[i]);
        break;
    }
  }
  return ready;
}

}  // namespace stepcast
