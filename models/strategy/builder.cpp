#include "models/strategy/builder.hpp"

#include <fmt/format.h>

#include "models/strategy/prices.hpp"

namespace stepcast {

Bytes payload(const Compressor& compressor, Bytes bytes) {
  if (const auto* ratio = std::get_if<RatioCompressor>(&compressor)) return bytes / ratio->ratio;
  return bytes;
}

Seconds encode_time(const Compressor& compressor, Bytes bytes) {
  if (const auto* ratio = std::get_if<RatioCompressor>(&compressor)) return bytes * ratio->encode_cost;
  return {};
}

Seconds decode_time(const Compressor& compressor, Bytes bytes) {
  if (const auto* ratio = std::get_if<RatioCompressor>(&compressor)) return bytes * ratio->decode_cost;
  return {};
}

std::string numbered(const char* name, std::size_t i, std::size_t count) {
  return count == 1 ? name : fmt::format("{} {}/{}", name, i + 1, count);
}

TaskId add_forward(StepGraph& graph, StreamId compute, const Workload& workload) {
  return graph.add_task({"forward", Phase::forward, ComputeWork{workload.forward}, compute});
}

std::vector<TaskId> add_backward(StepGraph& graph, StreamId compute, const GraphInput& input, const std::vector<Bucket>& buckets, double slowdown) {
  std::vector<TaskId> ready;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    TaskId last = graph.add_task({numbered("backward", i, buckets.size()), Phase::backward, ComputeWork{buckets[i].gap * slowdown}, compute});
    const Seconds encode = encode_time(input.compressor, buckets[i].bytes);
    if (encode > Seconds{}) last = graph.add_task({numbered("encode", i, buckets.size()), Phase::encode, ComputeWork{encode}, compute});
    ready.push_back(last);
  }
  // A whole-model bucket is complete only when backward is, tail included.
  const bool whole = buckets.size() == 1 && buckets[0].gap == input.workload.backward;
  if (input.workload.tail > Seconds{} && !whole)
    graph.add_task({"backward tail", Phase::backward, ComputeWork{input.workload.tail * slowdown}, compute});
  return ready;
}

std::vector<TaskId> add_decode(StepGraph& graph, StreamId compute, const GraphInput& input, const std::vector<Bucket>& buckets, const std::vector<TaskId>& exchanged) {
  std::vector<TaskId> done;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Seconds decode = decode_time(input.compressor, buckets[i].bytes);
    if (decode == Seconds{}) {
      done.push_back(exchanged[i]);
      continue;
    }
    done.push_back(graph.add_task({numbered("decode", i, buckets.size()), Phase::decode, ComputeWork{decode}, compute}));
    graph.depend(done.back(), exchanged[i]);
  }
  return done;
}

TaskId add_update(StepGraph& graph, StreamId compute, const Workload& workload, const std::vector<TaskId>& inputs, TaskId forward) {
  const TaskId update = graph.add_task({"update", Phase::update, ComputeWork{workload.update}, compute});
  for (const TaskId input : inputs) graph.depend(update, input);
  graph.depend(forward, update, 1);
  return update;
}

StepGraph build_step_graph(const Scenario& scenario, const Workload& workload) {
  const GraphInput input{workload, scenario.cluster, scenario.compressor, collective_prices(scenario.cluster)};
  struct {
    const GraphInput& input;
    StepGraph operator()(const AllReduceStrategy& s) const { return build_all_reduce(s, input); }
    StepGraph operator()(const ParameterServerStrategy& s) const { return build_parameter_server(s, input); }
    StepGraph operator()(const PipelinedStrategy& s) const { return build_pipelined(s, input); }
    StepGraph operator()(const GossipStrategy& s) const { return build_gossip(s, input); }
    StepGraph operator()(const CollectiveBenchmark& s) const { return build_collective(s, input); }
  } build{input};
  return std::visit(build, scenario.strategy);
}

}  // namespace stepcast
