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
// With `partition`, parts of buckets are encoded, pushed and pulled by themselves. With `priority`, those of the first
// layers go first, by the times of that isolated step (parts.hpp), and the forward pass waits for each bucket alone.
#include <algorithm>
#include <optional>
#include <utility>

#include "models/price/shard_copies.hpp"
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
    std::vector<Bundle> all = bundles();
    pushed_.resize(all.size());
    served_.resize(all.size());
    pulled_.resize(all.size());
    for (const Exchanged& next : order_of(all, one_link))
      next.exchange == ShardExchange::push ? push(all, next.part) : pull(all, next.part);
    step_.finish(pulled_);
  }

 private:
  /// Pushes and pulls of one part, and the shards' work between them.
  struct Bundle {
    ShardWork push{ShardExchange::push, {}}, pull{ShardExchange::pull, {}};
    ServeWork serve;
  };

  struct Exchanged {
    ShardExchange exchange = ShardExchange::push;
    std::size_t part = 0;
  };

  void push(std::vector<Bundle>& all, std::size_t b) {
    const auto add = [&](const char* name, Phase phase, Work work, StreamId worker, StreamId server) {
      return step_.graph.add_task({numbered(name, b, all.size()), phase, std::move(work), worker, server});
    };
    const TaskId ready = step_.ready(b);
    pushed_[b] = add("push", Phase::exchange, std::move(all[b].push), push_out_, push_in_);
    step_.depend_on_ready(pushed_[b], ready);
    served_[b] = add("serve", Phase::serve, std::move(all[b].serve), kNoStream, serving_);
    step_.graph.depend(served_[b], pushed_[b]);
  }

  void pull(std::vector<Bundle>& all, std::size_t b) {
    const TaskId pulled = step_.graph.add_task(
        {numbered("pull", b, all.size()), Phase::exchange, std::move(all[b].pull), pull_in_, pull_out_});
    step_.graph.depend(pulled, served_[b]);
    // A worker takes part in a pull only after its own push.
    step_.graph.depend(pulled, pushed_[b]);
    pulled_[b] = step_.decodes() ? pulled : step_.add_gathered(b, pulled);
  }

  [[nodiscard]] std::vector<Bundle> bundles() const {
    std::vector<Bundle> all(step_.parts.size());
    // A shard's host copies every message in and its answer out.
    std::vector<SecondsPerByte> copies;
    for (int j = 0; j < step_.graph.shards; ++j)
      copies.push_back(shard_copies(step_.input.cluster, step_.graph.shards, step_.graph.shards_co_located, j));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const BucketPart& part = step_.parts[i];
      for (std::size_t j = 0; j < step_.coded[i].shards.size(); ++j) {
        const CodedPart& one = step_.coded[i].shards[j];
        all[i].push.shard_bytes.push_back(one.push);
        all[i].pull.shard_bytes.push_back(one.pull);
        all[i].serve.time.push_back(one.sum + (one.push + one.pull) * copies[j] +
                                    step_.update_time(step_.shares[part.bucket][j].bytes / part.of));
      }
    }
    return all;
  }

  /// Shards that serve one push after another, in parallel.
  class Shards {
   public:
    explicit Shards(int count) : free_(static_cast<std::size_t>(count)) {}
    /// Returns the end of the work on a push that ended at `pushed`.
    Seconds serve(const Bundle& bundle, Seconds pushed) {
      Seconds last = pushed;
      for (std::size_t j = 0; j < free_.size(); ++j) {
        if (bundle.push.shard_bytes[j] == Bytes{}) continue;
        free_[j] = std::max(free_[j], pushed) + bundle.serve.time[j];
        last = std::max(last, free_[j]);
      }
      return last;
    }

   private:
    std::vector<Seconds> free_;
  };

  [[nodiscard]] Seconds time_of(const ShardWork& work) const {
    return step_.input.prices.shards(work.exchange, work.shard_bytes, step_.graph.shards_co_located).total();
  }

  [[nodiscard]] std::vector<Exchanged> order_of(const std::vector<Bundle>& all, bool one_link) const {
    if (step_.strategy.exchange.priority) return by_priority(all, one_link);
    if (one_link) return in_turn(all);
    // With a stream for each kind, only the order within a kind matters.
    std::vector<Exchanged> order;
    for (const ShardExchange exchange : {ShardExchange::push, ShardExchange::pull})
      for (std::size_t i = 0; i < all.size(); ++i) order.push_back({exchange, i});
    return order;
  }

  /// The order of pushes and pulls by readiness, for one link that carries both. Each kind keeps the order of the parts.
  [[nodiscard]] std::vector<Exchanged> in_turn(const std::vector<Bundle>& all) const {
    const std::vector<Seconds> ready = step_.ready_times();
    Shards shards(step_.graph.shards);
    std::vector<Exchanged> order;
    std::vector<Seconds> served;
    Seconds link{};  // the time at which the link is free
    for (std::size_t pulls = 0; pulls < all.size();) {
      const std::size_t pushes = served.size();
      if (pushes < all.size() && (pulls == pushes || ready[pushes] <= served[pulls])) {
        link = std::max(link, ready[pushes]) + time_of(all[pushes].push);
        served.push_back(shards.serve(all[pushes], link));
        order.push_back({ShardExchange::push, pushes});
      } else {
        link = std::max(link, served[pulls]) + time_of(all[pulls].pull);
        order.push_back({ShardExchange::pull, pulls});
        ++pulls;
      }
    }
    return order;
  }

  [[nodiscard]] std::vector<Exchanged> by_priority(const std::vector<Bundle>& all, bool one_link) const {
    const std::vector<Seconds> ready = step_.ready_times();
    Shards shards(step_.graph.shards);
    std::vector<Turn> pushes, pulls(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      pushes.push_back({ready[i], time_of(all[i].push), step_.parts[i].bucket});
    std::vector<Exchanged> turns;  // by number
    for (std::size_t i = 0; i < all.size(); ++i) turns.push_back({ShardExchange::push, i});
    const auto pushed = [&](std::size_t turn, Seconds end) -> std::optional<Turn> {
      if (turn >= all.size()) return {};  // a pull
      pulls[turn] = {shards.serve(all[turn], end), time_of(all[turn].pull), step_.parts[turn].bucket};
      if (!one_link) return {};
      turns.push_back({ShardExchange::pull, turn});
      return pulls[turn];
    };
    std::vector<Exchanged> order;
    for (const std::size_t turn : order_by_priority(pushes, pushed)) order.push_back(turns[turn]);
    if (!one_link)
      for (const std::size_t part : order_by_priority(pulls)) order.push_back({ShardExchange::pull, part});
    return order;
  }

  ServerStep& step_;
  StreamId push_out_ = kNoStream, pull_in_ = kNoStream, push_in_ = kNoStream, pull_out_ = kNoStream,
           serving_ = kNoStream;
  std::vector<TaskId> pushed_, served_, pulled_;
};

}  // namespace

void exchange_with_synchronous_servers(ServerStep& step) { SynchronousExchange(step).add(); }

}  // namespace stepcast
