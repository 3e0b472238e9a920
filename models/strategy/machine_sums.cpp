#include "models/strategy/machine_sums.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/strategy/coded_exchange.hpp"
#include "models/strategy/exchange_price.hpp"

namespace stepcast {

/// An isolated step of one GPU and one link.
class SummedBackward::IsolatedStep {
 public:
  struct BucketTime {
    Seconds backward{};
    std::size_t parts = 0;
  };
  struct PartTimes {
    Seconds encode_inner{}, sum{}, encode{}, messages{};
  };
  struct Rules {
    bool encode_inner_beside, sum_beside, encode_beside;  ///< beside back-propagation, not after it
    bool messages_on_link;
  };

  IsolatedStep(std::vector<BucketTime> buckets, std::vector<PartTimes> parts, Seconds tail, Rules rules)
      : buckets_(std::move(buckets)), times_(std::move(parts)), tail_(tail), rules_(rules) {}

  /// Finds the order of all pieces, by their begin.
  void run() {
    while (const auto next = earlier(of_gpu(), of_link())) {
      begin(*next);
      order_.push_back(next->work);
      // Without a kernel, a part is encoded when its gradients or their sum are there.
      for (std::size_t i = ready_.size(); i < computed_.size() && times_[i].encode_inner == Seconds{}; ++i)
        ready_.push_back(computed_[i]);
      for (std::size_t i = encoded_.size(); i < summed_.size() && times_[i].encode == Seconds{}; ++i)
        encoded_.push_back(summed_[i]);
      if (!rules_.messages_on_link)
        for (; sent_ < encoded_.size(); ++sent_) order_.push_back({Kind::message, sent_});
    }
  }
  [[nodiscard]] const std::vector<PartWork>& order() const { return order_; }
  /// The end of each part's encoding.
  [[nodiscard]] const std::vector<Seconds>& encoded() const { return encoded_; }

 private:
  struct Begin {
    Seconds at{};
    PartWork work;
  };
  using Next = std::optional<Begin>;
  using Kind = PartWork::Kind;

  static Next earlier(const Next& one, const Next& other) {
    if (!one || !other) return one ? one : other;
    return other->at < one->at ? other : one;
  }

  [[nodiscard]] bool propagated() const { return begun_ == buckets_.size() && (tail_ == Seconds{} || tailed_); }

  /// The next of a kind, if it is known when it is ready.
  [[nodiscard]] Next next(Kind kind, Seconds free, const std::vector<Seconds>& before, std::size_t done,
                          bool beside) const {
    if (done >= before.size() || (!beside && !propagated())) return {};
    return Begin{std::max({free, before[done], beside ? Seconds{} : back_end_}), {kind, done}};
  }
  [[nodiscard]] Next of_gpu() const {
    const Next inner = next(Kind::encode_inner, gpu_, computed_, ready_.size(), rules_.encode_inner_beside);
    const Next encode = earlier(inner, next(Kind::encode, gpu_, summed_, encoded_.size(), rules_.encode_beside));
    if (propagated()) return encode;
    const Begin backward{gpu_, {Kind::backward, begun_}};
    return encode && encode->at <= backward.at ? encode : backward;
  }
  [[nodiscard]] Next of_link() const {
    const Next sum = next(Kind::sum, link_, ready_, summed_.size(), rules_.sum_beside);
    if (!rules_.messages_on_link) return sum;
    const Next message = next(Kind::message, link_, encoded_, sent_, true);
    return sum && message ? (message->at < sum->at ? message : sum) : earlier(sum, message);
  }

  void begin(const Begin& next) {
    const std::size_t i = next.work.number;
    switch (next.work.kind) {
      case Kind::backward:
        gpu_ = back_end_ = next.at + (i < buckets_.size() ? buckets_[i].backward : tail_);
        if (i == buckets_.size()) tailed_ = true;
        else computed_.insert(computed_.end(), buckets_[begun_++].parts, gpu_);
        return;
      case Kind::encode_inner: ready_.push_back(gpu_ = next.at + times_[i].encode_inner); return;
      case Kind::encode: encoded_.push_back(gpu_ = next.at + times_[i].encode); return;
      case Kind::sum: summed_.push_back(link_ = next.at + times_[i].sum); return;
      case Kind::message: link_ = next.at + times_[i].messages; ++sent_;
    }
  }

  const std::vector<BucketTime> buckets_;
  const std::vector<PartTimes> times_;
  const Seconds tail_;
  const Rules rules_;
  std::vector<PartWork> order_;
  Seconds gpu_{}, link_{}, back_end_{};  ///< the times at which they are free, and backward has ended
  std::vector<Seconds> computed_, ready_, summed_, encoded_;  ///< ends so far, by part; ready_: for the sum
  std::size_t begun_ = 0, sent_ = 0;                          ///< buckets of backward, and parts
  bool tailed_ = false;
};

SummedBackward::SummedBackward(StepGraph& graph, const Streams& streams, const GraphInput& input,
                               const std::vector<Bucket>& buckets, const std::vector<BucketPart>& parts,
                               std::vector<SummedPart> summed, const Options& options)
    : graph_(graph),
      streams_(streams),
      parts_(parts),
      summed_(std::move(summed)),
      options_(options),
      encodes_beside_(input.codec.overlap),
      backward_(graph, streams.compute, input, buckets, options.slowdown),
      ready_(parts.size(), kNoTask),
      sent_(parts.size()) {
  std::vector<IsolatedStep::BucketTime> passes;
  for (const Bucket& bucket : buckets) passes.push_back({bucket.gap * options.slowdown, 0});
  std::vector<IsolatedStep::PartTimes> times;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ++passes[parts[i].bucket].parts;
    const Seconds price = exchange_price(CollectiveWork{summed_[i].sum}, graph, input.prices.for_times()).total();
    times.push_back(
        {summed_[i].encode_inner, std::max(price, options.negotiation), summed_[i].encode, summed_[i].messages});
  }
  IsolatedStep step(std::move(passes), std::move(times), backward_.tail(),
                    {encodes_beside_, options.overlap, options.overlap && encodes_beside_, options.messages_on_link});
  step.run();
  order_ = step.order();
  ready_times_ = step.encoded();
}

TaskId SummedBackward::add_until_ready(std::size_t part) {
  while (!sent_[part]) add(order_[added_++]);
  return ready_[part];
}

void SummedBackward::add_rest() {
  while (added_ < order_.size()) add(order_[added_++]);
}

void SummedBackward::add(const PartWork& work) {
  const std::size_t i = work.number;
  switch (work.kind) {
    case PartWork::Kind::backward: {
      const TaskId task = backward_.add_next();
      for (; computed_ < parts_.size() && parts_[computed_].bucket == i; ++computed_) ready_[computed_] = task;
      return;
    }
    case PartWork::Kind::encode_inner: return add_encode("encode inner", i, summed_[i].encode_inner);
    case PartWork::Kind::sum:
      ready_[i] = add_inside(graph_, streams_.sums, "sum in machines", summed_[i].sum, i, parts_.size(),
                             options_.negotiation, ready_[i], options_.overlap ? kNoTask : backward_.last());
      return;
    case PartWork::Kind::encode: return add_encode("encode", i, summed_[i].encode);
    case PartWork::Kind::message: sent_[i] = true;
  }
}

void SummedBackward::add_encode(const char* name, std::size_t part, Seconds time) {
  const TaskId task =
      graph_.add_task({TaskName(name, part, parts_.size()), Phase::encode, ComputeWork{time}, streams_.codec});
  graph_.depend(task, ready_[part]);
  if (!encodes_beside_) graph_.depend(task, backward_.last());
  ready_[part] = task;
}

}  // namespace stepcast
