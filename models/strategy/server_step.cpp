#include "models/strategy/server_step.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/part/host_costs.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/price/shard_copies.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// Whether each part of a bucket goes to one shard as a whole.
bool places_parts(const ParameterServerStrategy& strategy) {
  return strategy.balance == ShardBalance::greedy && strategy.exchange.partition;
}

/// The number of shards with content: there may be fewer whole tensors or parts than shards. Empty shards take no part,
/// not even in the placement.
int filled_shards(const ParameterServerStrategy& strategy, std::size_t tensors, std::size_t parts) {
  if (strategy.balance == ShardBalance::split) return strategy.shards;
  return std::min(strategy.shards, static_cast<int>(places_parts(strategy) ? parts : tensors));
}

/// By item: its shard. The largest one goes first, to the shard with the fewest bytes.
std::vector<std::size_t> place_greedily(const std::vector<Bytes>& items, std::size_t shards) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return items[a] > items[b]; });
  std::vector<Bytes> load(shards);
  std::vector<std::size_t> shard_of(items.size());
  for (const std::size_t item : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[lightest] += items[item];
    shard_of[item] = lightest;
  }
  return shard_of;
}

/// parts[bucket][shard]: the part of a bucket for each of its shards.
std::vector<std::vector<ShardPart>> divide(const ParameterServerStrategy& strategy, const GraphInput& input,
                                           const std::vector<Bucket>& buckets, std::size_t shards) {
  const std::vector<Gradient>& gradients = input.workload.gradients;
  std::vector<std::vector<ShardPart>> parts;
  if (strategy.balance == ShardBalance::split) {
    for (const Bucket& bucket : buckets)
      parts.emplace_back(
          shards, ShardPart{choose(input, bucket, false), bucket.bytes / strategy.shards, 1.0 / strategy.shards});
    return parts;
  }
  if (places_parts(strategy)) {
    for (const Bucket& bucket : buckets) {
      parts.emplace_back(shards);
      parts.back().front() = {choose(input, bucket, false), bucket.bytes, 1};
    }
    return parts;
  }
  std::vector<Bytes> tensors;
  for (const Gradient& gradient : gradients) tensors.push_back(gradient.bytes);
  const std::vector<std::size_t> shard_of = place_greedily(tensors, shards);
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
      parts(parts_of(buckets, strategy.exchange.partition)) {
  overlap = strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model;
  graph.shards = filled_shards(strategy, input.workload.gradients.size(), parts.size());
  shares_ = divide(strategy, input, buckets, static_cast<std::size_t>(graph.shards));
  if (places_parts(strategy)) place_parts();
  graph.shards_co_located = strategy.placement == ServerPlacement::co_located;
  for (int j = 0; j < graph.shards; ++j)
    copies_.push_back(shard_copies(input.cluster, graph.shards, graph.shards_co_located, j));
  compute_ = graph.add_stream("compute");
  codec_ = add_codec_stream(graph, compute_, input);
  const int p = input.cluster.workers;
  if (strategy.sum_in_machine) workers_of_machine_ = std::min(host_costs(input.cluster).workers_of_machine, p);
  if (workers_of_machine_ > 1) {
    sums_ = graph.add_stream(one_link() ? "in machines" : "sum in machines");
    spreads_ = one_link() ? sums_ : graph.add_stream("gather in machines");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      inside_.push_back(begins_bucket(parts, i)
                            ? inside_machines(input, buckets[parts[i].bucket], workers_of_machine_, parts[i].of,
                                              strategy.two_way)  // else parameters come back
                            : inside_.back());
      graph.payload += inside_.back().payload;
      join_assumptions(graph.assumed, inside_.back().assumed);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool begins = begins_bucket(parts, i);
    coded.push_back(begins ? code(i) : coded.back());
    if (!shard_of_part_.empty())
      std::swap(coded.back().shards[begins ? 0 : shard_of_part_[i - 1]], coded.back().shards[shard_of_part_[i]]);
    for (const CodedPart& one : coded.back().shards) {
      for (const ShardStage& stage : one.stages) graph.payload += stage.push;
      join_assumptions(graph.assumed, one.assumed);
    }
    decodes_ = decodes_ || coded.back().decode > Seconds{} || (!inside_.empty() && inside_[i].decode > Seconds{});
  }
  graph.local_steps = strategy.period();
  graph.payload *= static_cast<double>(strategy.period()) / strategy.steps;
  begin_round(rounds_of(strategy).front(), {});
}

void ServerStep::place_parts() {
  std::vector<Bytes> bytes;
  for (const BucketPart& part : parts) bytes.push_back(part.bytes);
  shard_of_part_ = place_greedily(bytes, static_cast<std::size_t>(graph.shards));
}

void ServerStep::begin_round(const ServerRound& round, const std::vector<TaskId>& pulled) {
  end_backward();
  TaskId first = kNoTask;
  if (!round.pushes) {
    const LocalSteps local = add_local_steps(graph, compute_, input.workload, round.steps);
    first = local.first.front();
    backward_.end = local.last.front();
  } else if (strategy.exchange.priority) {
    add_forward_by_use();
  } else {
    first = add_forward(round.steps - 1);
  }
  if (round.pushes) add_backward();
  if (round.pushes && !round.pulls)
    graph.add_task({"update", Phase::update, ComputeWork{input.workload.update}, compute_});
  for (const TaskId before : pulled) graph.depend(first, before);
  if (first_ == kNoTask) first_ = first;
}

/// Returns the first task.
TaskId ServerStep::add_forward(int local_steps) {
  const TaskId first =
      local_steps > 0 ? add_local_steps(graph, compute_, input.workload, local_steps).first.front() : kNoTask;
  const TaskId forward = stepcast::add_forward(graph, compute_, input.workload);
  return first == kNoTask ? forward : first;
}

void ServerStep::add_forward_by_use() {
  std::vector<BucketUse> use =
      strategy.two_way ? updates_of(input.workload, buckets) : std::vector<BucketUse>(buckets.size());
  for (std::size_t i = 0; decodes_ && i < parts.size(); ++i) {
    use[parts[i].bucket].decode += coded[i].decode;
    if (inside_.empty()) continue;
    use[parts[i].bucket].spread.push_back(inside_[i].spread);
    use[parts[i].bucket].decode_inner += inside_[i].decode;
  }
  first_use_ = add_forward_by_buckets(graph, {compute_, codec_, spreads_}, input, buckets, use);
}

void ServerStep::add_backward() {
  // A single worker beside its shard has no exchange that could slow its backward pass.
  const bool exchanges = !graph.shards_co_located || input.cluster.workers > 1;
  const double slowdown = overlap && exchanges ? input.cluster.stack.backward_slowdown : 1.0;
  if (!inside_.empty()) {
    std::vector<SummedPart> summed;
    for (std::size_t i = 0; i < parts.size(); ++i)
      summed.push_back({inside_[i].encode, inside_[i].sum, coded[i].encode.front(), {}});
    summed_.emplace(graph, SummedBackward::Streams{compute_, sums_, codec_}, input, buckets, parts, std::move(summed),
                    SummedBackward::Options{slowdown, overlap, false, {}});
    return;
  }
  std::vector<Seconds> encode;
  for (const CodedShards& part : coded) encode.push_back(part.encode.front());
  backward_ = stepcast::add_backward(graph, compute_, codec_, input, buckets, slowdown, parts, encode);
}

bool ServerStep::one_link() const {
  return strategy.consistency == Consistency::synchronous &&
         (!strategy.duplex || (graph.shards_co_located && graph.shards > 1));
}

ServerStep::CodedShards ServerStep::code(std::size_t i) const {
  const BucketPart& part = parts[i];
  const int p = input.cluster.workers, g = workers_of_machine_;
  const bool alone =
      strategy.consistency == Consistency::asynchronous || strategy.consistency == Consistency::stale_synchronous;
  const ShardMessages messages{alone ? 1 : workers_of_update(strategy, p) / g, alone ? 1 : g, g * part.of};
  CodedShards of_shards;
  for (const ShardPart& share : shares_[part.bucket]) {
    // Shards with equal shares of the same tensors all have the cost of the first one.
    const bool split = share.share < 1.0 && !of_shards.shards.empty();
    if (share.bytes == Bytes{}) of_shards.shards.emplace_back();
    else
      of_shards.shards.push_back(
          split ? of_shards.shards.front()
                : coded_part(input, share, messages, strategy.two_way,
                             strategy.server_reduction_cost.value_or(input.cluster.reduction_cost)));
    if (split) continue;
    const CodedPart& one = of_shards.shards.back();
    of_shards.encode.resize(std::max(of_shards.encode.size(), one.stages.size()));
    for (std::size_t s = 0; s < one.stages.size(); ++s) of_shards.encode[s] += one.stages[s].encode;
    of_shards.decode += one.decode;
  }
  if (!inside_.empty()) {
    of_shards.encode.front() += inside_[i].add;
    of_shards.decode += inside_[i].encode_share;
  }
  return of_shards;
}

void ServerStep::depend_on_ready(TaskId push, TaskId ready) {
  graph.depend(push, ready);
  if (!overlap && !summed_) graph.depend(push, backward_.end);
}

TaskId ServerStep::ready(std::size_t part) { return summed_ ? summed_->add_until_ready(part) : backward_.ready[part]; }

std::vector<Seconds> ServerStep::ready_times() const {
  if (summed_) return summed_->ready_times();
  return times_of_parts(backward_, ends_of_computing(graph, 0), overlap);
}

TaskId ServerStep::add_encode(std::size_t part, std::size_t stage, TaskId received) {
  return add_kernels(graph, codec_, TaskName("encode again", part, parts.size()), Phase::encode,
                     coded[part].encode[stage], received);
}

void ServerStep::end_backward() {
  if (summed_) summed_->add_rest();
}

TaskId ServerStep::add_gathered(std::size_t part, TaskId received) {
  if (inside_.empty()) return received;
  const TaskId gathered = graph.add_task({TaskName("gather in machines", part, parts.size()), Phase::exchange,
                                          CollectiveWork{inside_[part].spread}, spreads_});
  graph.depend(gathered, received);
  return gathered;
}

void ServerStep::finish(std::vector<TaskId> received) {
  end_backward();
  if (decodes_ && !strategy.exchange.priority) {
    std::vector<Seconds> decode, decode_inner(parts.size());
    for (const CodedShards& part : coded) decode.push_back(part.decode);
    for (std::size_t i = 0; i < inside_.size(); ++i) decode_inner[i] = inside_[i].decode;
    received = add_decode(graph, codec_, decode, received);
    for (std::size_t i = 0; i < received.size(); ++i) received[i] = add_gathered(i, received[i]);
    received = add_decode(graph, codec_, decode_inner, received, "decode inner");
  }
  if (strategy.two_way && !strategy.exchange.priority) {
    add_update(graph, compute_, input.workload, received, first_);
    return;
  }
  for (std::size_t i = 0; i < received.size(); ++i)
    graph.depend(first_use_.empty() ? first_ : first_use_[parts[i].bucket], received[i], 1);
}

Seconds ServerStep::update_time(Bytes bytes) const {
  if (strategy.two_way) return {};
  return input.workload.update * (strategy.server_update_factor * (bytes / input.workload.gradient_bytes));
}

Bytes ServerStep::held(std::size_t part, std::size_t shard) const {
  const BucketPart& one = parts[part];
  if (shard_of_part_.empty()) return shares_[one.bucket][shard].bytes / one.of;
  return shard_of_part_[part] == shard ? one.bytes : Bytes{};
}

Seconds ServerStep::work(std::size_t part, std::size_t shard, std::size_t stage, int g) const {
  const Seconds sum = coded[part].stage(shard, stage).sum;
  const bool is_last = stage + 1 == coded[part].shards[shard].stages.size();
  return is_last ? sum + update_time(held(part, shard) / g) : sum;
}

std::size_t ServerStep::stages() const {
  std::size_t most = 1;
  for (const CodedShards& part : coded) most = std::max(most, part.encode.size());
  return most;
}

std::vector<Seconds> ServerStep::serve_times(std::size_t part, std::size_t stage, int updates) const {
  const int g = updates > 1 ? workers_of_machine_ : 1;  // each push has its worker's share
  std::vector<Seconds> serve;
  for (std::size_t j = 0; j < coded[part].shards.size(); ++j) {
    const ShardStage one = coded[part].stage(j, stage);
    serve.push_back(work(part, j, stage, g) * static_cast<double>(updates) + (one.push + one.pull) * copies_[j]);
  }
  return serve;
}

std::vector<PartTimes> ServerStep::times(std::size_t stage, int updates) const {
  std::vector<PartTimes> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PartTimes& part = all.emplace_back();
    std::vector<Bytes> push, pull;
    const std::vector<Seconds> serve = serve_times(i, stage, updates);
    for (std::size_t j = 0; j < serve.size(); ++j) {
      const ShardStage one = coded[i].stage(j, stage);
      push.push_back(one.push);
      pull.push_back(one.pull);
      part.serve.push_back(one.push > Bytes{} ? std::optional(serve[j]) : std::nullopt);
    }
    const auto price = [&](ShardExchange exchange, const std::vector<Bytes>& bytes) {
      return input.prices.for_times().shards(exchange, bytes, graph.shards_co_located).total();
    };
    part.push = price(ShardExchange::push, push);
    part.pull = price(ShardExchange::pull, pull);
  }
  return all;
}

std::vector<Exchanged> ServerStep::by_priority(int updates, bool one_link) const {
  const std::vector<PartTimes> all = times(0, updates);
  const std::vector<Seconds> ready = ready_times();
  std::vector<Turn> pushes;
  for (std::size_t i = 0; i < parts.size(); ++i) pushes.push_back({ready[i], all[i].push, parts[i].bucket});
  return order_by_priority(std::move(pushes), all, graph.shards, one_link);
}

StepGraph build_parameter_server(const ParameterServerStrategy& strategy, const GraphInput& input) {
  ServerStep step(strategy, input);
  if (strategy.consistency == Consistency::synchronous) exchange_with_synchronous_servers(step);
  else exchange_with_asynchronous_servers(step);
  return std::move(step.graph);
}

}  // namespace stepcast
