// Gradients on their way through the compressor: GPU times and messages, in order. One struct for collectives, one for
// parameter servers.
#pragma once

#include <string>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/compressor/compressor.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {

/// GPU time, then collectives that need its result; the next stage needs theirs.
struct CodedStage {
  Seconds encode{};
  std::vector<CollectiveCall> collectives;
};

struct CodedExchange {
  std::vector<CodedStage> stages;
  Seconds decode{};
  Bytes payload{};      ///< one worker's messages
  std::string assumed;  ///< what of them depends on the data and was assumed
};

/// How a bucket travels by collectives among all workers:
///   all-reduce     encode | all-reduce of each message | (encode | all-reduce) | decode once
///   all-gather     encode | (all-gather of sizes) all-gather of p messages | decode p messages
///   all-to-all     encode | all-to-all of the message | decode p parts of d/p, encode their sum, with error feedback of
///                  its own | all-gather of the p sums | decode once
///   in-collective  encode d/p | ring all-reduce whose p-1 reducing rounds each decode, add and encode d/p | decode once
/// One worker alone encodes and decodes too, as training code does, and sends nothing.
/// Error feedback counts with the first encode and the decode. What a round of the last one computes takes nothing
/// from back-propagation's GPU time: its slices are small.
/// @param cut  the bucket is one segment of the gradient and may begin and end inside a tensor
/// @pre check() found compressor, carrier and strategy to go together
CodedExchange coded_exchange(const GraphInput& input, const Bucket& bucket, bool cut, const CollectiveChoice& choice,
                             Carrier carrier);

/// coded_exchange() of each bucket; notes the graph's payload and what was assumed of it.
std::vector<CodedExchange> coded_exchanges(StepGraph& graph, const GraphInput& input,
                                           const std::vector<Bucket>& buckets, bool cut, const CollectiveChoice& choice,
                                           Carrier carrier);

/// What of each bucket is encoded first.
std::vector<Seconds> first_encodes(const std::vector<CodedExchange>& buckets);

/// Adds bucket i's stage number s: what it encodes after the first one, and its collectives. Returns its last task.
/// @param ready  the task after which it may begin
/// @param end    and another one, if any, before which nothing may be sent
TaskId add_stage(StepGraph& graph, StreamId communication, StreamId codec, const std::vector<CodedExchange>& buckets,
                 std::size_t i, std::size_t s, TaskId ready, TaskId end = kNoTask);

/// Adds the collectives of all buckets, one after the other, stage after stage, with what later stages encode, and the
/// decoding of each. Returns what the use of the sums waits for.
/// @param ready  for each bucket the task after which it may be sent
/// @param end    and before which nothing may be, if any
std::vector<TaskId> add_exchanges(StepGraph& graph, StreamId communication, StreamId codec,
                                  const std::vector<CodedExchange>& buckets, std::vector<TaskId> ready,
                                  TaskId end = kNoTask);

/// What of a bucket goes to one shard: a share of each of its tensors.
struct ShardPart {
  std::vector<Tensor> tensors;  ///< whole; empty where the compressor looks at bytes only
  Bytes bytes{};                ///< of the share, uncompressed
  double share = 1;
};

/// The way of one part to its shard and back.
struct CodedPart {
  Seconds encode{};  ///< on the worker, of the whole tensors, error feedback included
  Bytes push{}, pull{};
  Seconds sum{};     ///< on the shard: decoding and adding `messages` pushes, and encoding the answer
  Seconds decode{};  ///< on the worker, of the whole tensors
  std::string assumed;
};

/// A shard adds pushes by γ where they can be summed as they are, and decodes the sum; others it decodes one by one,
/// on a device like the workers'. With `two_way` it encodes the sum by the same method, with error feedback of its own;
/// otherwise parameters come back as they are.
/// @param messages  pushes that are added before the answer: p, or 1 for asynchronous servers
CodedPart coded_part(const GraphInput& input, const ShardPart& part, int messages, bool two_way, SecondsPerByte gamma);

/// The gradients of a bucket as the compressor sees them; none where it looks at bytes only.
std::vector<Tensor> tensors_of(const GraphInput& input, const Bucket& bucket, bool cut);

}  // namespace stepcast
