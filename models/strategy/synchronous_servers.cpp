// Synchronous parameter servers: a shard updates after all workers have pushed.
//
// Dedicated servers, or one co-located shard, use one link direction for pushes and the other for pulls, so each has a
// stream. Several co-located shards use the same links for both, so pushes and pulls share one stream. Its order is the
// order in which they would be ready on a worker of speed 1 in an isolated step. Without duplex, one stream has both,
// too. Since this order depends on times, an improvement may make a step longer (docs/monotonicity.md). A sender has one
// bucket in flight at a time. A worker pushes the next bucket when all shards have the last one. A shard sends the next
// bucket when all workers have the last one.
//
// With sums in machines of g workers, a bucket of n bytes is first reduce-scattered inside each machine. A worker then
// pushes and pulls n/g, and the machine's workers gather what came back. Both go beside the pushes and pulls of other
// buckets: in turn with each other, in the order of pushes and pulls, where these are in turn, else side by side. So a
// sum may wait for the gathering of a part that is pulled before its push. With a compressor, a worker encodes its share
// of the sum (machine_sums.hpp). The shard decodes and adds those of each share. Its answers are decoded before they are
// gathered.
//
// With a compressor of several messages (coded_part.hpp), all parts exchange their first messages, then their second ones,
// which are encoded after back-propagation: workers need the sums of the first ones before.
//
// With `partition`, parts of buckets are encoded, pushed and pulled by themselves. With `priority`, those of the first
// layers go first, by the times of that isolated step (parts.hpp), and the forward pass waits for each bucket alone.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/strategy/server_step.hpp"

namespace stepcast {
namespace {

class SynchronousExchange {
 public:
  explicit SynchronousExchange(ServerStep& step) : step_(step) {}

  void add() {
    const bool one_link = step_.one_link();
    push_out_ = step_.graph.add_stream(one_link ? "communication" : "push");
    pull_in_ = one_link ? push_out_ : step_.graph.add_stream("pull");
    push_in_ = step_.graph.add_stream(one_link ? "server communication" : "server push", Role::server);
    pull_out_ = one_link ? push_in_ : step_.graph.add_stream("server pull", Role::server);
    serving_ = step_.graph.add_stream("server compute", Role::server);
    pushed_.resize(step_.parts.size());
    served_.resize(step_.parts.size());
    pulled_.resize(step_.parts.size());
    ready_ = step_.ready_times();
    for (stage_ = 0; stage_ < step_.stages(); ++stage_) {
      std::vector<Bundle> all = bundles();
      for (const Exchanged& next : order_of(one_link))
        next.exchange == ShardExchange::push ? push(all, next.part) : pull(all, next.part);
      step_.end_backward();
    }
    step_.finish(pulled_);
  }

 private:
  /// Pushes and pulls of one part, and the shards' work between them.
  struct Bundle {
    ShardWork push{ShardExchange::push, {}}, pull{ShardExchange::pull, {}};
    ServeWork serve;
  };

  /// Whether a part has messages in this stage.
  [[nodiscard]] bool takes_part(std::size_t part) const { return stage_ < step_.coded[part].encode.size(); }

  TaskId add(const char* name, std::size_t part, Phase phase, Work work, StreamId worker, StreamId server) {
    std::string text = TaskName(name, part, step_.parts.size()).text();
    if (stage_ > 0) text += fmt::format(", message {}", stage_ + 1);
    return step_.graph.add_task({std::move(text), phase, std::move(work), worker, server});
  }

  void push(std::vector<Bundle>& all, std::size_t b) {
    const TaskId ready = stage_ == 0 ? step_.ready(b) : step_.add_encode(b, stage_, pulled_[b]);
    pushed_[b] = add("push", b, Phase::exchange, std::move(all[b].push), push_out_, push_in_);
    step_.depend_on_ready(pushed_[b], ready);
    served_[b] = add("serve", b, Phase::serve, std::move(all[b].serve), kNoStream, serving_);
    step_.graph.depend(served_[b], pushed_[b]);
  }

  void pull(std::vector<Bundle>& all, std::size_t b) {
    const TaskId pulled = add("pull", b, Phase::exchange, std::move(all[b].pull), pull_in_, pull_out_);
    step_.graph.depend(pulled, served_[b]);
    // A worker takes part in a pull only after its own push.
    step_.graph.depend(pulled, pushed_[b]);
    const bool is_last = stage_ + 1 == step_.coded[b].encode.size();
    pulled_[b] = is_last && !step_.decodes() ? step_.add_gathered(b, pulled) : pulled;
  }

  [[nodiscard]] std::vector<Bundle> bundles() const {
    std::vector<Bundle> all(step_.parts.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < step_.coded[i].shards.size(); ++j) {
        const ShardStage one = step_.coded[i].stage(j, stage_);
        all[i].push.shard_bytes.push_back(one.push);
        all[i].pull.shard_bytes.push_back(one.pull);
      }
      all[i].serve.time = step_.serve_times(i, stage_, 1);
    }
    return all;
  }

  [[nodiscard]] std::vector<Exchanged> order_of(bool one_link) {
    if (step_.strategy.exchange.priority) return step_.by_priority(1, one_link);
    if (one_link) return in_turn();
    // With a stream for each kind, only the order within a kind matters.
    std::vector<Exchanged> order;
    for (const ShardExchange exchange : {ShardExchange::push, ShardExchange::pull})
      for (std::size_t i = 0; i < step_.parts.size(); ++i)
        if (takes_part(i)) order.push_back({exchange, i});
    return order;
  }

  /// The order of pushes and pulls by readiness, for one link that carries both. Each kind keeps the order of the parts.
  /// Sets the times at which the next stage is ready.
  [[nodiscard]] std::vector<Exchanged> in_turn() {
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < step_.parts.size(); ++i)
      if (takes_part(i)) parts.push_back(i);
    const std::vector<PartTimes> times = step_.times(stage_, 1);
    Shards shards(step_.graph.shards);
    std::vector<Exchanged> order;
    std::vector<Seconds> served;
    Seconds encoded{};  // the end of the latest encoding
    for (std::size_t pulls = 0; pulls < parts.size();) {
      const std::size_t pushes = served.size();
      if (pushes < parts.size() && (pulls == pushes || ready_[parts[pushes]] <= served[pulls])) {
        const std::size_t part = parts[pushes];
        link_ = std::max(link_, ready_[part]) + times[part].push;
        served.push_back(shards.serve(times[part], link_));
        order.push_back({ShardExchange::push, part});
      } else {
        const std::size_t part = parts[pulls];
        link_ = std::max(link_, served[pulls]) + times[part].pull;
        order.push_back({ShardExchange::pull, part});
        const std::vector<Seconds>& encode = step_.coded[part].encode;
        if (stage_ + 1 < encode.size()) ready_[part] = encoded = std::max(encoded, link_) + encode[stage_ + 1];
        ++pulls;
      }
    }
    return order;
  }

  ServerStep& step_;
  std::size_t stage_ = 0;       ///< of the messages that are added
  std::vector<Seconds> ready_;  ///< by part: the time at which it may be pushed, on one link
  Seconds link_{};              ///< the time at which that link is free
  StreamId push_out_ = kNoStream, pull_in_ = kNoStream, push_in_ = kNoStream, pull_out_ = kNoStream,
           serving_ = kNoStream;
  std::vector<TaskId> pushed_, served_, pulled_;
};

}  // namespace

void exchange_with_synchronous_servers(ServerStep& step) { SynchronousExchange(step).add(); }

}  // namespace stepcast
