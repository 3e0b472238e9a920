// Parameter servers that do not wait for all workers: asynchronous, stale-synchronous, or with backup workers. Each
// worker exchanges with each shard independently. It pushes bucket after bucket, or part after part, and copies like
// synchronous workers. With priority, pushes and pulls have the order of a step in which all workers exchange at once.
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
// With a compressor of several messages, each message is pushed, added and pulled so by itself.
//
// No set of workers can wait for each other for ever. Suppose all wait, and w began its step first. It waits for a
// bucket of a shard, whose last update came before w's step (the start counts as an update by all). The p-b workers of
// that update had begun their steps even earlier, so all of them have begun another one since. Fewer than p-b have come
// to this bucket again, so one of them waits for an earlier bucket of the shard, or for an earlier message at any shard.
// It had the newest sum of that before the update in question, so its last update came earlier still, and the same holds
// for it. But no bucket and no message comes before the first.
#include <string>
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

  /// Whether a shard has something of the part, with messages in this stage.
  [[nodiscard]] bool takes_part(std::size_t part, std::size_t shard) const {
    return step_.held(part, shard) > Bytes{} && stage_ < step_.coded[part].shards[shard].stages.size();
  }

  /// Adds the exchange at a round's end. Returns the tasks after which what came back can be used, or decoded.
  std::vector<TaskId> exchange(const ServerRound& round) {
    std::vector<TaskId> received(step_.parts.size(), kNoTask);
    for (stage_ = 0; stage_ < step_.stages(); ++stage_) {
      served_.assign(step_.parts.size(), {});
      for (const Exchanged& next : order()) {
        const std::size_t b = next.part;
        if (stage_ >= step_.coded[b].encode.size()) continue;
        if (next.exchange == ShardExchange::push)
          push_to_each(b, round.pushes ? copied_out(b, received[b]) : step_.end_of_round(), round);
        else if (round.pulls) received[b] = pull_from_each(b);
      }
    }
    if (!round.pulls) received.clear();
    return received;
  }

  /// Each part's answer follows its push, or all go by priority.
  [[nodiscard]] std::vector<Exchanged> order() const {
    const bool alone = !step_.graph.first_pushes;  // each push is an update
    if (step_.strategy.exchange.priority) return step_.by_priority(alone ? step_.input.cluster.workers : 1, false);
    std::vector<Exchanged> order;
    for (std::size_t b = 0; b < step_.parts.size(); ++b)
      for (const ShardExchange exchange : {ShardExchange::push, ShardExchange::pull}) order.push_back({exchange, b});
    return order;
  }

  TaskId add(const char* what, std::size_t b, Work work, StreamId stream, Phase phase = Phase::exchange,
             const std::string& of = "") {
    std::string name = TaskName(what, b, step_.parts.size()).text() + of;
    if (stage_ > 0) name += fmt::format(", message {}", stage_ + 1);
    return step_.graph.add_task({std::move(name), phase, std::move(work), stream});
  }
  TaskId add_of_shard(const char* what, std::size_t b, std::size_t shard, Work work, StreamId stream,
                      Phase phase = Phase::exchange) {
    return add(what, b, std::move(work), stream, phase, fmt::format(", shard {}", shard));
  }

  [[nodiscard]] ShardCopy copied(std::size_t b, Bytes ShardStage::*bytes) const {
    ShardCopy all;
    for (std::size_t j = 0; j < lines_.size(); ++j) all.shard_bytes.push_back(step_.coded[b].stage(j, stage_).*bytes);
    return all;
  }

  /// Adds the copies of a part's pushes, which follow the pushes of the part before.
  /// @param received  the part's answers of the stage before
  TaskId copied_out(std::size_t b, TaskId received) {
    const TaskId ready = stage_ == 0 ? step_.ready(b) : step_.add_encode(b, stage_, received);
    const TaskId task = add("copy out", b, copied(b, &ShardStage::push), copy_out_);
    step_.depend_on_ready(task, ready);
    for (const TaskId push : std::exchange(pushed_, {})) step_.graph.depend(task, push);
    return task;
  }

  /// Adds a part's pushes to all shards, and the shards' work.
  void push_to_each(std::size_t b, TaskId ready, const ServerRound& round) {
    served_[b].assign(lines_.size(), kNoTask);
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      if (!takes_part(b, j)) continue;
      TaskId before = ready;
      const ShardStage part = step_.coded[b].stage(j, stage_);
      const int shard = static_cast<int>(j);
      ShardServe serve{shard, {}, round.pulls ? part.pull : Bytes{}};
      if (round.pushes) {
        serve.time = step_.work(b, j, stage_, step_.workers_of_machine());
        serve.copied += part.push;
        const TaskId push =
            add_of_shard("push", b, j, ShardTransfer{ShardExchange::push, shard, part.push}, lines_[j].push);
        step_.graph.depend(push, std::exchange(before, push));
        pushed_.push_back(push);
      }
      served_[b][j] = add_of_shard("serve", b, j, serve, lines_[j].serve, Phase::serve);
      step_.graph.depend(served_[b][j], before);
    }
  }

  /// Adds the answers of all shards. Returns the task after which they can be used, or decoded.
  TaskId pull_from_each(std::size_t b) {
    std::vector<TaskId> pulled;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      if (!takes_part(b, j)) continue;
      const ShardTransfer pull{ShardExchange::pull, static_cast<int>(j), step_.coded[b].stage(j, stage_).pull};
      pulled.push_back(add_of_shard("pull", b, j, pull, lines_[j].pull));
      step_.graph.depend(pulled.back(), served_[b][j]);
      // A shard's buffer is in use until the worker has copied its content.
      if (lines_[j].copied_in != kNoTask) step_.graph.depend(pulled.back(), lines_[j].copied_in);
    }
    const TaskId copy = add("copy in", b, copied(b, &ShardStage::pull), copy_in_);
    for (const TaskId pull : pulled) step_.graph.depend(copy, pull);
    for (std::size_t j = 0; j < lines_.size(); ++j)
      if (takes_part(b, j)) lines_[j].copied_in = copy;
    const bool is_last = stage_ + 1 == step_.coded[b].encode.size();
    return is_last && !step_.decodes() ? step_.add_gathered(b, copy) : copy;
  }

  ServerStep& step_;
  StreamId copy_out_ = kNoStream, copy_in_ = kNoStream;
  std::size_t stage_ = 0;                    ///< of the messages that are added
  std::vector<TaskId> pushed_;               ///< of the latest part
  std::vector<std::vector<TaskId>> served_;  ///< by part and shard, in this stage
  std::vector<Line> lines_;                  ///< by shard
};

}  // namespace

void exchange_with_asynchronous_servers(ServerStep& step) { AsynchronousExchange(step).add(); }

}  // namespace stepcast
