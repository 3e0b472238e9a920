#include "models/strategy/server_step.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/part/host_costs.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// The number of shards with content: there may be fewer whole tensors than shards. Empty shards take no part, not even
/// in the placement.
int filled_shards(const ParameterServerStrategy& strategy, const GraphInput& input) {
  if (strategy.balance == ShardBalance::split) return strategy.shards;
  return std::min(strategy.shards, static_cast<int>(input.workload.gradients.size()));
}

/// parts[bucket][shard]: the part of a bucket for each shard.
std::vector<std::vector<ShardPart>> divide(const ParameterServerStrategy& strategy, const GraphInput& input,
                                           const std::vector<Bucket>& buckets) {
  const auto shards = static_cast<std::size_t>(filled_shards(strategy, input));
  const std::vector<Gradient>& gradients = input.workload.gradients;
  std::vector<std::vector<ShardPart>> parts;
  if (strategy.balance == ShardBalance::split) {
    for (const Bucket& bucket : buckets)
      parts.emplace_back(
          shards, ShardPart{choose(input, bucket, false), bucket.bytes / strategy.shards, 1.0 / strategy.shards});
    return parts;
  }
  std::vector<std::size_t> order(gradients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gradients[a].bytes > gradients[b].bytes; });
  std::vector<Bytes> load(shards);
  std::vector<std::size_t> shard_of(order.size());
  for (const std::size_t tensor : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[lightest] += gradients[tensor].bytes;
    shard_of[tensor] = lightest;
  }
  for (const Bucket& bucket : buckets) {
    parts.emplace_back(shards);
    for (std::size_t tensor = bucket.first; tensor < bucket.last; ++tensor) {
      ShardPart& part = parts.back()[shard_of[tensor]];
      part.bytes += gradients[tensor].bytes;
      add(part.tensors, choose(input, {tensor, tensor + 1, gradients[tensor].bytes, {}}, false));
    }
  }
  return parts;
}

}  // namespace

ServerStep::ServerStep(const ParameterServerStrategy& servers, const GraphInput& given)
    : strategy(servers),
      input(given),
      buckets(make_buckets(input.workload, strategy.exchange)),
      cut(parts_of(buckets, strategy.exchange)),
      parts(divide(strategy, input, buckets)) {
  overlap = strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model;
  graph.shards = filled_shards(strategy, input);
  if (strategy.sum_in_machine)
    workers_of_machine = std::min(host_costs(input.cluster).workers_of_machine, input.cluster.workers);
  graph.shards_co_located = strategy.placement == ServerPlacement::co_located;
  compute = graph.add_stream("compute");
  codec = add_codec_stream(graph, compute, input);
  for (const auto& of_shards : parts) coded.push_back(code(of_shards));
  graph.local_steps = strategy.steps;
  if (strategy.steps > 1) first = add_local_steps(graph, compute, input.workload, strategy.steps - 1).first.front();
  if (strategy.exchange.priority) first_use = add_forward_by_buckets(graph, compute, input.workload, buckets, {});
  const TaskId forward = strategy.exchange.priority ? first_use.back() : add_forward(graph, compute, input.workload);
  if (strategy.steps == 1) first = forward;
  // A single worker beside its shard has no exchange that could slow its backward pass.
  const bool exchanges = !graph.shards_co_located || input.cluster.workers > 1;
  std::vector<Seconds> encode;
  for (const CodedBucket& bucket : coded) encode.push_back(bucket.encode);
  backward = add_backward(graph, compute, codec, input, buckets,
                          overlap && exchanges ? input.cluster.stack.backward_slowdown : 1.0, encode);
}

ServerStep::CodedBucket ServerStep::code(const std::vector<ShardPart>& of_shards) {
  const int messages =
      strategy.consistency == Consistency::synchronous ? input.cluster.workers / workers_of_machine : 1;
  CodedBucket bucket;
  for (const ShardPart& part : of_shards) {
    // Shards with equal shares of the same tensors all have the cost of the first one.
    const bool split = part.share < 1.0 && !bucket.parts.empty();
    if (part.bytes == Bytes{}) bucket.parts.emplace_back();
    else
      bucket.parts.push_back(split ? bucket.parts.front()
                                   : coded_part(input, part, messages, strategy.two_way,
                                                strategy.server_reduction_cost.value_or(input.cluster.reduction_cost)));
    const CodedPart& one = bucket.parts.back();
    graph.payload += one.push / workers_of_machine;
    join_assumptions(graph.assumed, one.assumed);
    if (split) continue;
    bucket.encode += one.encode;
    bucket.decode += one.decode;
  }
  return bucket;
}

void ServerStep::depend_on_ready(TaskId push, std::size_t bucket) {
  graph.depend(push, backward.ready[bucket]);
  if (!overlap) graph.depend(push, backward.end);
}

void ServerStep::finish(const std::vector<TaskId>& pulled) {
  std::vector<Seconds> decode;
  for (const auto& [bucket, bytes] : cut) decode.push_back(coded[bucket].decode * (bytes / buckets[bucket].bytes));
  const auto done = add_decode(graph, codec, decode, pulled);
  if (strategy.two_way) {
    add_update(graph, compute, input.workload, done, first);
    return;
  }
  for (std::size_t i = 0; i < done.size(); ++i)
    graph.depend(first_use.empty() ? first : first_use[cut[i].bucket], done[i], 1);
}

Seconds ServerStep::update_time(Bytes bytes) const {
  if (strategy.two_way) return {};
  return input.workload.update * (strategy.server_update_factor * (bytes / input.workload.gradient_bytes));
}

StepGraph build_parameter_server(const ParameterServerStrategy& strategy, const GraphInput& input) {
  ServerStep step(strategy, input);
  if (strategy.consistency == Consistency::synchronous) exchange_with_synchronous_servers(step);
  else exchange_with_asynchronous_servers(step);
  return std::move(step.graph);
}

}  // namespace stepcast
