// From scenario to step graph, one function per strategy, each in its own file.
#pragma once

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// What every strategy's builder needs.
struct GraphInput {
  const Workload& workload;
  const Cluster& cluster;
  const Compressor& compressor;
  Prices prices;
};

StepGraph build_all_reduce(const AllReduceStrategy&, const GraphInput&);
StepGraph build_parameter_server(const ParameterServerStrategy&, const GraphInput&);
StepGraph build_pipelined(const PipelinedStrategy&, const GraphInput&);
StepGraph build_gossip(const GossipStrategy&, const GraphInput&);
StepGraph build_collective(const CollectiveBenchmark&, const GraphInput&);

/// The scenario's step graph.
StepGraph build_step_graph(const Scenario& scenario, const Workload& workload);

// Pieces that builders share.

/// Bytes on the wire of `bytes` of gradient.
Bytes payload(const Compressor& compressor, Bytes bytes);
/// GPU time to encode or decode `bytes` of gradient; zero for none.
Seconds encode_time(const Compressor& compressor, Bytes bytes);
Seconds decode_time(const Compressor& compressor, Bytes bytes);

/// Adds the forward pass.
TaskId add_forward(StepGraph& graph, StreamId compute, const Workload& workload);

/// Adds the backward pass in one task per bucket, each followed by its encoding on the same GPU stream, and the
/// tail. Returns for each bucket the task after which it may be sent.
std::vector<TaskId> add_backward(StepGraph& graph, StreamId compute, const GraphInput& input, const std::vector<Bucket>& buckets, double slowdown);

/// Adds the decoding of each bucket after its exchange, on the compute stream. Returns what an update waits for.
std::vector<TaskId> add_decode(StepGraph& graph, StreamId compute, const GraphInput& input, const std::vector<Bucket>& buckets, const std::vector<TaskId>& exchanged);

/// Adds the optimizer update after all `inputs`, and lets the next forward pass wait for it.
TaskId add_update(StepGraph& graph, StreamId compute, const Workload& workload, const std::vector<TaskId>& inputs, TaskId forward);

/// "name", or "name i/k" where there are several.
std::string numbered(const char* name, std::size_t i, std::size_t count);

}  // namespace stepcast
