// Parameter servers that do not wait for all workers: asynchronous, stale-synchronous, or with backup workers. Each
// worker exchanges with each shard independently. It pushes bucket after bucket, or part after part, and copies like
// synchronous workers.
// With equal shards, a single worker therefore takes the same time as with synchronous servers.
//
// With sums in machines, a machine is such a worker: its workers add up each bucket, push and pull their shares of the
// sum, and gather what came back. They wait for each other alone.
//
// With b backup workers (Chen et al. 2016, "Revisiting distributed synchronous SGD", section 3), a shard keeps count of
// its updates of each bucket. A push takes part in the next update if its gradient is of the newest parameters. Once p-b
// have come, the shard adds them, updates, and these workers pull. Any other push is dropped, and its worker pulls at
// once. A worker's pushes count in their order, at each shard.
//
// No set of workers can wait for each other for ever. Suppose all wait, and w began its step first. It waits for a
// bucket of a shard, whose last update came before w's step (the start counts as an update by all). The p-b workers of
// that update had begun their steps even earlier, so all of them have begun another one since. Fewer than p-b have come
// to this bucket again, so one of them waits for an earlier bucket of the shard. It had that bucket's newest parameters
// before the update in question, so that bucket's last update came earlier still, and the same holds for it. But no
// bucket comes before the first.
#include <utility>

#include <fmt/format.h>

#include "models/strategy/server_step.hpp"

namespace stepcast {
namespace {

class AsynchronousExchange {
 public:
  explicit AsynchronousExchange(ServerStep& step) : step_(step) {}

  void add() {
    step_.graph.asynchronous = true;
    if (step_.strategy.consistency == Consistency::stale_synchronous) step_.graph.staleness = step_.strategy.bound;
    if (step_.strategy.consistency == Consistency::backup_workers)
      step_.graph.first_pushes = workers_of_update(step_.strategy, step_.input.cluster.workers);
    copy_out_ = step_.graph.add_stream("copy out");
    copy_in_ = step_.graph.add_stream("copy in");
    for (int shard = 0; shard < step_.graph.shards; ++shard) {
      const auto stream = [&](const char* what) {
        return step_.graph.add_stream(fmt::format("{}, shard {}", what, shard));
      };
      lines_.push_back({stream("push"), stream("serve"), stream("pull")});
    }
    const std::vector<ServerRound> rounds = rounds_of(step_.strategy);
    std::vector<TaskId> received = exchange(rounds.front());
    for (std::size_t r = 1; r < rounds.size(); ++r) {
      step_.begin_round(rounds[r], received);
      received = exchange(rounds[r]);
    }
    step_.finish(std::move(received));
  }

 private:
  /// The exchange of an asynchronous worker with one shard.
  struct Line {
    StreamId push, serve, pull;
    TaskId copied_in = kNoTask;  ///< for the latest part
  };

  /// A shard's bytes of a part, uncompressed.
  [[nodiscard]] Bytes held(std::size_t part, std::size_t shard) const {
    return step_.shares[step_.parts[part].bucket][shard].bytes / step_.parts[part].of;
  }
  [[nodiscard]] bool holds(std::size_t part, std::size_t shard) const { return held(part, shard) > Bytes{}; }

  /// Adds the exchange at a round's end. Returns the tasks after which what came back can be used, or decoded.
  std::vector<TaskId> exchange(const ServerRound& round) {
    std::vector<TaskId> received;
    for (std::size_t b = 0; b < step_.parts.size(); ++b) {
      const TaskId ready = round.pushes ? copied_out(b) : step_.end_of_round();
      const std::vector<TaskId> pulled = exchange_with_each(b, ready, round);
      if (!round.pulls) continue;
      const TaskId copy = add("copy in", b, copied(b, &ShardStage::pull), copy_in_);
      for (const TaskId pull : pulled) step_.graph.depend(copy, pull);
      for (std::size_t j = 0; j < lines_.size(); ++j)
        if (holds(b, j)) lines_[j].copied_in = copy;
      received.push_back(step_.decodes() ? copy : step_.add_gathered(b, copy));
    }
    return received;
  }

  TaskId add(const char* what, std::size_t b, Work work, StreamId stream, Phase phase = Phase::exchange) {
    return step_.graph.add_task({numbered(what, b, step_.parts.size()), phase, std::move(work), stream});
  }

  [[nodiscard]] ShardCopy copied(std::size_t b, Bytes ShardStage::*bytes) const {
    ShardCopy all;
    for (std::size_t j = 0; j < lines_.size(); ++j) all.shard_bytes.push_back(step_.coded[b].stage(j, 0).*bytes);
    return all;
  }

  /// Adds the copies of a part's pushes, which follow the pushes of the part before.
  TaskId copied_out(std::size_t b) {
    const TaskId task = add("copy out", b, copied(b, &ShardStage::push), copy_out_);
    step_.depend_on_ready(task, step_.ready(b));
    for (const TaskId push : std::exchange(pushed_, {})) step_.graph.depend(task, push);
    return task;
  }

  /// Adds a part's pushes to all shards, the shards' work and their answers. Returns the last ones.
  std::vector<TaskId> exchange_with_each(std::size_t b, TaskId ready, const ServerRound& round) {
    std::vector<TaskId> answered;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      if (!holds(b, j)) continue;
      TaskId latest = ready;
      const auto follow = [&](const char* what, Work work, StreamId stream, Phase phase = Phase::exchange) {
        const TaskId task = add(what, b, std::move(work), stream, phase);
        step_.graph.tasks.back().name += fmt::format(", shard {}", j);
        step_.graph.depend(task, latest);
        latest = task;
      };
      const ShardStage part = step_.coded[b].stage(j, 0);
      const int shard = static_cast<int>(j);
      ShardServe serve{shard, {}, round.pulls ? part.pull : Bytes{}};
      if (round.pushes) {
        serve.time = part.sum + step_.update_time(held(b, j) / step_.workers_of_machine());
        serve.copied += part.push;
        follow("push", ShardTransfer{ShardExchange::push, shard, part.push}, lines_[j].push);
        pushed_.push_back(latest);
      }
      follow("serve", serve, lines_[j].serve, Phase::serve);
      if (round.pulls) {
        follow("pull", ShardTransfer{ShardExchange::pull, shard, part.pull}, lines_[j].pull);
        // A shard's buffer is in use until the worker has copied its content.
        if (lines_[j].copied_in != kNoTask) step_.graph.depend(latest, lines_[j].copied_in);
      }
      answered.push_back(latest);
    }
    return answered;
  }

  ServerStep& step_;
  StreamId copy_out_ = kNoStream, copy_in_ = kNoStream;
  std::vector<TaskId> pushed_;  ///< of the latest part
  std::vector<Line> lines_;     ///< by shard
};

}  // namespace

void exchange_with_asynchronous_servers(ServerStep& step) { AsynchronousExchange(step).add(); }

}  // namespace stepcast
