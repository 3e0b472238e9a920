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
#include <vector>

#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"
#include "models/strategy/parts.hpp"

namespace stepcast {

/// A step up to the encoded gradients, and its part after the exchange.
struct ServerStep {
  /// The path of a bucket to the shards and back.
  struct CodedBucket {
    std::vector<CodedPart> parts;  ///< by shard; all zero if the bucket has nothing for the shard
    Seconds encode{}, decode{};    ///< on the worker
  };

  ServerStep(const ParameterServerStrategy& servers, const GraphInput& given);

  /// A bucket may be pushed after its encoding and, without overlap, after back-propagation.
  void depend_on_ready(TaskId push, std::size_t bucket);

  /// Adds the step's end, after the pull of each of `cut`. Without two-way, parameters come back, the next forward pass waits for them, and the worker
  /// has no update. With it, compressed sums of gradients come back; the worker decodes them and updates its parameters.
  void finish(const std::vector<TaskId>& pulled);

  /// The share of the update for `bytes` of parameters, if servers update.
  [[nodiscard]] Seconds update_time(Bytes bytes) const;

  const ParameterServerStrategy& strategy;
  const GraphInput& input;
  std::vector<Bucket> buckets;
  std::vector<Part> cut;                      ///< buckets or parts of them, pushed and pulled by themselves
  std::vector<std::vector<ShardPart>> parts;  ///< by bucket and shard
  std::vector<CodedBucket> coded;
  bool overlap = false;
  int workers_of_machine = 1;  ///< whose gradients are added up first
  StepGraph graph;
  StreamId compute = kNoStream, codec = kNoStream;
  TaskId first = 0;               ///< task of the first step, which needs new parameters
  std::vector<TaskId> first_use;  ///< by bucket, with priority: the first task that needs its new parameters
  BackwardPass backward;

 private:
  CodedBucket code(const std::vector<ShardPart>& of_shards);
};

/// A shard updates after all workers have pushed.
void exchange_with_synchronous_servers(ServerStep& step);
/// Each worker exchanges with each shard independently; also stale-synchronous.
void exchange_with_asynchronous_servers(ServerStep& step);

}  // namespace stepcast
