// Builds the step graph of a scenario, with one function for each strategy, each in a separate file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/strategy/asked_prices.hpp"
#include "models/strategy/parts.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// A compressor, its properties for the gradients' type, and the rates of its kernels; empty without kernels.
struct Method {
  const Compressor& compressor;
  CompressorTraits traits;
  std::optional<CodecRates> rates;
};

/// The input of every strategy's builder.
struct GraphInput {
  const Workload& workload;
  const Cluster& cluster;       ///< without its link, which `prices` know
  std::vector<Method> methods;  ///< the scenario's compressor, then each of `others`
  std::span<const OtherCompressor> others;
  const CodecSettings& codec;
  AskedPrices& prices;
  const Islands* islands = nullptr;  ///< the groups that train together; null: all workers do
  std::optional<Method> inner{};     ///< of messages inside machines; empty: they are not compressed

  /// The compressor of all tensors that no other one has.
  [[nodiscard]] const Compressor& compressor() const { return methods.front().compressor; }
  /// ν of a collective; a single worker has nobody to agree with.
  [[nodiscard]] Seconds negotiation() const { return cluster.workers > 1 ? cluster.stack.negotiation_cost : Seconds{}; }
  /// C, unless a single worker exchanges nothing.
  [[nodiscard]] std::optional<Seconds> cycle() const {
    return cluster.workers > 1 && cluster.stack.cycle ? std::optional(*cluster.stack.cycle) : std::nullopt;
  }
  /// g: the workers that add up their gradients before they compress the sum, or have the same parameters. Each
  /// compresses its share.
  [[nodiscard]] int summed_workers() const {
    return islands ? islands->size : stepcast::summed_workers(codec, compressor(), cluster);
  }
  /// The workers that add up one step's gradients.
  [[nodiscard]] Communicators synchronous_workers() const {
    return islands ? inside_groups(islands->size, cluster.workers) : Communicators{};
  }
};

StepGraph build_all_reduce(const AllReduceStrategy&, const GraphInput&);
StepGraph build_parameter_server(const ParameterServerStrategy&, const GraphInput&);
StepGraph build_pipelined(const PipelinedStrategy&, const GraphInput&);
StepGraph build_sharded(const ShardedStrategy&, const GraphInput&);
StepGraph build_local_sgd(const LocalSgdStrategy&, const GraphInput&);
StepGraph build_gossip(const GossipStrategy&, const GraphInput&);
StepGraph build_collective(const CollectiveBenchmark&, const GraphInput&);

/// The scenario's workload. It is empty if the scenario does not train.
Workload make_workload(const Scenario& scenario);

/// The scenario's step graph. `prices` belong to its cluster.
StepGraph build_step_graph(const Scenario& scenario, const Workload& workload, const ClusterPrices& prices);
/// The same before its exchanges have their stack's shares (set_stack_shares). It is the graph on any link where the
/// questions have the same answers.
StepGraph build_without_shares(const Scenario& scenario, const Workload& workload, AskedPrices& prices);
/// Sets the stack's share of each exchange.
void set_stack_shares(StepGraph& graph, const ClusterPrices& prices);
/// The cluster as builders see it, with kNoLink.
Cluster without_link(Cluster cluster);
StepGraph build_step_graph(const Scenario& scenario, const Workload& workload);

// Parts that several builders use.

/// Adds the stream of the compressor's kernels: the compute stream, or a separate stream that shares the GPU fairly.
StreamId add_codec_stream(StepGraph& graph, StreamId compute, const GraphInput& input);

/// Adds kernels of a compressor after a task, if there is one. Returns the last task: `after` if they take no time.
TaskId add_kernels(StepGraph& graph, StreamId codec, TaskName name, Phase phase, Seconds time, TaskId after);

/// Adds training steps without exchange: all forward passes, then all backward passes, then all updates. The total time
/// is that of alternating passes, since nothing else runs meanwhile.
struct LocalSteps {
  std::vector<TaskId> first, last;  ///< tasks that begin the first step, and those that end the last one
};
LocalSteps add_local_steps(StepGraph& graph, StreamId compute, const Workload& workload, int steps);

/// Adds a step's last forward pass. Earlier passes of the step only accumulate gradients; they come first, all forward
/// and then all backward. Returns the step's first task.
TaskId add_forward(StepGraph& graph, StreamId compute, const Workload& workload);

/// The forward time of bucket i's layers. The last bucket's computes first, and has the layers before all parameters,
/// too.
Seconds forward_time(const Workload& workload, const std::vector<Bucket>& buckets, std::size_t i);

/// A bucket's sums of the step before, on their way to the bucket's layers.
struct BucketUse {
  Seconds decode{};
  std::vector<CollectiveCall> spread{};  ///< inside machines, after decoding
  Seconds decode_inner{};                ///< after that, of the inner compressor
  Seconds update{};
};
struct UseStreams {
  StreamId compute = kNoStream, codec = kNoStream, spread = kNoStream;
};

/// Uses with their bucket's share of the workload's update alone.
std::vector<BucketUse> updates_of(const Workload& workload, const std::vector<Bucket>& buckets);

/// Adds the forward passes as add_forward() does, but the first one in pieces, one a bucket. Each piece follows the use
/// of the bucket's sums of the step before; what takes no time has no task. If sums are gathered after decoding, a bucket
/// is decoded one piece ahead, so that the GPU does not idle. Returns for each bucket the first task that needs its sums.
std::vector<TaskId> add_forward_by_buckets(StepGraph& graph, const UseStreams& streams, const GraphInput& input,
                                           const std::vector<Bucket>& buckets, const std::vector<BucketUse>& use);

/// The backward pass, including the encoding of its gradients.
struct BackwardPass {
  std::vector<TaskId> ready;  ///< for each part of a bucket, the task after which it may be sent
  TaskId end = 0;             ///< the last task of back-propagation
};

/// Adds back-propagation one by one: a task per bucket, then the tail.
class BackPropagation {
 public:
  BackPropagation(StepGraph& graph, StreamId compute, const GraphInput& input, const std::vector<Bucket>& buckets,
                  double slowdown);
  /// Adds the next task, the tail last. @pre has_next()
  TaskId add_next();
  [[nodiscard]] bool has_next() const { return added_ < buckets_.size() + (has_tail_ ? 1 : 0); }
  [[nodiscard]] TaskId last() const { return last_; }  ///< the last task so far
  [[nodiscard]] Seconds tail() const { return has_tail_ ? tail_ * slowdown_ : Seconds{}; }

 private:
  StepGraph& graph_;
  StreamId compute_;
  Seconds tail_;
  const std::vector<Bucket>& buckets_;
  double slowdown_;
  bool has_tail_;
  std::size_t added_ = 0;
  TaskId last_ = kNoTask;
};

/// Adds the backward pass as one task per bucket, and the tail. parts[i] is encoded in encode[i], without a task if that
/// is zero. The codec's `overlap` decides whether this is as soon as its bucket is ready, or after all are.
BackwardPass add_backward(StepGraph& graph, StreamId compute, StreamId codec, const GraphInput& input,
                          const std::vector<Bucket>& buckets, double slowdown, const std::vector<BucketPart>& parts,
                          const std::vector<Seconds>& encode);

/// Adds a collective. If the stack negotiates, it first adds the negotiation, on a stream of its own, after `ready`.
/// Returns the collective's task.
/// @param ready  kNoTask counts for nothing
TaskId add_negotiated(StepGraph& graph, StreamId communication, TaskName name, const CollectiveCall& call,
                      Seconds negotiation, std::span<const TaskId> ready);

/// The end of each task from `first` on, on a worker of speed 1 in an isolated step that begins there.
/// @pre all these tasks compute
std::vector<Seconds> ends_of_computing(const StepGraph& graph, TaskId first);
/// By part, the time at which it may be sent: during back-propagation (overlap), or after it.
std::vector<Seconds> times_of_parts(const BackwardPass& backward, const std::vector<Seconds>& ends, bool overlap);

/// Adds the decoding of each part (decode[i], no task if zero) after its exchange. Returns an update's inputs.
std::vector<TaskId> add_decode(StepGraph& graph, StreamId codec, const std::vector<Seconds>& decode,
                               const std::vector<TaskId>& exchanged, const char* name = "decode");

/// Adds the optimizer update after all `inputs`. The next forward pass waits for it.
TaskId add_update(StepGraph& graph, StreamId compute, const Workload& workload, const std::vector<TaskId>& inputs,
                  TaskId forward);

/// "name", or "name of 3 passes" for several.
std::string counted(std::string_view name, int count, std::string_view of);

}  // namespace stepcast
