// Parameter servers that do not wait for all workers: asynchronous, stale-synchronous, or with backup workers. Each
// worker exchanges with each shard independently. It pushes bucket after bucket and copies like synchronous workers.
// With equal shards, a single worker therefore takes the same time as with synchronous servers.
//
// With b backup workers (Chen et al. 2016, "Revisiting distributed synchronous SGD", section 3), a shard keeps count of
// its updates of each bucket. A push takes part in the next update if its gradient is of the newest parameters. Once p-b
// have come, the shard adds them, updates, and these workers pull. Any other push is dropped, and its worker pulls at
// once. No set of workers can wait for each other for ever. Suppose all wait, and w began its step first. It waits for a
// bucket that fewer than p-b have pushed since the last update. One of the p-b workers of that update is then still in
// the step of that push. It began this step before w pulled that update, and so before w began its own: it began first.
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
    const std::size_t count = step_.buckets.size();
    const StreamId copy_out = step_.graph.add_stream("copy out"), copy_in = step_.graph.add_stream("copy in");
    for (int shard = 0; shard < step_.graph.shards; ++shard) {
      const auto stream = [&](const char* what) {
        return step_.graph.add_stream(fmt::format("{}, shard {}", what, shard));
      };
      lines_.push_back({stream("push"), stream("serve"), stream("pull")});
    }
    std::vector<TaskId> pushed_before, copied_in;
    for (std::size_t b = 0; b < count; ++b) {
      ShardCopy out, in;
      for (const CodedPart& part : step_.coded[b].shards) {
        out.shard_bytes.push_back(part.push);
        in.shard_bytes.push_back(part.pull);
      }
      const TaskId copied_out =
          step_.graph.add_task({numbered("copy out", b, count), Phase::exchange, std::move(out), copy_out});
      step_.depend_on_ready(copied_out, step_.ready(b));
      for (const TaskId push : pushed_before) step_.graph.depend(copied_out, push);
      auto [pushed, pulled] = exchange_with_each(b, copied_out);
      pushed_before = std::move(pushed);
      copied_in.push_back(
          step_.graph.add_task({numbered("copy in", b, count), Phase::exchange, std::move(in), copy_in}));
      for (const TaskId pull : pulled) step_.graph.depend(copied_in.back(), pull);
      for (std::size_t j = 0; j < lines_.size(); ++j)
        if (holds(b, j)) lines_[j].copied_in = copied_in.back();
    }
    step_.finish(copied_in);
  }

 private:
  /// The exchange of an asynchronous worker with one shard.
  struct Line {
    StreamId push, serve, pull;
    TaskId copied_in = kNoTask;  ///< for the latest bucket
  };
  struct Transfers {
    std::vector<TaskId> pushed, pulled;
  };

  [[nodiscard]] bool holds(std::size_t bucket, std::size_t shard) const {
    return step_.shares[bucket][shard].bytes > Bytes{};
  }

  /// Adds a bucket's pushes to all shards, the shards' work and their answers.
  Transfers exchange_with_each(std::size_t b, TaskId copied_out) {
    Transfers all;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      if (!holds(b, j)) continue;
      const auto add = [&](const char* what, Phase phase, Work work, StreamId stream, TaskId before) {
        const TaskId task = step_.graph.add_task(
            {fmt::format("{}, shard {}", numbered(what, b, step_.buckets.size()), j), phase, std::move(work), stream});
        step_.graph.depend(task, before);
        return task;
      };
      const CodedPart& part = step_.coded[b].shards[j];
      const int shard = static_cast<int>(j);
      all.pushed.push_back(add("push", Phase::exchange, ShardTransfer{ShardExchange::push, shard, part.push},
                               lines_[j].push, copied_out));
      const TaskId served =
          add("serve", Phase::serve,
              ShardServe{shard, part.sum + step_.update_time(step_.shares[b][j].bytes), part.push + part.pull},
              lines_[j].serve, all.pushed.back());
      all.pulled.push_back(
          add("pull", Phase::exchange, ShardTransfer{ShardExchange::pull, shard, part.pull}, lines_[j].pull, served));
      // A shard's buffer is in use until the worker has copied its content.
      if (lines_[j].copied_in != kNoTask) step_.graph.depend(all.pulled.back(), lines_[j].copied_in);
    }
    return all;
  }

  ServerStep& step_;
  std::vector<Line> lines_;  ///< by shard
};

}  // namespace

void exchange_with_asynchronous_servers(ServerStep& step) { AsynchronousExchange(step).add(); }

}  // namespace stepcast
