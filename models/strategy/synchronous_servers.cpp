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
// buckets: in turn with each other where pushes and pulls are, else side by side.
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
    const bool one_link = !step_.strategy.duplex || (step_.graph.shards_co_located && step_.graph.shards > 1);
    push_out_ = step_.graph.add_stream(one_link ? "communication" : "push");
    pull_in_ = one_link ? push_out_ : step_.graph.add_stream("pull");
    push_in_ = step_.graph.add_stream(one_link ? "server communication" : "server push", Role::server);
    pull_out_ = one_link ? push_in_ : step_.graph.add_stream("server pull", Role::server);
    serving_ = step_.graph.add_stream("server compute", Role::server);
    if (step_.workers_of_machine > 1) {
      sum_ = step_.graph.add_stream(one_link ? "in machines" : "sum in machines");
      spread_ = one_link ? sum_ : step_.graph.add_stream("gather in machines");
    }
    std::vector<Bundle> all = bundles();
    const std::size_t count = all.size();
    // With a stream for each kind, only the order within a kind matters.
    std::vector<ShardExchange> order(2 * count, ShardExchange::push);
    if (one_link) order = turns(all);
    else std::fill(order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), ShardExchange::pull);
    for (const ShardExchange turn : order) turn == ShardExchange::push ? push(all) : pull(all);
    step_.finish(pulled_);
  }

 private:
  /// Pushes and pulls of one bucket, and the shards' work between them.
  struct Bundle {
    ShardWork push{ShardExchange::push, {}}, pull{ShardExchange::pull, {}};
    ServeWork serve;
    std::optional<CollectiveCall> sum{}, spread{};  ///< inside machines
  };

  void push(std::vector<Bundle>& all) {
    const std::size_t b = pushed_.size();
    const auto add = [&](const char* name, Phase phase, Work work, StreamId worker, StreamId server) {
      return step_.graph.add_task({numbered(name, b, all.size()), phase, std::move(work), worker, server});
    };
    TaskId summed = kNoTask;
    if (all[b].sum) {
      summed = add("sum in machines", Phase::exchange, CollectiveWork{*all[b].sum}, sum_, kNoStream);
      step_.depend_on_ready(summed, b);
    }
    pushed_.push_back(add("push", Phase::exchange, std::move(all[b].push), push_out_, push_in_));
    if (summed == kNoTask) step_.depend_on_ready(pushed_.back(), b);
    else step_.graph.depend(pushed_.back(), summed);
    served_.push_back(add("serve", Phase::serve, std::move(all[b].serve), kNoStream, serving_));
    step_.graph.depend(served_.back(), pushed_.back());
  }

  void pull(std::vector<Bundle>& all) {
    const std::size_t b = pulled_.size();
    const TaskId pulled = step_.graph.add_task(
        {numbered("pull", b, all.size()), Phase::exchange, std::move(all[b].pull), pull_in_, pull_out_});
    pulled_.push_back(pulled);
    step_.graph.depend(pulled, served_[b]);
    // A worker takes part in a pull only after its own push.
    step_.graph.depend(pulled, pushed_[b]);
    if (!all[b].spread) return;
    pulled_.back() = step_.graph.add_task(
        {numbered("gather in machines", b, all.size()), Phase::exchange, CollectiveWork{*all[b].spread}, spread_});
    step_.graph.depend(pulled_.back(), pulled);
  }
  [[nodiscard]] std::vector<Bundle> bundles() const {
    std::vector<Bundle> all(step_.buckets.size());
    // A shard's host copies every message in and its answer out.
    std::vector<SecondsPerByte> copies;
    for (int j = 0; j < step_.graph.shards; ++j)
      copies.push_back(shard_copies(step_.input.cluster, step_.graph.shards, step_.graph.shards_co_located, j));
    const int g = step_.workers_of_machine, p = step_.input.cluster.workers;
    for (std::size_t b = 0; b < all.size(); ++b) {
      for (std::size_t j = 0; j < step_.coded[b].parts.size(); ++j) {
        const CodedPart& part = step_.coded[b].parts[j];
        const Bytes push = part.push / g, pull = part.pull / g;
        all[b].push.shard_bytes.push_back(push);
        all[b].pull.shard_bytes.push_back(pull);
        all[b].serve.time.push_back(part.sum + (push + pull) * copies[j] + step_.update_time(step_.parts[b][j].bytes));
      }
      if (g == 1) continue;
      const auto inside = [&](Operation operation) {
        return step_.input.prices.decide(operation, {}, step_.buckets[b].bytes, inside_groups(g, p));
      };
      all[b].sum = inside(Operation::reduce_scatter);
      all[b].spread = inside(Operation::all_gather);
    }
    return all;
  }

  /// The end time of each task so far, on a worker of speed 1 in an isolated step.
  [[nodiscard]] std::vector<Seconds> first_ends() const {
    std::vector<std::vector<TaskId>> waits_for(step_.graph.tasks.size());
    for (const Dependency& d : step_.graph.dependencies)
      if (d.lag == 0) waits_for[d.after].push_back(d.before);
    std::vector<Seconds> ends, free(step_.graph.streams.size());
    for (const Task& task : step_.graph.tasks) {
      Seconds& stream = free[task.worker_stream];
      for (const TaskId before : waits_for[ends.size()]) stream = std::max(stream, ends[before]);
      stream += std::get<ComputeWork>(task.work).duration;
      ends.push_back(stream);
    }
    return ends;
  }

  /// The time at which each bucket may be pushed, by the rule of depend_on_ready, and added up in its machine.
  [[nodiscard]] std::vector<Seconds> ready_times(const std::vector<Bundle>& all) const {
    const std::vector<Seconds> ends = first_ends();
    const auto end_of = [&](TaskId task) { return ends[task]; };
    std::vector<Seconds> ready;
    for (const TaskId task : step_.backward.ready)
      ready.push_back(step_.overlap ? end_of(task) : std::max(end_of(task), end_of(step_.backward.end)));
    Seconds free{};  // the machines' inner links
    for (std::size_t b = 0; b < all.size(); ++b)
      if (all[b].sum) free = ready[b] = std::max(free, ready[b]) + step_.input.prices(*all[b].sum).total();
    return ready;
  }

  /// The order of pushes and pulls by readiness, for one link that carries both. Each kind keeps the order of the
  /// buckets. Shards serve in parallel.
  [[nodiscard]] std::vector<ShardExchange> turns(const std::vector<Bundle>& all) const {
    const std::vector<Seconds> ready = ready_times(all);
    const auto time_of = [&](const ShardWork& work) {
      return step_.input.prices.shards(work.exchange, work.shard_bytes, step_.graph.shards_co_located).total();
    };
    std::vector<ShardExchange> turns;
    std::vector<Seconds> served;
    Seconds link{};  // the time at which the link is free
    std::vector<Seconds> shard(step_.graph.shards);
    const auto serve = [&](const Bundle& bundle) {
      Seconds last = link;
      for (std::size_t j = 0; j < shard.size(); ++j) {
        if (bundle.push.shard_bytes[j] == Bytes{}) continue;
        shard[j] = std::max(shard[j], link) + bundle.serve.time[j];
        last = std::max(last, shard[j]);
      }
      return last;
    };
    for (std::size_t pulls = 0; pulls < all.size();) {
      const std::size_t pushes = served.size();
      if (pushes < all.size() && (pulls == pushes || ready[pushes] <= served[pulls])) {
        link = std::max(link, ready[pushes]) + time_of(all[pushes].push);
        served.push_back(serve(all[pushes]));
        turns.push_back(ShardExchange::push);
      } else {
        link = std::max(link, served[pulls]) + time_of(all[pulls].pull);
        turns.push_back(ShardExchange::pull);
        ++pulls;
      }
    }
    return turns;
  }

  ServerStep& step_;
  StreamId push_out_ = kNoStream, pull_in_ = kNoStream, push_in_ = kNoStream, pull_out_ = kNoStream,
           serving_ = kNoStream, sum_ = kNoStream, spread_ = kNoStream;
  std::vector<TaskId> pushed_, served_, pulled_;
};

}  // namespace

void exchange_with_synchronous_servers(ServerStep& step) { SynchronousExchange(step).add(); }

}  // namespace stepcast
