// Sums of gradients inside machines before they are compressed, and gathering after that.
#pragma once

#include <string>

#include "models/strategy/builder.hpp"

namespace stepcast {

/// The collectives of g workers of each machine around messages of their shares. A bucket is reduce-scattered, and
/// all-gathered, as it is. With an inner compressor:
///   encode | all-to-all of the message | decode and add g parts of 1/g | ... | encode the sum of a share, with error
///   feedback of its own | all-gather of the g sums | decode
/// Messages that can be summed are reduce-scattered instead. Tensors that the codec leaves whole go along as they are. The
/// residual of the first encoding is updated in the last decoding, as in coded_exchange(), if there is one.
struct InsideMachines {
  CollectiveCall sum, spread;
  Seconds encode{};        ///< before the sum
  Seconds add{};           ///< after it
  Seconds encode_share{};  ///< before gathering
  Seconds decode{};        ///< after it
  Bytes payload{};         ///< the message of the inner compressor, with the tensors that go along
  std::string assumed;     ///< the assumption about it
};

/// For one of `parts` equal parts of the bucket.
/// @param back  whether the shares are sent back as messages of the inner compressor; else as they are, or not at all
InsideMachines inside_machines(const GraphInput& input, const Bucket& bucket, int g, int parts, bool back);

}  // namespace stepcast
