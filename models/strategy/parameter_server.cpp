// SGD over a parameter server of M shards. Each bucket of gradients is pushed to the shards, which add up what
// the workers send and update their part of the parameters; the workers pull the new parameters back.
//
// Synchronous: a shard updates once all workers have pushed. Pushes travel one way and pulls the other over
// dedicated servers' links, so they have a stream each; co-located shards share their worker's link, so all
// pushes of a step go before its pulls on one stream.
// Asynchronous and stale-synchronous: each worker deals with each shard on its own.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

/// bytes[bucket][shard]: what a bucket holds for each shard, before compression.
std::vector<std::vector<Bytes>> divide(const ParameterServerStrategy& strategy, const Workload& workload, const std::vector<Bucket>& buckets) {
  const auto shards = static_cast<std::size_t>(strategy.shards);
  std::vector<std::vector<Bytes>> bytes;
  if (strategy.balance == ShardBalance::split) {
    for (const Bucket& bucket : buckets) bytes.emplace_back(shards, bucket.bytes / strategy.shards);
    return bytes;
  }
  std::vector<std::size_t> order(workload.gradients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return workload.gradients[a].bytes > workload.gradients[b].bytes; });
  std::vector<Bytes> load(shards);
  std::vector<std::size_t> shard_of(order.size());
  for (const std::size_t tensor : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[lightest] += workload.gradients[tensor].bytes;
    shard_of[tensor] = lightest;
  }
  for (const Bucket& bucket : buckets) {
    bytes.emplace_back(shards);
    for (std::size_t tensor = bucket.first; tensor < bucket.last; ++tensor) bytes.back()[shard_of[tensor]] += workload.gradients[tensor].bytes;
  }
  return bytes;
}

class Builder {
 public:
  Builder(const ParameterServerStrategy& strategy, const GraphInput& input)
      : strategy_(strategy), input_(input), buckets_(make_buckets(input.workload, strategy.exchange)), bytes_(divide(strategy, input.workload, buckets_)) {
    overlap_ = strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model;
    graph_.shards = strategy.shards;
    graph_.shards_co_located = strategy.placement == ServerPlacement::co_located;
    compute_ = graph_.add_stream("compute");
  }

  StepGraph build() {
    forward_ = add_forward(graph_, compute_, input_.workload);
    // Alone beside its shard a worker exchanges nothing that could slow its backward pass.
    const bool exchanges = !graph_.shards_co_located || input_.cluster.workers > 1;
    ready_ = add_backward(graph_, compute_, input_, buckets_, overlap_ && exchanges ? strategy_.exchange.backward_slowdown : 1.0);
    if (!overlap_) ready_.assign(buckets_.size(), static_cast<TaskId>(graph_.tasks.size()) - 1);
    if (strategy_.consistency == Consistency::synchronous) synchronous();
    else asynchronous();
    return std::move(graph_);
  }

 private:
  /// Parameters, not gradients, come back: the next forward pass waits for them (decoded), there is no update.
  void finish(const std::vector<TaskId>& pulled) {
    for (const TaskId done : add_decode(graph_, compute_, input_, buckets_, pulled)) graph_.depend(forward_, done, 1);
  }

  [[nodiscard]] SecondsPerByte reduction_cost() const { return strategy_.server_reduction_cost.value_or(input_.cluster.reduction_cost); }

  /// A shard's host copies every remote worker's message in, and its answer out.
  [[nodiscard]] SecondsPerByte copy_cost() const {
    const int remote = input_.cluster.workers - (graph_.shards_co_located ? 1 : 0);
    return input_.cluster.host_cost * (2.0 * remote);
  }

  /// The update's share of `bytes` of parameters.
  [[nodiscard]] Seconds update_time(Bytes bytes) const {
    return input_.workload.update * (strategy_.server_update_factor * (bytes / input_.workload.gradient_bytes));
  }

  void synchronous() {
    const bool co_located = graph_.shards_co_located;
    const StreamId push_out = graph_.add_stream(co_located ? "communication" : "push");
    const StreamId pull_in = co_located ? push_out : graph_.add_stream("pull");
    const StreamId push_in = graph_.add_stream(co_located ? "server communication" : "server push", Role::server);
    const StreamId pull_out = co_located ? push_in : graph_.add_stream("server pull", Role::server);
    const StreamId serving = graph_.add_stream("server compute", Role::server);
    const std::size_t count = buckets_.size();

    std::vector<TaskId> served, pulled;
    for (std::size_t b = 0; b < count; ++b) {
      std::vector<Bytes> wire;
      ServeWork serve;
      for (const Bytes bytes : bytes_[b]) {
        wire.push_back(payload(input_.compressor, bytes));
        serve.time.push_back(wire.back() * (reduction_cost() * input_.cluster.workers + copy_cost()) + update_time(bytes));
      }
      const TaskId push = graph_.add_task({numbered("push", b, count), Phase::exchange, DirectWork{DirectWork::Pattern::push, wire}, push_out, push_in});
      graph_.depend(push, ready_[b]);
      served.push_back(graph_.add_task({numbered("serve", b, count), Phase::serve, std::move(serve), kNoStream, serving}));
      graph_.depend(served.back(), push);
    }
    for (std::size_t b = 0; b < count; ++b) {
      std::vector<Bytes> wire;
      for (const Bytes bytes : bytes_[b]) wire.push_back(payload(input_.compressor, bytes));
      pulled.push_back(graph_.add_task({numbered("pull", b, count), Phase::exchange, DirectWork{DirectWork::Pattern::pull, wire}, pull_in, pull_out}));
      graph_.depend(pulled.back(), served[b]);
      // A worker takes part in a pull only after its own push.
      graph_.depend(pulled.back(), served[b] - 1);
    }
    finish(pulled);
  }

  void asynchronous() {
    graph_.asynchronous = true;
    if (strategy_.consistency == Consistency::stale_synchronous) graph_.staleness = strategy_.bound;
    const std::size_t count = buckets_.size();
    std::vector<StreamId> streams;
    for (int shard = 0; shard < strategy_.shards; ++shard) streams.push_back(graph_.add_stream(fmt::format("shard {}", shard + 1)));
    std::vector<TaskId> pulled;
    for (std::size_t b = 0; b < count; ++b) {
      for (int shard = 0; shard < strategy_.shards; ++shard) {
        const auto j = static_cast<std::size_t>(shard);
        const Bytes raw = bytes_[b][j], wire = payload(input_.compressor, raw);
        if (raw == Bytes{}) continue;
        const auto name = [&](const char* what) { return fmt::format("{}, shard {}", numbered(what, b, count), shard + 1); };
        const TaskId push = graph_.add_task({name("push"), Phase::exchange, ShardTransfer{shard, wire, true}, streams[j]});
        graph_.depend(push, ready_[b]);
        const TaskId serve = graph_.add_task({name("serve"), Phase::serve, ShardServe{shard, wire * reduction_cost() + update_time(raw)}, streams[j]});
        graph_.depend(serve, push);
        const TaskId pull = graph_.add_task({name("pull"), Phase::exchange, ShardTransfer{shard, wire, false}, streams[j]});
        graph_.depend(pull, serve);
        graph_.depend(forward_, pull, 1);
      }
    }
    decode_asynchronously();
  }

  /// All that was pulled is decoded at once before the next forward pass.
  void decode_asynchronously() {
    const Seconds decode = decode_time(input_.compressor, input_.workload.gradient_bytes);
    if (decode == Seconds{}) return;
    const TaskId task = graph_.add_task({"decode", Phase::decode, ComputeWork{decode}, compute_});
    for (TaskId i = 0; i < task; ++i)
      if (std::holds_alternative<ShardTransfer>(graph_.tasks[static_cast<std::size_t>(i)].work)) graph_.depend(task, i);
    graph_.depend(forward_, task, 1);
  }

  const ParameterServerStrategy& strategy_;
  const GraphInput& input_;
  std::vector<Bucket> buckets_;
  std::vector<std::vector<Bytes>> bytes_;
  bool overlap_ = false;
  StepGraph graph_;
  StreamId compute_ = kNoStream;
  TaskId forward_ = 0;
  std::vector<TaskId> ready_;
};

}  // namespace

StepGraph build_parameter_server(const ParameterServerStrategy& strategy, const GraphInput& input) { return Builder(strategy, input).build(); }

}  // namespace stepcast
