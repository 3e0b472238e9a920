#include "models/strategy/builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/compressor/codec_rates.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/exchange_price.hpp"

namespace stepcast {
namespace {

/// Its stream's name.
constexpr const char* kNegotiation = "negotiation";

}  // namespace

std::string counted(std::string_view name, int count, std::string_view of) {
  return count == 1 ? std::string(name) : fmt::format("{} of {} {}", name, count, of);
}

namespace {

/// Adds one task that takes `each` for each of the newest `count` micro-batches.
TaskId add_for_each(StepGraph& graph, StreamId compute, const char* name, Phase phase, Seconds each, int count) {
  const TaskId task = graph.add_task({counted(name, count, "passes"), phase, ComputeWork{each * count}, compute});
  graph.tasks.back().micro_batches = count;
  return task;
}

/// Adds the forward and backward passes of `count` micro-batches without exchange.
TaskId add_passes(StepGraph& graph, StreamId compute, const Workload& workload, int count) {
  graph.micro_batches += count;
  const TaskId forward = add_for_each(graph, compute, "forward", Phase::forward, workload.forward, count);
  add_for_each(graph, compute, "backward", Phase::backward, workload.backward, count);
  return forward;
}

}  // namespace

LocalSteps add_local_steps(StepGraph& graph, StreamId compute, const Workload& workload, int steps) {
  const int passes = steps * workload.accumulation;
  const TaskId first = add_passes(graph, compute, workload, passes);
  const TaskId last =
      graph.add_task({counted("update", steps, "steps"), Phase::update, ComputeWork{workload.update * steps}, compute});
  graph.tasks.back().micro_batches = passes;
  return {{first}, {last}};
}

TaskId add_forward(StepGraph& graph, StreamId compute, const Workload& workload) {
  const TaskId added =
      workload.accumulation > 1 ? add_passes(graph, compute, workload, workload.accumulation - 1) : kNoTask;
  ++graph.micro_batches;
  const TaskId last = graph.add_task({"forward", Phase::forward, ComputeWork{workload.forward}, compute});
  return added == kNoTask ? last : added;
}

Seconds forward_time(const Workload& workload, const std::vector<Bucket>& buckets, std::size_t i) {
  const auto of = [&](std::size_t from, std::size_t to) {
    Seconds sum{};
    for (std::size_t g = from; g < to; ++g) sum += workload.gradients[g].forward;
    return sum;
  };
  return i + 1 < buckets.size() ? of(buckets[i].first, buckets[i].last)
                                : std::max(Seconds{}, workload.forward - of(0, buckets[i].first));
}

std::vector<BucketUse> updates_of(const Workload& workload, const std::vector<Bucket>& buckets) {
  std::vector<BucketUse> use(buckets.size());
  for (std::size_t b = 0; b < buckets.size(); ++b)
    use[b].update = workload.update * (buckets[b].bytes / workload.gradient_bytes);
  return use;
}

std::vector<TaskId> add_forward_by_buckets(StepGraph& graph, const UseStreams& streams, const GraphInput& input,
                                           const std::vector<Bucket>& buckets, const std::vector<BucketUse>& use) {
  const Workload& workload = input.workload;
  std::vector<TaskId> first(buckets.size(), kNoTask);
  ++graph.micro_batches;
  std::vector<std::vector<TaskId>> last(buckets.size());  // the newest tasks of each bucket's use
  const auto add = [&](std::size_t i, const char* name, Phase phase, Seconds time, StreamId stream) {
    const TaskId task = graph.add_task({TaskName(name, i, buckets.size()), phase, ComputeWork{time}, stream});
    for (const TaskId needed : last[i]) graph.depend(task, needed);
    if (first[i] == kNoTask) first[i] = task;
    last[i] = {task};
  };
  const auto decode = [&](std::size_t i) {
    if (use[i].decode > Seconds{}) add(i, "decode", Phase::decode, use[i].decode, streams.codec);
    std::vector<TaskId> gathered;
    for (const CollectiveCall& call : use[i].spread)
      gathered.push_back(
          add_negotiated(graph, streams.spread, TaskName("gather in machines", i, buckets.size()), call, {}, last[i]));
    if (!gathered.empty()) last[i] = gathered;
  };
  const auto compute = [&](std::size_t i) {
    if (use[i].decode_inner > Seconds{}) add(i, "decode inner", Phase::decode, use[i].decode_inner, streams.codec);
    if (use[i].update > Seconds{}) add(i, "update", Phase::update, use[i].update, streams.compute);
    add(i, "forward", Phase::forward, forward_time(workload, buckets, i), streams.compute);
  };
  // A bucket is decoded before the layers of the one before compute, if it is gathered after that.
  const bool ahead = std::any_of(use.begin(), use.end(), [](const BucketUse& one) { return !one.spread.empty(); });
  for (std::size_t i = buckets.size(); i-- > 0;) {
    if (!ahead || i + 1 == buckets.size()) decode(i);
    if (ahead && i > 0) decode(i - 1);
    compute(i);
  }
  if (const int more = workload.accumulation - 1; more > 0) {
    add_for_each(graph, streams.compute, "backward", Phase::backward, workload.backward, 1);
    if (more > 1) add_passes(graph, streams.compute, workload, more - 1);
    ++graph.micro_batches;
    add_for_each(graph, streams.compute, "forward", Phase::forward, workload.forward, 1);
  }
  return first;
}

std::vector<Seconds> ends_of_computing(const StepGraph& graph, TaskId first) {
  std::vector<std::vector<TaskId>> waits_for(graph.tasks.size());
  for (const Dependency& d : graph.dependencies)
    if (d.lag == 0 && d.after >= first) waits_for[d.after].push_back(d.before);
  std::vector<Seconds> ends(graph.tasks.size()), free(graph.streams.size());
  for (auto task = static_cast<std::size_t>(first); task < graph.tasks.size(); ++task) {
    Seconds& stream = free[graph.tasks[task].worker_stream];
    for (const TaskId before : waits_for[task]) stream = std::max(stream, ends[before]);
    ends[task] = stream += std::get<ComputeWork>(graph.tasks[task].work).duration;
  }
  return ends;
}

std::vector<Seconds> times_of_parts(const BackwardPass& backward, const std::vector<Seconds>& ends, bool overlap) {
  std::vector<Seconds> times;
  for (const TaskId task : backward.ready)
    times.push_back(overlap ? ends[task] : std::max(ends[task], ends[backward.end]));
  return times;
}

TaskId add_kernels(StepGraph& graph, StreamId codec, TaskName name, Phase phase, Seconds time, TaskId after) {
  if (time == Seconds{}) return after;
  const TaskId task = graph.add_task({std::move(name), phase, ComputeWork{time}, codec});
  if (after != kNoTask) graph.depend(task, after);
  return task;
}

StreamId add_codec_stream(StepGraph& graph, StreamId compute, const GraphInput& input) {
  const bool own = input.codec.sharing == GpuSharing::fair && !std::holds_alternative<NoCompressor>(input.compressor());
  return own ? graph.add_stream("codec") : compute;
}

BackPropagation::BackPropagation(StepGraph& graph, StreamId compute, const GraphInput& input,
                                 const std::vector<Bucket>& buckets, double slowdown)
    : graph_(graph),
      compute_(compute),
      tail_(input.workload.tail),
      buckets_(buckets),
      slowdown_(slowdown),
      // A whole-model bucket is complete only at the end of backward, including the tail.
      has_tail_(tail_ > Seconds{} && !(buckets.size() == 1 && buckets[0].gap == input.workload.backward)) {}

TaskId BackPropagation::add_next() {
  const bool is_tail = added_ == buckets_.size();
  const Seconds time = (is_tail ? tail_ : buckets_[added_].gap) * slowdown_;
  last_ = graph_.add_task({is_tail ? TaskName("backward tail") : TaskName("backward", added_, buckets_.size()),
                           Phase::backward, ComputeWork{time}, compute_});
  graph_.tasks[last_].stack_share = slowed_share(slowdown_);
  ++added_;
  return last_;
}

BackwardPass add_backward(StepGraph& graph, StreamId compute, StreamId codec, const GraphInput& input,
                          const std::vector<Bucket>& buckets, double slowdown, const std::vector<BucketPart>& parts,
                          const std::vector<Seconds>& encode) {
  BackwardPass backward;
  const auto add_encode = [&](std::size_t i, TaskId after) {
    return add_kernels(graph, codec, TaskName("encode", i, parts.size()), Phase::encode, encode[i], after);
  };
  BackPropagation tasks(graph, compute, input, buckets, slowdown);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TaskId task = begins_bucket(parts, i) ? tasks.add_next() : tasks.last();
    backward.ready.push_back(input.codec.overlap ? add_encode(i, task) : task);
  }
  if (tasks.has_next()) tasks.add_next();
  backward.end = tasks.last();
  if (!input.codec.overlap && !std::holds_alternative<NoCompressor>(input.compressor()))
    for (std::size_t i = 0; i < parts.size(); ++i) backward.ready[i] = add_encode(i, backward.end);
  return backward;
}

TaskId add_negotiated(StepGraph& graph, StreamId communication, TaskName name, const CollectiveCall& call,
                      Seconds negotiation, std::span<const TaskId> ready) {
  TaskId agreed = kNoTask;
  if (negotiation > Seconds{}) {
    const auto known = std::find_if(graph.streams.begin(), graph.streams.end(),
                                    [](const Stream& stream) { return stream.name == kNegotiation; });
    const StreamId stream = known == graph.streams.end() ? graph.add_stream(kNegotiation)
                                                         : static_cast<StreamId>(known - graph.streams.begin());
    agreed = graph.add_task(
        {fmt::format("negotiation of {}", name.text()), Phase::exchange, NegotiationWork{negotiation}, stream});
  }
  const TaskId task = graph.add_task({std::move(name), Phase::exchange, CollectiveWork{call}, communication});
  if (agreed != kNoTask) graph.depend(task, agreed);
  for (const TaskId before : ready)
    if (before != kNoTask) graph.depend(agreed == kNoTask ? task : agreed, before);
  return task;
}

std::vector<TaskId> add_decode(StepGraph& graph, StreamId codec, const std::vector<Seconds>& decode,
                               const std::vector<TaskId>& exchanged, const char* name) {
  std::vector<TaskId> done;
  for (std::size_t i = 0; i < exchanged.size(); ++i)
    done.push_back(
        add_kernels(graph, codec, TaskName(name, i, exchanged.size()), Phase::decode, decode[i], exchanged[i]));
  return done;
}

TaskId add_update(StepGraph& graph, StreamId compute, const Workload& workload, const std::vector<TaskId>& inputs,
                  TaskId forward) {
  const TaskId update = graph.add_task({"update", Phase::update, ComputeWork{workload.update}, compute});
  for (const TaskId input : inputs) graph.depend(update, input);
  graph.depend(forward, update, 1);
  return update;
}

namespace {

Method method_of(const Scenario& scenario, const Workload& workload, const Compressor& compressor) {
  Method method{compressor, traits_of(compressor, workload.dtype), {}};
  if (const DeviceProfile* device = device_of_codec(scenario)) {
    method.rates = codec_rates(*device, name_of(compressor));
    method.rates->slowdown = scenario.codec.slowdown;
  }
  return method;
}

std::vector<Method> methods_of(const Scenario& scenario, const Workload& workload) {
  std::vector<Method> methods;
  for (const Compressor* compressor : compressors_of(scenario))
    methods.push_back(method_of(scenario, workload, *compressor));
  return methods;
}

}  // namespace

Workload make_workload(const Scenario& scenario) {
  return scenario.workload ? make_workload(*scenario.workload) : Workload{};
}

Cluster without_link(Cluster cluster) {
  cluster.link = kNoLink;
  return cluster;
}

StepGraph build_without_shares(const Scenario& scenario, const Workload& workload, AskedPrices& prices) {
  const Cluster unlinked = without_link(scenario.cluster);
  GraphInput input{workload, unlinked, methods_of(scenario, workload), others_of(scenario), scenario.codec, prices};
  if (compresses_inside(scenario)) input.inner.emplace(method_of(scenario, workload, scenario.inner_compressor));
  struct {
    const GraphInput& input;
    StepGraph operator()(const AllReduceStrategy& s) const { return build_all_reduce(s, input); }
    StepGraph operator()(const ParameterServerStrategy& s) const { return build_parameter_server(s, input); }
    StepGraph operator()(const PipelinedStrategy& s) const { return build_pipelined(s, input); }
    StepGraph operator()(const ShardedStrategy& s) const { return build_sharded(s, input); }
    StepGraph operator()(const LocalSgdStrategy& s) const { return build_local_sgd(s, input); }
    StepGraph operator()(const GossipStrategy& s) const { return build_gossip(s, input); }
    StepGraph operator()(const CollectiveBenchmark& s) const { return build_collective(s, input); }
  } build{input};
  return std::visit(build, scenario.strategy);
}

void set_stack_shares(StepGraph& graph, const ClusterPrices& prices) {
  if (prices.cluster().stack == Stack{}) return;
  for (Task& task : graph.tasks)
    if (task.phase == Phase::exchange) task.stack_share = stack_share(task.work, graph, prices);
}

StepGraph build_step_graph(const Scenario& scenario, const Workload& workload, const ClusterPrices& prices) {
  AskedPrices asked(prices);
  StepGraph graph = build_without_shares(scenario, workload, asked);
  set_stack_shares(graph, prices);
  return graph;
}

StepGraph build_step_graph(const Scenario& scenario, const Workload& workload) {
  return build_step_graph(scenario, workload, CachedPrices(scenario.cluster));
}

}  // namespace stepcast
