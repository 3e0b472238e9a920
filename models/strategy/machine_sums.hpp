// Backward passes whose gradients are added up in machines before they are compressed or pushed to servers.
#pragma once

#include <cstddef>
#include <vector>

#include "models/strategy/builder.hpp"

namespace stepcast {

/// The way of a part of a bucket to its first messages between machines.
struct SummedPart {
  Seconds
      encode_inner{};  ///< by the inner compressor, right after back-propagation of the bucket if kernels overlap it
  CollectiveCall sum;  ///< inside machines
  Seconds encode{};
  Seconds messages{};  ///< on the link of the sums; those on another link do not count here
};

/// The tasks of a backward pass, of the sums of its parts inside machines, and of their encoding, in the order of an
/// isolated step on a worker of speed 1. There, GPU and link take what is ready and never wait while something is. The
/// link prefers a sum to messages, the GPU an encoding to the next backward task; parts are in order. A sum takes its
/// price or its negotiation, whichever is longer.
class SummedBackward {
 public:
  struct Streams {
    StreamId compute = kNoStream, sums = kNoStream, codec = kNoStream;
  };
  struct Options {
    double slowdown = 1;            ///< of back-propagation
    bool overlap = false;           ///< parts are added up while back-propagation runs, not after it
    bool messages_on_link = false;  ///< the link of the sums carries the messages, too
    Seconds negotiation{};          ///< ν of each sum
  };

  SummedBackward(StepGraph& graph, const Streams& streams, const GraphInput& input, const std::vector<Bucket>& buckets,
                 const std::vector<BucketPart>& parts, std::vector<SummedPart> summed, const Options& options);

  /// The time at which each part may be sent in that step.
  [[nodiscard]] const std::vector<Seconds>& ready_times() const { return ready_times_; }
  /// Adds all tasks that begin before a part's messages, as far as they are not there yet. Returns the task after which
  /// the part may be sent.
  TaskId add_until_ready(std::size_t part);
  /// Adds all other tasks.
  void add_rest();

 private:
  /// The next work of the GPU or the link for one part.
  struct PartWork {
    enum class Kind { backward, encode_inner, sum, encode, message };
    Kind kind = Kind::backward;
    std::size_t number = 0;  ///< backward: of the bucket, or their number for the tail
  };
  class IsolatedStep;

  void add(const PartWork& work);
  void add_encode(const char* name, std::size_t part, Seconds time);

  StepGraph& graph_;
  const Streams streams_;
  const std::vector<BucketPart>& parts_;
  const std::vector<SummedPart> summed_;
  const Options options_;
  const bool encodes_beside_;  ///< kernels of compressors run during back-propagation, not after it
  BackPropagation backward_;
  std::vector<PartWork> order_;  ///< a message stands for the time at which it may begin
  std::vector<Seconds> ready_times_;
  std::size_t added_ = 0;      ///< of the order
  std::size_t computed_ = 0;   ///< parts whose backward tasks are there
  std::vector<TaskId> ready_;  ///< the newest task of each part
  std::vector<bool> sent_;     ///< whether the order is there up to its messages
};

}  // namespace stepcast
