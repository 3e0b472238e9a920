// The path of gradients through the compressor and collectives: GPU times and messages, in order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/compressor/compressor.hpp"
#include "models/strategy/builder.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {

/// GPU time, then the collectives that need its result. The next stage needs theirs.
struct CodedStage {
  Seconds encode{};
  std::vector<CollectiveCall> collectives;
  Seconds sum{};        ///< time to decode and add messages, before encoding
  bool inside = false;  ///< whether the collectives are inside machines, before or after those between them
};

struct CodedExchange {
  std::optional<CollectiveCall> sum{};  ///< inside machines, before the first encoding
  std::vector<CodedStage> stages;
  Seconds decode{};
  std::optional<CollectiveCall> spread{};  ///< inside machines, after decoding
  Seconds encode_inner{};                  ///< by the inner compressor, before the sum inside machines
  Seconds decode_inner{};                  ///< by the inner compressor, after the spread
  Bytes payload{};                         ///< one worker's messages
  std::string assumed;                     ///< assumptions about data-dependent payload
};

/// The exchanges of a step's parts. Parts that are alike share one.
class PartExchanges {
 public:
  void add(CodedExchange own) {
    of_.push_back(unlike_.size());
    unlike_.push_back(std::move(own));
  }
  /// Adds a part with the exchange of an earlier one.
  void add_again(std::size_t part) { of_.push_back(of_[part]); }

  [[nodiscard]] std::size_t size() const { return of_.size(); }
  [[nodiscard]] bool empty() const { return of_.empty(); }
  [[nodiscard]] const CodedExchange& operator[](std::size_t part) const { return unlike_[of_[part]]; }
  /// Each one once.
  [[nodiscard]] const std::vector<CodedExchange>& unlike() const { return unlike_; }
  [[nodiscard]] std::vector<CodedExchange>& unlike() { return unlike_; }
  /// The largest number of stages.
  [[nodiscard]] std::size_t stages() const;

 private:
  std::vector<CodedExchange> unlike_;
  std::vector<std::size_t> of_;  ///< by part
};

/// The exchange of a bucket by collectives among all workers:
///   all-reduce     encode | all-reduce of each message | (encode | all-reduce) | decode once
///   all-gather     encode | (all-gather of sizes) all-gather of p messages | decode p messages
///   all-to-all     encode | all-to-all of the message | decode p parts of d/p, encode their sum, with error feedback of
///                  its own | all-gather of the p sums | decode once
///   all-to-all-once  encode | all-to-all of the message | decode p parts of d/p | all-gather of the p sums as they are
///   in-collective  encode d/p | ring all-reduce; its p-1 reducing rounds each decode, add and encode d/p | decode once
/// With codec scope machines, g workers of a machine first reduce-scatter the n bytes, and all-gather n bytes at last
/// (inside_machines.hpp).
/// All of the above is then among P = p/g workers, for a share: 1/g of the rows of each tensor for low-rank methods
/// (as in DALL-E, Ramesh et al. 2021, appendix E), else 1/g of the bucket's elements. One machine alone sums as it is, or by the inner compressor.
/// The g workers of an island do the same, without the reduce-scatter: they have the same parameters.
/// A bucket with several compressors has an exchange of each, joined (below). A carrier that does not fit the messages of
/// one leaves these summed or gathered.
/// Tensors that the codec leaves whole are summed in an all-reduce of their own, before the first messages.
/// A single worker also encodes and decodes, like training code, but sends nothing. The first encode and the decode
/// include error feedback. Codec work inside the rounds of in-collective takes no GPU time from back-propagation: its
/// slices are small.
/// One of k equal parts of a bucket is compressed by itself. It has 1/k of each tensor, as a worker of a machine has 1/g.
/// @param cut  the bucket is one segment of the gradient and may begin and end inside a tensor
/// @param parts  k
/// @pre check() accepted the combination of compressor, carrier and strategy; `auto` is sum-or-gather here
CodedExchange coded_exchange(const GraphInput& input, const Bucket& bucket, bool cut, const CollectiveChoice& choice,
                             Carrier carrier, int parts = 1);

/// The same between machines or islands alone, without collectives inside them.
CodedExchange exchange_between(const GraphInput& input, const Bucket& bucket, bool cut, const CollectiveChoice& choice,
                               Carrier carrier, int parts = 1);

/// Adds the exchange of the same bucket's tensors by another method. Stage by stage, its kernels and its messages follow
/// those of the other. A stage waits for all messages before it, which can only lengthen a step.
void join(CodedExchange& to, CodedExchange other);

/// coded_exchange() of each part. Sets the graph's payload and the assumption about it.
PartExchanges coded_exchanges(StepGraph& graph, const GraphInput& input, const std::vector<Bucket>& buckets,
                              const std::vector<BucketPart>& parts, bool cut, const CollectiveChoice& choice,
                              Carrier carrier);

/// The time of each part's first encoding.
std::vector<Seconds> first_encodes(const PartExchanges& parts);

/// Adds stage s of part i: its encoding, except for the first stage, and its collectives. Returns its last task.
/// @param negotiation  ν of each collective
/// @param ready  the task after which the stage may begin, if any
/// @param end    another task, if any, before which nothing may be sent
TaskId add_stage(StepGraph& graph, StreamId communication, StreamId codec, const PartExchanges& parts, std::size_t i,
                 std::size_t s, Seconds negotiation, TaskId ready, TaskId end = kNoTask);

/// Adds a collective of part i inside machines. Returns its task, or `ready` if there is no such collective.
/// @param end  as for add_stage()
TaskId add_inside(StepGraph& graph, StreamId communication, const char* name, const std::optional<CollectiveCall>& call,
                  std::size_t i, std::size_t parts, Seconds negotiation, TaskId ready, TaskId end = kNoTask);

/// Adds the collectives of all parts one by one, stage after stage, with the encoding of later stages. Also adds the
/// decoding of each part, and its gathering inside machines. Returns the tasks before the sums can be used.
/// @param ready  for each part, the task after which it may be sent
/// @param end    the task before which nothing may be sent, if any
/// @param first  the first stage that is not there yet
std::vector<TaskId> add_exchanges(StepGraph& graph, StreamId communication, StreamId codec, const PartExchanges& parts,
                                  Seconds negotiation, std::vector<TaskId> ready, TaskId end = kNoTask,
                                  std::size_t first = 0);

}  // namespace stepcast
