// The step graph: one training step as tasks on streams, with the dependencies between them and between steps.
//
// One step is the template for all steps. A dependency has a lag, the number of steps that it reaches back. The lag is
// 0 inside a step, 1 from an update to the next forward pass, and K to a gradient used K steps later. A stream runs its
// tasks in the order of the task list, step after step. Such a cyclic task graph is a timed event graph; its
// steady-state period is its maximum cycle ratio (equation/timed_event_graph.hpp).
//
// Every worker runs the worker tasks; every parameter-server shard runs the server tasks. Communication tasks join
// workers (and shards). All other dependencies are inside one worker or shard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/collective/direct.hpp"
#include "models/collective/neighbours.hpp"
#include "models/strategy/task_name.hpp"
#include "models/unit/quantity.hpp"

namespace stepcast {

/// The purpose of a task. Each phase is a line of the report's breakdown.
enum class Phase { forward, backward, update, encode, decode, exchange, serve };

constexpr std::string_view name_of(Phase phase) {
  constexpr std::string_view names[] = {"forward", "backward", "update", "encode", "decode", "exchange", "serve"};
  return names[static_cast<std::size_t>(phase)];
}

enum class Role { worker, server };

struct Stream {
  std::string name;
  Role role = Role::worker;
};

/// GPU time of a worker of speed 1.
struct ComputeWork {
  Seconds duration{};
};

/// A collective among all workers, or in each of several communicators. It starts when all its workers have reached it.
struct CollectiveWork {
  CollectiveCall call;
};

/// A worker agrees with the others on a collective (Stack::negotiation_cost), once its own data are ready. This takes no
/// GPU and no link.
struct NegotiationWork {
  Seconds time{};
};

/// Direct messages. Each one starts when its sender reaches the task. A participant is done when all its messages, sent
/// and received, have arrived. This one is between every worker and every shard, with shard_bytes[j] for shard j:
struct ShardWork {
  ShardExchange exchange = ShardExchange::push;
  std::vector<Bytes> shard_bytes;
};
/// Messages from every worker to its neighbours.
struct NeighbourWork {
  Bytes bytes{};  ///< of each message
  Bytes added{};  ///< those of them that its receiver adds
  Neighbours neighbours{};
};

/// Asynchronous pairs: a worker that chooses (choosing_ranks) takes one of its neighbours by chance. Both send `bytes` to
/// each other and add `added` bytes at γ's rate.
struct PairWork {
  Bytes bytes{};
  Bytes added{};
  Neighbours neighbours{};
  PairChoosers choosers = PairChoosers::half;
};

/// The work of shard j on one set of pushes takes time[j].
struct ServeWork {
  std::vector<Seconds> time;
};

/// Servers that do not wait for all workers: a single worker and a single shard push, serve first come first served, and
/// pull.
struct ShardTransfer {
  ShardExchange exchange = ShardExchange::push;
  int shard = 0;
  Bytes bytes{};
};
struct ShardServe {
  int shard = 0;
  Seconds time{};  ///< for each update: of every push, or of StepGraph::first_pushes of them
  Bytes copied{};  ///< for every push: bytes that the shard's host also copies, in and out, for workers on other hosts
};

/// A worker's host copies its messages to (or from) asynchronous shards on other hosts, one after another.
/// The message for shard j has shard_bytes[j].
struct ShardCopy {
  std::vector<Bytes> shard_bytes;
};

using Work = std::variant<ComputeWork, CollectiveWork, NegotiationWork, ShardWork, NeighbourWork, PairWork, ServeWork,
                          ShardTransfer, ShardServe, ShardCopy>;

using TaskId = int;
using StreamId = int;
inline constexpr TaskId kNoTask = -1;
inline constexpr StreamId kNoStream = -1;

struct Task {
  TaskName name;
  Phase phase = Phase::forward;
  Work work;
  StreamId worker_stream = kNoStream;
  StreamId server_stream = kNoStream;
  int micro_batch = 0;       ///< its latest micro-batch in the template; jitter is drawn for each
  int micro_batches = 1;     ///< its number of micro-batches, up to that one
  double stack_share = 0.0;  ///< of its time: exchange_price.hpp, and γ_o's part of backward
};

/// The stack's share of a computation that it makes `slowdown` times as long.
constexpr double slowed_share(double slowdown) { return 1.0 - 1.0 / slowdown; }

/// `after` in step t waits for `before` in step t - lag, if that step exists.
/// With `until`, this holds only for t < until, and the lag is at least 1.
struct Dependency {
  TaskId before = 0;
  TaskId after = 0;
  int lag = 0;
  std::optional<int> until{};
};

struct StepGraph {
  std::vector<Stream> streams;
  std::vector<Task> tasks;
  std::vector<Dependency> dependencies;
  int shards = 0;                   ///< parameter-server shards, 0 without servers
  bool shards_co_located = false;   ///< beside workers (shard_placement.hpp); otherwise each on its own host
  bool asynchronous = false;        ///< no worker waits for all others: by servers, or in pairs
  std::optional<int> first_pushes;  ///< asynchronous, but an update takes so many workers; later pushes are dropped
  std::optional<int> staleness;     ///< stale-synchronous: steps by which the fastest worker may lead
  StreamId in_flight = kNoStream;   ///< its collectives may run beside those of other streams; kNoStream: none may
  int local_steps = 1;              ///< training steps in one run of the template (local SGD)
  int micro_batches = 0;            ///< micro-batches with forward and backward pass in the template so far
  Bytes payload{};                  ///< compressed bytes of one worker's messages for all reductions in a period
  std::string carrier;              ///< of compressed messages, by auto's choice, with its price; empty: no choice
  std::string assumed;              ///< assumptions about data-dependent payload; empty: exact

  /// The number of jitter draws of each worker in one run of the template.
  [[nodiscard]] int draws() const { return std::max(1, micro_batches); }

  StreamId add_stream(std::string name, Role role = Role::worker) {
    streams.push_back({std::move(name), role});
    return static_cast<StreamId>(streams.size()) - 1;
  }
  /// Adds a task to the newest micro-batch.
  TaskId add_task(Task task) {
    task.micro_batch = std::max(0, micro_batches - 1);
    tasks.push_back(std::move(task));
    return static_cast<TaskId>(tasks.size()) - 1;
  }
  void depend(TaskId after, TaskId before, int lag = 0, std::optional<int> until = {}) {
    dependencies.push_back({before, after, lag, until});
  }
};

}  // namespace stepcast
