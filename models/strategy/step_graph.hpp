// The step graph: one training step as tasks on streams, with the dependencies between them and between steps.
//
// One step is the template of all. A dependency carries the number of steps it reaches back: 0 inside a step,
// 1 from an update to the next step's forward pass, K to a gradient used K steps later. A stream runs its
// tasks one after the other in the order of the task list, step after step. Such a cyclic task graph is a
// timed event graph; its steady-state period is its maximum cycle ratio (equation/timed_event_graph.hpp).
//
// Every worker runs the worker tasks, every parameter-server shard the server tasks. Communication tasks join
// workers (and shards); all other dependencies are within one worker or shard.
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
#include "models/unit/quantity.hpp"

namespace stepcast {

/// What a task is for: the lines of the report's breakdown.
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

/// A collective among all workers, or in each communicator of some; starts when all of them have reached it.
struct CollectiveWork {
  CollectiveCall call;
};

/// Direct messages, of which each starts when its sender reaches the task; a participant is done when all it sends and
/// receives has arrived. Between every worker and every shard, shard_bytes[j] each:
struct ShardWork {
  ShardExchange exchange = ShardExchange::push;
  std::vector<Bytes> shard_bytes;
};
/// And from every worker to both its ring neighbours, which add what they receive.
struct NeighbourWork {
  Bytes bytes{};  ///< to each
};

/// What shard j does with one set of pushes: time[j].
struct ServeWork {
  std::vector<Seconds> time;
};

/// Asynchronous servers: one worker and one shard on their own, push, first-come-first-served work, pull.
struct ShardTransfer {
  ShardExchange exchange = ShardExchange::push;
  int shard = 0;
  Bytes bytes{};
};
struct ShardServe {
  int shard = 0;
  Seconds time{};
  Bytes copied{};  ///< in and out by the shard's host besides, where the worker is on another
};

/// A worker's host copies its messages to (or from) asynchronous shards on other hosts, shard_bytes[j] each, one after
/// the other.
struct ShardCopy {
  std::vector<Bytes> shard_bytes;
};

using Work = std::variant<ComputeWork, CollectiveWork, ShardWork, NeighbourWork, ServeWork, ShardTransfer, ShardServe,
                          ShardCopy>;

using TaskId = int;
using StreamId = int;
inline constexpr TaskId kNoTask = -1;
inline constexpr StreamId kNoStream = -1;

struct Task {
  std::string name;
  Phase phase = Phase::forward;
  Work work;
  StreamId worker_stream = kNoStream;
  StreamId server_stream = kNoStream;
  int micro_batch = 0;    ///< the latest that it belongs to, of the template's; jitter is drawn for each
  int micro_batches = 1;  ///< how many it belongs to, up to that one
};

/// `after` in step t waits for `before` in step t - lag, where there is such a step. With `until`, only for
/// t < until; such a one reaches back.
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
  int shards = 0;                  ///< parameter-server shards, 0 without servers
  bool shards_co_located = false;  ///< beside workers (shard_placement.hpp), otherwise each on a host of its own
  bool asynchronous = false;       ///< servers serve each worker on its own
  std::optional<int> staleness;    ///< stale-synchronous: steps the fastest worker may be ahead
  int local_steps = 1;             ///< training steps that one pass of the template holds (local SGD)
  int micro_batches = 0;           ///< whose forward and backward pass it holds, as far as it is built
  Bytes payload{};      ///< one worker's messages of all its reductions in a period, as its compressor makes them
  std::string assumed;  ///< what of the payload depends on the data and was assumed; empty: exact

  /// How often one pass of the template draws each worker's jitter.
  [[nodiscard]] int draws() const { return std::max(1, micro_batches); }

  StreamId add_stream(std::string name, Role role = Role::worker) {
    streams.push_back({std::move(name), role});
    return static_cast<StreamId>(streams.size()) - 1;
  }
  /// A task belongs to the newest micro-batch.
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
