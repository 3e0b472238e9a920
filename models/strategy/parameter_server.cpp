// SGD with a parameter server of M shards; shard_placement.hpp gives their hosts. Workers push each bucket of gradients
// to the shards. The shards add the pushes and update their part of the parameters. The workers pull the new
// parameters.
//
// Synchronous: a shard updates after all workers have pushed. Dedicated servers, or one co-located shard, use one link
// direction for pushes and the other for pulls, so each has a stream. Several co-located shards use the same links for
// both, so pushes and pulls share one stream. Its order is the order in which they would be ready on a worker of speed
// 1 in an isolated step. Since this order depends on times, an improvement may make a step longer
// (docs/monotonicity.md). A sender has one bucket in flight at a time. A worker pushes the next bucket when all shards
// have the last one; a shard sends the next one when all workers have the last one. Asynchronous and stale-synchronous:
// each worker exchanges with each shard independently. It pushes bucket after bucket and copies like synchronous
// workers. With equal shards, a single worker therefore takes the same time in both modes.
//
// Hosts copy one message after another. A worker copies all of a bucket's messages before they leave and after they
// arrive; copies out and in run side by side. A shard's copies, in and out, are part of its serving, so the copies of
// all workers add up.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

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
          shards, ShardPart{tensors_of(input, bucket, false), bucket.bytes / strategy.shards, 1.0 / strategy.shards});
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
      for (Tensor& one : tensors_of(input, {tensor, tensor + 1, gradients[tensor].bytes, {}}, false))
        part.tensors.push_back(std::move(one));
    }
  }
  return parts;
}

/// The path of a bucket to the shards and back.
struct CodedBucket {
  std::vector<CodedPart> parts;  ///< by shard; all zero if the bucket has nothing for the shard
  Seconds encode{}, decode{};    ///< on the worker
};

class Builder {
 public:
  Builder(const ParameterServerStrategy& strategy, const GraphInput& input)
      : strategy_(strategy),
        input_(input),
        buckets_(make_buckets(input.workload, strategy.exchange)),
        parts_(divide(strategy, input, buckets_)) {
    overlap_ = strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model;
    graph_.shards = filled_shards(strategy, input);
    graph_.shards_co_located = strategy.placement == ServerPlacement::co_located;
    compute_ = graph_.add_stream("compute");
    codec_ = add_codec_stream(graph_, compute_, input_);
    for (const auto& parts : parts_) coded_.push_back(code(parts));
  }

  StepGraph build() {
    forward_ = add_forward(graph_, compute_, input_.workload);
    // A single worker beside its shard has no exchange that could slow its backward pass.
    const bool exchanges = !graph_.shards_co_located || input_.cluster.workers > 1;
    std::vector<Seconds> encode;
    for (const CodedBucket& bucket : coded_) encode.push_back(bucket.encode);
    backward_ = add_backward(graph_, compute_, codec_, input_, buckets_,
                             overlap_ && exchanges ? strategy_.exchange.backward_slowdown : 1.0, encode);
    if (strategy_.consistency == Consistency::synchronous) synchronous();
    else asynchronous();
    return std::move(graph_);
  }

 private:
  CodedBucket code(const std::vector<ShardPart>& parts) {
    const int messages = strategy_.consistency == Consistency::synchronous ? input_.cluster.workers : 1;
    CodedBucket coded;
    for (const ShardPart& part : parts) {
      // Shards with equal shares of the same tensors all have the cost of the first one.
      const bool split = part.share < 1.0 && !coded.parts.empty();
      if (part.bytes == Bytes{}) coded.parts.emplace_back();
      else
        coded.parts.push_back(split ? coded.parts.front()
                                    : coded_part(input_, part, messages, strategy_.two_way, reduction_cost()));
      const CodedPart& one = coded.parts.back();
      graph_.payload += one.push;
      if (graph_.assumed.empty()) graph_.assumed = one.assumed;
      if (split) continue;
      coded.encode += one.encode;
      coded.decode += one.decode;
    }
    return coded;
  }

  /// A bucket may be pushed after its encoding and, without overlap, after back-propagation.
  void depend_on_ready(TaskId push, std::size_t bucket) {
    graph_.depend(push, backward_.ready[bucket]);
    if (!overlap_) graph_.depend(push, backward_.end);
  }

  /// Without two-way, parameters come back, the next forward pass waits for them, and the worker has no update. With
  /// it, compressed sums of gradients come back; the worker decodes them and updates its parameters.
  void finish(const std::vector<TaskId>& pulled) {
    std::vector<Seconds> decode;
    for (const CodedBucket& bucket : coded_) decode.push_back(bucket.decode);
    const auto done = add_decode(graph_, codec_, decode, pulled);
    if (strategy_.two_way) {
      add_update(graph_, compute_, input_.workload, done, forward_);
      return;
    }
    for (const TaskId task : done) graph_.depend(forward_, task, 1);
  }

  [[nodiscard]] SecondsPerByte reduction_cost() const {
    return strategy_.server_reduction_cost.value_or(input_.cluster.reduction_cost);
  }

  /// A shard's host copies every remote worker's message in and its answer out. Returns the cost per byte of one.
  [[nodiscard]] SecondsPerByte copy_cost() const {
    const int remote = input_.cluster.workers - (graph_.shards_co_located ? 1 : 0);
    return input_.cluster.host_cost * static_cast<double>(remote);
  }

  /// The share of the update for `bytes` of parameters, if servers update.
  [[nodiscard]] Seconds update_time(Bytes bytes) const {
    if (strategy_.two_way) return {};
    return input_.workload.update * (strategy_.server_update_factor * (bytes / input_.workload.gradient_bytes));
  }

  /// Pushes and pulls of one bucket, and the shards' work between them.
  struct Bundle {
    ShardWork push{ShardExchange::push, {}}, pull{ShardExchange::pull, {}};
    ServeWork serve;
  };
  [[nodiscard]] std::vector<Bundle> bundles() const {
    std::vector<Bundle> all(buckets_.size());
    for (std::size_t b = 0; b < all.size(); ++b)
      for (std::size_t j = 0; j < coded_[b].parts.size(); ++j) {
        const CodedPart& part = coded_[b].parts[j];
        all[b].push.shard_bytes.push_back(part.push);
        all[b].pull.shard_bytes.push_back(part.pull);
        all[b].serve.time.push_back(part.sum + (part.push + part.pull) * copy_cost() + update_time(parts_[b][j].bytes));
      }
    return all;
  }

  /// The end time of each task so far, on a worker of speed 1 in an isolated step.
  [[nodiscard]] std::vector<Seconds> first_ends() const {
    std::vector<std::vector<TaskId>> waits_for(graph_.tasks.size());
    for (const Dependency& d : graph_.dependencies)
      if (d.lag == 0) waits_for[d.after].push_back(d.before);
    std::vector<Seconds> ends, free(graph_.streams.size());
    for (const Task& task : graph_.tasks) {
      Seconds& stream = free[task.worker_stream];
      for (const TaskId before : waits_for[ends.size()]) stream = std::max(stream, ends[before]);
      stream += std::get<ComputeWork>(task.work).duration;
      ends.push_back(stream);
    }
    return ends;
  }

  /// The time at which each bucket may be pushed, by the rule of depend_on_ready.
  [[nodiscard]] std::vector<Seconds> ready_times() const {
    const std::vector<Seconds> ends = first_ends();
    const auto end_of = [&](TaskId task) { return ends[task]; };
    std::vector<Seconds> ready;
    for (const TaskId task : backward_.ready)
      ready.push_back(overlap_ ? end_of(task) : std::max(end_of(task), end_of(backward_.end)));
    return ready;
  }

  /// The order of pushes and pulls by readiness, for one link that carries both. Each kind keeps the order of the
  /// buckets. Shards serve in parallel.
  [[nodiscard]] std::vector<ShardExchange> turns(const std::vector<Bundle>& all) const {
    const std::vector<Seconds> ready = ready_times();
    const auto time_of = [&](const ShardWork& work) {
      return input_.prices.shards(work.exchange, work.shard_bytes, true).total();
    };
    std::vector<ShardExchange> turns;
    std::vector<Seconds> served;
    Seconds link{};  // the time at which the link is free
    std::vector<Seconds> shard(graph_.shards);
    const auto serve = [&](const Bundle& bundle) {
      Seconds last = link;
      for (std::size_t j = 0; j < shard.size(); ++j) {
        if (bundle.push.shard_bytes[j] == Bytes{}) continue;
        shard[j] = std::max(shard[j], link) + bundle.serve.time[j];
        last = std::max(last, shard[j]);
      }
      return last;
    };
    for (std::size_t pulls = 0; pulls < all.size();) {
      const std::size_t pushes = served.size();
      if (pushes < all.size() && (pulls == pushes || ready[pushes] <= served[pulls])) {
        link = std::max(link, ready[pushes]) + time_of(all[pushes].push);
        served.push_back(serve(all[pushes]));
        turns.push_back(ShardExchange::push);
      } else {
        link = std::max(link, served[pulls]) + time_of(all[pulls].pull);
        turns.push_back(ShardExchange::pull);
        ++pulls;
      }
    }
    return turns;
  }

  void synchronous() {
    const bool one_link = graph_.shards_co_located && graph_.shards > 1;
    const StreamId push_out = graph_.add_stream(one_link ? "communication" : "push");
    const StreamId pull_in = one_link ? push_out : graph_.add_stream("pull");
    const StreamId push_in = graph_.add_stream(one_link ? "server communication" : "server push", Role::server);
    const StreamId pull_out = one_link ? push_in : graph_.add_stream("server pull", Role::server);
    const StreamId serving = graph_.add_stream("server compute", Role::server);
    std::vector<Bundle> all = bundles();
    const std::size_t count = all.size();
    // With a stream for each kind, only the order within a kind matters.
    std::vector<ShardExchange> order(2 * count, ShardExchange::push);
    if (one_link) order = turns(all);
    else std::fill(order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), ShardExchange::pull);

    std::vector<TaskId> pushed, served, pulled;
    const auto push = [&] {
      const std::size_t b = pushed.size();
      pushed.push_back(
          graph_.add_task({numbered("push", b, count), Phase::exchange, std::move(all[b].push), push_out, push_in}));
      depend_on_ready(pushed.back(), b);
      served.push_back(
          graph_.add_task({numbered("serve", b, count), Phase::serve, std::move(all[b].serve), kNoStream, serving}));
      graph_.depend(served.back(), pushed.back());
    };
    const auto pull = [&] {
      const std::size_t b = pulled.size();
      pulled.push_back(
          graph_.add_task({numbered("pull", b, count), Phase::exchange, std::move(all[b].pull), pull_in, pull_out}));
      graph_.depend(pulled.back(), served[b]);
      // A worker takes part in a pull only after its own push.
      graph_.depend(pulled.back(), pushed[b]);
    };
    for (const ShardExchange turn : order) turn == ShardExchange::push ? push() : pull();
    finish(pulled);
  }

  void asynchronous() {
    graph_.asynchronous = true;
    if (strategy_.consistency == Consistency::stale_synchronous) graph_.staleness = strategy_.bound;
    const std::size_t count = buckets_.size();
    const StreamId copy_out = graph_.add_stream("copy out"), copy_in = graph_.add_stream("copy in");
    for (int shard = 0; shard < graph_.shards; ++shard) {
      const auto stream = [&](const char* what) { return graph_.add_stream(fmt::format("{}, shard {}", what, shard)); };
      lines_.push_back({stream("push"), stream("serve"), stream("pull")});
    }
    std::vector<TaskId> pushed_before, copied_in;
    for (std::size_t b = 0; b < count; ++b) {
      ShardCopy out, in;
      for (const CodedPart& part : coded_[b].parts) {
        out.shard_bytes.push_back(part.push);
        in.shard_bytes.push_back(part.pull);
      }
      const TaskId copied_out =
          graph_.add_task({numbered("copy out", b, count), Phase::exchange, std::move(out), copy_out});
      depend_on_ready(copied_out, b);
      for (const TaskId push : pushed_before) graph_.depend(copied_out, push);
      auto [pushed, pulled] = exchange_with_each(b, copied_out);
      pushed_before = std::move(pushed);
      copied_in.push_back(graph_.add_task({numbered("copy in", b, count), Phase::exchange, std::move(in), copy_in}));
      for (const TaskId pull : pulled) graph_.depend(copied_in.back(), pull);
      for (std::size_t j = 0; j < lines_.size(); ++j)
        if (holds(b, j)) lines_[j].copied_in = copied_in.back();
    }
    finish(copied_in);
  }

  /// The exchange of an asynchronous worker with one shard.
  struct Line {
    StreamId push, serve, pull;
    TaskId copied_in = kNoTask;  ///< for the latest bucket
  };
  struct Transfers {
    std::vector<TaskId> pushed, pulled;
  };

  [[nodiscard]] bool holds(std::size_t bucket, std::size_t shard) const {
    return parts_[bucket][shard].bytes > Bytes{};
  }

  /// Adds a bucket's pushes to all shards, the shards' work and their answers.
  Transfers exchange_with_each(std::size_t b, TaskId copied_out) {
    Transfers all;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      if (!holds(b, j)) continue;
      const auto add = [&](const char* what, Phase phase, Work work, StreamId stream, TaskId before) {
        const TaskId task = graph_.add_task(
            {fmt::format("{}, shard {}", numbered(what, b, buckets_.size()), j), phase, std::move(work), stream});
        graph_.depend(task, before);
        return task;
      };
      const CodedPart& part = coded_[b].parts[j];
      const int shard = static_cast<int>(j);
      all.pushed.push_back(add("push", Phase::exchange, ShardTransfer{ShardExchange::push, shard, part.push},
                               lines_[j].push, copied_out));
      const TaskId served = add("serve", Phase::serve,
                                ShardServe{shard, part.sum + update_time(parts_[b][j].bytes), part.push + part.pull},
                                lines_[j].serve, all.pushed.back());
      all.pulled.push_back(
          add("pull", Phase::exchange, ShardTransfer{ShardExchange::pull, shard, part.pull}, lines_[j].pull, served));
      // A shard's buffer is in use until the worker has copied its content.
      if (lines_[j].copied_in != kNoTask) graph_.depend(all.pulled.back(), lines_[j].copied_in);
    }
    return all;
  }

  const ParameterServerStrategy& strategy_;
  const GraphInput& input_;
  std::vector<Bucket> buckets_;
  std::vector<std::vector<ShardPart>> parts_;
  std::vector<CodedBucket> coded_;
  std::vector<Line> lines_;  ///< by shard, asynchronous
  bool overlap_ = false;
  StepGraph graph_;
  StreamId compute_ = kNoStream, codec_ = kNoStream;
  TaskId forward_ = 0;
  BackwardPass backward_;
};

}  // namespace

StepGraph build_parameter_server(const ParameterServerStrategy& strategy, const GraphInput& input) {
  return Builder(strategy, input).build();
}

}  // namespace stepcast
