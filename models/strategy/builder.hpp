// From scenario to step graph, one function per strategy, each in its own file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// What every strategy's builder needs.
struct GraphInput {
  const Workload& workload;
  const Cluster& cluster;
  const Compressor& compressor;
  const CodecSettings& codec;
  const ClusterPrices& prices;
  std::optional<CodecRates> rates;  ///< of the compressor's kernels; empty where it has none
};

StepGraph build_all_reduce(const AllReduceStrategy&, const GraphInput&);
StepGraph build_parameter_server(const ParameterServerStrategy&, const GraphInput&);
StepGraph build_pipelined(const PipelinedStrategy&, const GraphInput&);
StepGraph build_sharded(const ShardedStrategy&, const GraphInput&);
StepGraph build_local_sgd(const LocalSgdStrategy&, const GraphInput&);
StepGraph build_gossip(const GossipStrategy&, const GraphInput&);
StepGraph build_collective(const CollectiveBenchmark&, const GraphInput&);

/// The scenario's workload; an empty one where nothing is trained.
Workload make_workload(const Scenario& scenario);

/// The scenario's step graph; `prices` are those of its cluster.
StepGraph build_step_graph(const Scenario& scenario, const Workload& workload, const ClusterPrices& prices);
StepGraph build_step_graph(const Scenario& scenario, const Workload& workload);

// Pieces that builders share.

/// Adds the stream of the compressor's kernels: the compute stream, or one of their own that shares the GPU fairly.
StreamId add_codec_stream(StepGraph& graph, StreamId compute, const GraphInput& input);

/// Adds training steps that exchange nothing: all their forward passes, then all backward passes, then all updates,
/// which take as long as in turn, since nothing else happens meanwhile.
struct LocalSteps {
  TaskId first = kNoTask, last = kNoTask;
};
LocalSteps add_local_steps(StepGraph& graph, StreamId compute, const Workload& workload, int steps);

/// Adds a step's last forward pass, after those passes whose gradients are only added up, if there are any: all their
/// forward passes, then all backward ones. Returns the step's first task.
TaskId add_forward(StepGraph& graph, StreamId compute, const Workload& workload);

/// The backward pass with the encoding of its gradients.
struct BackwardPass {
  std::vector<TaskId> ready;  ///< for each bucket the task after which it may be sent
  TaskId end = 0;             ///< the last task of back-propagation
};

/// Adds the backward pass in one task per bucket, and the tail. Each bucket is encoded (encode[i], nothing if zero)
/// as soon as it is ready, or once all of them are, as the codec's `overlap` says.
BackwardPass add_backward(StepGraph& graph, StreamId compute, StreamId codec, const GraphInput& input,
                          const std::vector<Bucket>& buckets, double slowdown, const std::vector<Seconds>& encode);

/// Adds the decoding of each bucket (decode[i], nothing if zero) after its exchange. Returns what an update waits for.
std::vector<TaskId> add_decode(StepGraph& graph, StreamId codec, const std::vector<Seconds>& decode,
                               const std::vector<TaskId>& exchanged);

/// Adds the optimizer update after all `inputs`, and lets the next forward pass wait for it.
TaskId add_update(StepGraph& graph, StreamId compute, const Workload& workload, const std::vector<TaskId>& inputs,
                  TaskId forward);

/// "name", or "name i/k" where there are several.
std::string numbered(std::string_view name, std::size_t i, std::size_t count);

/// "name", or "name of 3 passes" of several.
std::string counted(std::string_view name, int count, std::string_view of);

}  // namespace stepcast
