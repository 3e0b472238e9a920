// Synchronous parameter servers: a shard updates after all workers have pushed.
//
// Dedicated servers, or one co-located shard, use one link direction for pushes and the other for pulls, so each has a
// stream. Several co-located shards use the same links for both, so pushes and pulls share one stream. Its order is the
// order in which they would be ready on a worker of speed 1 in an isolated step. Since this order depends on times, an
// improvement may make a step longer (docs/monotonicity.md). A sender has one bucket in flight at a time. A worker
// pushes the next bucket when all shards have the last one. A shard sends the next bucket when all workers have the
// last one.
#include <algorithm>
#include <utility>

#include "models/price/shard_copies.hpp"
#include "models/strategy/server_step.hpp"

namespace stepcast {
namespace {

class SynchronousExchange {
 public:
  explicit SynchronousExchange(ServerStep& step) : step_(step) {}

  void add() {
    const bool one_link = step_.graph.shards_co_located && step_.graph.shards > 1;
    const StreamId push_out = step_.graph.add_stream(one_link ? "communication" : "push");
    const StreamId pull_in = one_link ? push_out : step_.graph.add_stream("pull");
    const StreamId push_in = step_.graph.add_stream(one_link ? "server communication" : "server push", Role::server);
    const StreamId pull_out = one_link ? push_in : step_.graph.add_stream("server pull", Role::server);
    const StreamId serving = step_.graph.add_stream("server compute", Role::server);
    std::vector<Bundle> all = bundles();
    const std::size_t count = all.size();
    // With a stream for each kind, only the order within a kind matters.
    std::vector<ShardExchange> order(2 * count, ShardExchange::push);
    if (one_link) order = turns(all);
    else std::fill(order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), ShardExchange::pull);

    std::vector<TaskId> pushed, served, pulled;
    const auto push = [&] {
      const std::size_t b = pushed.size();
      pushed.push_back(step_.graph.add_task(
          {numbered("push", b, count), Phase::exchange, std::move(all[b].push), push_out, push_in}));
      step_.depend_on_ready(pushed.back(), b);
      served.push_back(step_.graph.add_task(
          {numbered("serve", b, count), Phase::serve, std::move(all[b].serve), kNoStream, serving}));
      step_.graph.depend(served.back(), pushed.back());
    };
    const auto pull = [&] {
      const std::size_t b = pulled.size();
      pulled.push_back(step_.graph.add_task(
          {numbered("pull", b, count), Phase::exchange, std::move(all[b].pull), pull_in, pull_out}));
      step_.graph.depend(pulled.back(), served[b]);
      // A worker takes part in a pull only after its own push.
      step_.graph.depend(pulled.back(), pushed[b]);
    };
    for (const ShardExchange turn : order) turn == ShardExchange::push ? push() : pull();
    step_.finish(pulled);
  }

 private:
  /// Pushes and pulls of one bucket, and the shards' work between them.
  struct Bundle {
    ShardWork push{ShardExchange::push, {}}, pull{ShardExchange::pull, {}};
    ServeWork serve;
  };
  [[nodiscard]] std::vector<Bundle> bundles() const {
    std::vector<Bundle> all(step_.buckets.size());
    // A shard's host copies every message in and its answer out.
    std::vector<SecondsPerByte> copies;
    for (int j = 0; j < step_.graph.shards; ++j)
      copies.push_back(shard_copies(step_.input.cluster, step_.graph.shards, step_.graph.shards_co_located, j));
    for (std::size_t b = 0; b < all.size(); ++b)
      for (std::size_t j = 0; j < step_.coded[b].parts.size(); ++j) {
        const CodedPart& part = step_.coded[b].parts[j];
        all[b].push.shard_bytes.push_back(part.push);
        all[b].pull.shard_bytes.push_back(part.pull);
        all[b].serve.time.push_back(part.sum + (part.push + part.pull) * copies[j] +
                                    step_.update_time(step_.parts[b][j].bytes));
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

  /// The time at which each bucket may be pushed, by the rule of depend_on_ready.
  [[nodiscard]] std::vector<Seconds> ready_times() const {
    const std::vector<Seconds> ends = first_ends();
    const auto end_of = [&](TaskId task) { return ends[task]; };
    std::vector<Seconds> ready;
    for (const TaskId task : step_.backward.ready)
      ready.push_back(step_.overlap ? end_of(task) : std::max(end_of(task), end_of(step_.backward.end)));
    return ready;
  }

  /// The order of pushes and pulls by readiness, for one link that carries both. Each kind keeps the order of the
  /// buckets. Shards serve in parallel.
  [[nodiscard]] std::vector<ShardExchange> turns(const std::vector<Bundle>& all) const {
    const std::vector<Seconds> ready = ready_times();
    const auto time_of = [&](const ShardWork& work) {
      return step_.input.prices.shards(work.exchange, work.shard_bytes, true).total();
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
};

}  // namespace

void exchange_with_synchronous_servers(ServerStep& step) { SynchronousExchange(step).add(); }

}  // namespace stepcast
