// The parts of a step that synchronous and asynchronous parameter servers share.
//
// Workers push each bucket of gradients to M shards; shard_placement.hpp gives their hosts. The shards add the pushes
// and update their part of the parameters. The workers pull the new parameters.
//
// Hosts copy one message after another. A worker copies all of a bucket's messages before they leave and after they
// arrive; copies out and in run side by side. A shard's copies, in and out, are part of its serving, so the copies of
// all workers add up.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/strategy/builder.hpp"
#include "models/strategy/coded_part.hpp"
#include "models/strategy/inside_machines.hpp"
#include "models/strategy/machine_sums.hpp"
#include "models/strategy/server_rounds.hpp"
#include "models/strategy/server_turns.hpp"

namespace stepcast {

/// A step up to the encoded gradients, and its end after the exchange.
struct ServerStep {
  /// The path of a part to the shards and back.
  struct CodedShards {
    std::vector<CodedPart> shards;
    std::vector<Seconds> encode{Seconds{}};  ///< on the worker, by stage: at least one
    Seconds decode{};                        ///< on the worker

    /// A stage of the exchange with a shard; all zero if there is none.
    [[nodiscard]] ShardStage stage(std::size_t shard, std::size_t s) const {
      return s < shards[shard].stages.size() ? shards[shard].stages[s] : ShardStage{};
    }
  };

  ServerStep(const ParameterServerStrategy& servers, const GraphInput& given);

  /// Adds the computing of the worker's next round, whose first step waits for what was pulled. The first round is there
  /// from the start.
  void begin_round(const ServerRound& round, const std::vector<TaskId>& pulled);
  /// The task after which a worker may pull, if its round pushes nothing.
  [[nodiscard]] TaskId end_of_round() const { return backward_.end; }
  /// The task after which a part may be pushed. With sums in machines, this adds the tasks up to there.
  TaskId ready(std::size_t part);
  /// Lets a push follow that task and, without overlap, back-propagation.
  void depend_on_ready(TaskId push, TaskId ready);
  /// The time at which each part may be pushed, on a worker of speed 1 in an isolated step.
  [[nodiscard]] std::vector<Seconds> ready_times() const;
  /// Adds the encoding of a part's later stage after its messages of the stage before. Returns the part's last task.
  TaskId add_encode(std::size_t part, std::size_t stage, TaskId received);
  /// Adds what is left of the backward pass.
  void end_backward();
  /// Adds the gathering of a part in machines, if gradients were added up there. Returns the part's last task.
  TaskId add_gathered(std::size_t part, TaskId received);
  /// Whether workers decode what comes back. It is gathered in machines after that, by finish() or before its use.
  [[nodiscard]] bool decodes() const { return decodes_; }

  /// Adds the step's end, after each part's last task. Without two-way, parameters come back, the next forward pass
  /// waits for them, and the worker has no update. With it, sums of gradients come back; the worker decodes them and
  /// updates its parameters. With priority, it does both by buckets, before each bucket's next forward pass.
  void finish(std::vector<TaskId> received);

  /// The workers of a machine that add up their gradients first; 1: none do.
  [[nodiscard]] int workers_of_machine() const { return workers_of_machine_; }
  /// Whether one stream carries pushes and pulls, and one the collectives inside machines.
  [[nodiscard]] bool one_link() const;
  /// A shard's bytes of a part, uncompressed; zero if it has nothing of it.
  [[nodiscard]] Bytes held(std::size_t part, std::size_t shard) const;
  /// The share of the update for `bytes` of parameters, if servers update.
  [[nodiscard]] Seconds update_time(Bytes bytes) const;
  /// A shard's work on a stage's messages, without copies: their sum, and after the last stage 1/g of the part's update.
  [[nodiscard]] Seconds work(std::size_t part, std::size_t shard, std::size_t stage, int g) const;
  /// The stages of the part that has the most.
  [[nodiscard]] std::size_t stages() const;
  /// By shard: its work on a stage's messages of all workers. Its host copies every message in and its answer out.
  /// @param updates  1, or the number of pushes if each is served by itself
  [[nodiscard]] std::vector<Seconds> serve_times(std::size_t part, std::size_t stage, int updates) const;
  /// By part: the times of a stage if all workers exchange it at once.
  [[nodiscard]] std::vector<PartTimes> times(std::size_t stage, int updates) const;
  /// The order of the first stage's pushes and pulls by priority, by the times of an isolated step in which all workers
  /// exchange at once.
  [[nodiscard]] std::vector<Exchanged> by_priority(int updates, bool one_link) const;

  const ParameterServerStrategy& strategy;
  const GraphInput& input;
  std::vector<Bucket> buckets;
  std::vector<BucketPart> parts;   ///< buckets or parts of them, pushed and pulled by themselves
  std::vector<CodedShards> coded;  ///< by part
  bool overlap = false;
  StepGraph graph;

 private:
  void place_parts();
  [[nodiscard]] CodedShards code(std::size_t i) const;
  TaskId add_forward(int local_steps);
  void add_forward_by_use();
  void add_backward();

  std::vector<std::vector<ShardPart>> shares_;  ///< by bucket and shard; with shard_of_part_ all are in the first one
  std::vector<std::size_t> shard_of_part_;      ///< if whole parts are placed
  std::vector<SecondsPerByte> copies_;          ///< by shard: of its host, for the messages of all workers
  StreamId compute_ = kNoStream, codec_ = kNoStream, sums_ = kNoStream, spreads_ = kNoStream;
  int workers_of_machine_ = 1;            ///< whose gradients are added up first
  std::vector<InsideMachines> inside_;    ///< by part; empty without sums in machines
  bool decodes_ = false;                  ///< whether workers decode anything
  TaskId first_ = kNoTask;                ///< task of the first step, which needs new parameters
  std::vector<TaskId> first_use_;         ///< by bucket, with priority: the first task that needs what came back
  BackwardPass backward_;                 ///< without sums in machines
  std::optional<SummedBackward> summed_;  ///< with them
};

/// A shard updates after all workers have pushed.
void exchange_with_synchronous_servers(ServerStep& step);
/// Each worker exchanges with each shard independently; also stale-synchronous, and with backup workers.
void exchange_with_asynchronous_servers(ServerStep& step);

}  // namespace stepcast
