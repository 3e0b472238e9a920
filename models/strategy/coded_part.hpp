// The path of gradients through the compressor and parameter servers: GPU times and messages, in order.
#pragma once

#include <string>
#include <vector>

#include "models/strategy/builder.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {

/// One shard's share of each tensor of a bucket.
struct ShardPart {
  Chosen tensors;  ///< with all their elements
  Bytes bytes{};   ///< bytes of the share, uncompressed
  double share = 1;
};

/// One worker's message to a shard, and its answer.
struct ShardStage {
  Seconds encode{};  ///< on the worker, for all shards of the same tensors
  Bytes push{}, pull{};
  Seconds sum{};  ///< on the shard, for all workers' messages: decode and add them, encode the answers
};

/// The exchange of a worker with a shard. A stage needs the answer of the one before. The last one has error feedback.
struct CodedPart {
  std::vector<ShardStage> stages;  ///< empty: there is nothing for the shard
  Seconds decode{};                ///< on the worker, for all shards of the same tensors
  std::string assumed;
};

/// The messages that a shard adds up before it answers. Each has 1/pieces of every tensor. A bucket has k parts, and with
/// sums inside machines each of g workers has its share of a part.
struct ShardMessages {
  int added = 1;   ///< to one sum: p/g, without backup workers; 1 for asynchronous servers
  int sums = 1;    ///< g
  int pieces = 1;  ///< k·g
};

/// If pushes can be summed, the shard adds them by γ. Otherwise it decodes them one by one, on a device like the workers'.
/// With `two_way`, the sum comes back as it is if that is a message (CompressorTraits::answers). Else the shard encodes it
/// by the same method, with its own error feedback. Without it, the shard decodes the sum, and parameters come back
/// uncompressed. A method of several messages gets the sum of each back as it is, but for the last one without two_way.
/// @pre methods of several messages are summable
CodedPart coded_part(const GraphInput& input, const ShardPart& part, const ShardMessages& messages, bool two_way,
                     SecondsPerByte gamma);

}  // namespace stepcast
