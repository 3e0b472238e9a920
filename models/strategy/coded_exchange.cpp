#include "models/strategy/coded_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/coded_tensors.hpp"
#include "models/strategy/inside_machines.hpp"
#include "models/strategy/island_steps.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

/// A collective of the workers that exchange compressed messages: all, or those of one share on all machines.
CollectiveCall call(const GraphInput& input, Operation operation, const CollectiveChoice& choice, Bytes bytes) {
  return input.prices.decide(operation, fitted(choice, operation), bytes,
                             between_groups(input.summed_workers(), input.cluster.workers));
}

/// The exchange of the tensors that one method compresses.
class Exchanges {
 public:
  /// @param group  tensors of which each worker compresses 1/pieces at a time
  Exchanges(const GraphInput& input, const Method& method, const std::vector<Tensor>& group, int pieces,
            const CollectiveChoice& choice)
      : input_(input),
        method_(method),
        group_(share_of(method, group, pieces)),
        choice_(choice),
        p_(input.cluster.workers / input.summed_workers()),
        plan_(plan_of(method, group_, p_)),
        whole_(whole_time(method, group, pieces)) {}

  CodedExchange by(Carrier carrier) const {
    CodedExchange exchange;
    exchange.payload = payload(plan_);
    add_assumption(exchange.assumed, method_, plan_.assumed);
    const bool in_parts = p_ > 1 && method_.traits.one_gathered_message;
    if (carrier == Carrier::all_to_all && in_parts) all_to_all(exchange);
    else if (carrier == Carrier::all_to_all_once && in_parts) all_to_all_once(exchange);
    else if (carrier == Carrier::in_collective) in_collective(exchange);
    else gathered_or_summed(exchange);
    if (whole_) exchange.stages.front().encode = *whole_;
    return exchange;
  }

 private:
  /// A worker's own kernels take this; beside a whole codec, nothing.
  [[nodiscard]] Seconds time(const std::vector<CodecKernel>& kernels) const {
    return whole_ ? Seconds{} : price(kernels, *method_.rates);
  }

  void gathered_or_summed(CodedExchange& exchange) const {
    for (const Stage& stage : plan_.stages) {
      const bool first = &stage == &plan_.stages.front();
      CodedStage coded{time(first ? joined(plan_.prepare, plan_.compensate, stage.encode) : stage.encode), {}};
      for (const Payload& message : stage.messages) {
        if (message.primitive == Primitive::all_reduce) {
          coded.collectives.push_back(call(input_, Operation::all_reduce, choice_, message.bytes));
          continue;
        }
        if (message.primitive == Primitive::all_gather_unequal)
          coded.collectives.push_back(call(input_, Operation::all_gather, choice_, message.size_exchange * p_));
        coded.collectives.push_back(call(input_, Operation::all_gather, choice_, message.bytes * p_));
      }
      exchange.stages.push_back(std::move(coded));
    }
    exchange.decode = time(decode_kernels(plan_, p_));
  }

  /// A collective of the plan's messages. If their sizes differ, each worker first sends the size for each other one.
  [[nodiscard]] std::vector<CollectiveCall> calls(Operation operation, Bytes bytes, const CodecPlan& plan) const {
    std::vector<CollectiveCall> all;
    if (const Bytes sizes = size_exchange(plan); sizes > Bytes{})
      all.push_back(call(input_, operation, choice_, sizes * p_));
    all.push_back(call(input_, operation, choice_, bytes));
    return all;
  }

  void all_to_all(CodedExchange& exchange) const {
    const Tensor slice = slice_of(group_, p_);
    const CodecPlan part = plan_of(method_, {&slice, 1}, p_);
    exchange.stages = {
        {time(encode_kernels(plan_)), calls(Operation::all_to_all, payload(plan_), plan_)},
        {price(recode_kernels(part, p_), *method_.rates), calls(Operation::all_gather, payload(part) * p_, part)}};
    exchange.decode = time(decode_kernels(plan_, 1));
    assume_even_parts(exchange.assumed, method_, plan_);
  }

  void all_to_all_once(CodedExchange& exchange) const {
    const Tensor slice = slice_of(group_, p_);
    const CodecPlan part = plan_of(method_, {&slice, 1}, p_);
    exchange.stages = {{time(encode_kernels(plan_)), calls(Operation::all_to_all, payload(plan_), plan_)},
                       {.encode = {},
                        .collectives = {call(input_, Operation::all_gather, choice_, slice.dense() * p_)},
                        .sum = time(sum_kernels(part, p_))}};
    exchange.decode = time(plan_.remember);
    assume_even_parts(exchange.assumed, method_, plan_);
  }

  void in_collective(CodedExchange& exchange) const {
    const Tensor slice = slice_of(group_, p_);
    const CodecPlan part = plan_of(method_, {&slice, 1}, p_);
    CollectiveChoice ring = choice_;
    ring.algorithm = Algorithm::ring;
    CollectiveCall all_reduce = call(input_, Operation::all_reduce, ring, payload(part) * p_);
    all_reduce.recode = price(hop_kernels(part, slice), *method_.rates);
    exchange.payload = all_reduce.bytes;
    exchange.stages = {{time(joined(plan_.prepare, plan_.compensate, part.stages.front().encode)), {all_reduce}}};
    exchange.decode = time(decode_kernels(plan_, 1));
  }

  const GraphInput& input_;
  const Method& method_;
  std::vector<Tensor> group_;
  const CollectiveChoice& choice_;
  int p_;  ///< workers that exchange messages
  CodecPlan plan_;
  std::optional<Seconds> whole_;  ///< counted in the first encoding
};

}  // namespace

CodedExchange exchange_between(const GraphInput& input, const Bucket& bucket, bool cut, const CollectiveChoice& choice,
                               Carrier carrier, int parts) {
  const int pieces = input.summed_workers() * parts;
  if (const auto known = by_bytes(input.compressor())) {
    const Bytes share = bucket.bytes / pieces, wire = share / known->ratio;
    return {.stages = {{share * known->encode_cost, {call(input, Operation::all_reduce, choice, wire)}}},
            .decode = share * known->decode_cost,
            .payload = wire,
            .assumed = ""};
  }
  const Chosen chosen = choose(input, bucket, cut);
  CodedExchange exchange{.stages = {CodedStage{}}, .decode = {}, .payload = {}, .assumed = {}};
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    join(exchange, Exchanges(input, method, tensors, pieces, choice).by(carrier));
  });
  if (chosen.whole > Bytes{}) {
    std::vector<CollectiveCall>& first = exchange.stages.front().collectives;
    first.insert(first.begin(), call(input, Operation::all_reduce, choice, chosen.whole / pieces));
    exchange.payload += chosen.whole / pieces;
  }
  return exchange;
}

namespace {

/// The sum of one machine alone, without the scenario's compressor.
CodedExchange exchange_inside(const GraphInput& input, const Bucket& bucket, const CollectiveChoice& choice,
                              int parts) {
  InsideMachines inside = inside_machines(input, bucket, input.cluster.workers, parts, true);
  CodedExchange exchange{
      .stages = {}, .decode = inside.decode, .payload = inside.sum.bytes, .assumed = std::move(inside.assumed)};
  if (inside.sum.algorithm->operation == Operation::reduce_scatter)
    exchange.stages = {{inside.encode, {input.prices.decide(Operation::all_reduce, choice, inside.sum.bytes)}}};
  else
    exchange.stages = {{inside.encode, {inside.sum}, {}, true},
                       {inside.encode_share, {inside.spread}, inside.add, true}};
  return exchange;
}

}  // namespace

CodedExchange coded_exchange(const GraphInput& input, const Bucket& bucket, bool cut, const CollectiveChoice& choice,
                             Carrier carrier, int parts) {
  const int g = input.summed_workers(), p = input.cluster.workers;
  if (g == p && p > 1) return exchange_inside(input, bucket, choice, parts);
  CodedExchange exchange = exchange_between(input, bucket, cut, choice, carrier, parts);
  if (g == 1) return exchange;
  if (input.islands) {
    exchange.spread = gather_in_islands(*input.islands, input, bucket.bytes / parts);
    return exchange;
  }
  const InsideMachines inside = inside_machines(input, bucket, g, parts, true);
  exchange.sum = inside.sum;
  exchange.spread = inside.spread;
  exchange.encode_inner = inside.encode;
  exchange.decode_inner = inside.decode;
  exchange.stages.front().encode += inside.add;
  exchange.decode += inside.encode_share;
  exchange.payload += inside.payload;
  join_assumptions(exchange.assumed, inside.assumed);
  return exchange;
}

void join(CodedExchange& to, CodedExchange other) {
  to.stages.resize(std::max(to.stages.size(), other.stages.size()));
  for (std::size_t s = 0; s < other.stages.size(); ++s) {
    CodedStage& stage = to.stages[s];
    stage.encode += other.stages[s].encode;
    stage.sum += other.stages[s].sum;
    std::move(other.stages[s].collectives.begin(), other.stages[s].collectives.end(),
              std::back_inserter(stage.collectives));
  }
  to.decode += other.decode;
  to.payload += other.payload;
  join_assumptions(to.assumed, other.assumed);
}

namespace {

/// Whether two buckets have the same exchange: tensors of the same shapes, by the same compressors.
bool are_alike(const GraphInput& input, const Bucket& a, const Bucket& b) {
  if (a.bytes != b.bytes) return false;
  const auto gradients = std::span(input.workload.gradients);
  const auto compressor = [&](const Gradient& tensor) { return compressor_of(input.codec, input.others, tensor); };
  const auto same = [&](const Gradient& x, const Gradient& y) {
    return x.elements == y.elements && x.dims == y.dims && compressor(x) == compressor(y);
  };
  const auto of_a = gradients.subspan(a.first, a.last - a.first), of_b = gradients.subspan(b.first, b.last - b.first);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
}

}  // namespace

std::size_t PartExchanges::stages() const {
  std::size_t most = 0;
  for (const CodedExchange& one : unlike_) most = std::max(most, one.stages.size());
  return most;
}

PartExchanges coded_exchanges(StepGraph& graph, const GraphInput& input, const std::vector<Bucket>& buckets,
                              const std::vector<BucketPart>& parts, bool cut, const CollectiveChoice& choice,
                              Carrier carrier) {
  PartExchanges coded;
  std::vector<std::size_t> unlike;  // the first parts of buckets with an exchange of their own
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Bucket& bucket = buckets[parts[i].bucket];
    const auto known = std::find_if(unlike.begin(), unlike.end(), [&](std::size_t first) {
      return parts[first].of == parts[i].of && are_alike(input, buckets[parts[first].bucket], bucket);
    });
    if (known == unlike.end()) {
      unlike.push_back(i);
      coded.add(coded_exchange(input, bucket, cut, choice, carrier, parts[i].of));
      join_assumptions(graph.assumed, coded[i].assumed);
    } else {
      coded.add_again(*known);
    }
    graph.payload += coded[i].payload;
  }
  return coded;
}

std::vector<Seconds> first_encodes(const PartExchanges& parts) {
  std::vector<Seconds> encode;
  for (std::size_t i = 0; i < parts.size(); ++i) encode.push_back(parts[i].stages.front().encode);
  return encode;
}

TaskId add_stage(StepGraph& graph, StreamId communication, StreamId codec, const PartExchanges& parts, std::size_t i,
                 std::size_t s, Seconds negotiation, TaskId ready, TaskId end) {
  const CodedStage& stage = parts[i].stages[s];
  const auto compute = [&](const char* name, Phase phase, Seconds time) {
    if (s > 0) ready = add_kernels(graph, codec, TaskName(name, i, parts.size()), phase, time, ready);
  };
  compute("decode and add", Phase::decode, stage.sum);
  compute(s > 0 && parts[i].stages[s - 1].inside && !stage.inside ? "encode" : "encode again", Phase::encode,
          stage.encode);
  for (const CollectiveCall& call : stage.collectives) {
    std::string name(name_of(call.algorithm->operation));
    if (stage.inside) name += " in machines";
    ready = add_negotiated(graph, communication, TaskName(std::move(name), i, parts.size()), call, negotiation,
                           std::array{ready, end});
  }
  return ready;
}

TaskId add_inside(StepGraph& graph, StreamId communication, const char* name, const std::optional<CollectiveCall>& call,
                  std::size_t i, std::size_t parts, Seconds negotiation, TaskId ready, TaskId end) {
  if (!call) return ready;
  return add_negotiated(graph, communication, TaskName(name, i, parts), *call, negotiation, std::array{ready, end});
}

std::vector<TaskId> add_exchanges(StepGraph& graph, StreamId communication, StreamId codec, const PartExchanges& parts,
                                  Seconds negotiation, std::vector<TaskId> ready, TaskId end, std::size_t first) {
  std::vector<Seconds> decode, decode_inner;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    decode.push_back(parts[i].decode);
    decode_inner.push_back(parts[i].decode_inner);
  }
  const std::size_t stages = parts.stages();
  for (std::size_t s = first; s < stages; ++s)
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (s < parts[i].stages.size())
        ready[i] = add_stage(graph, communication, codec, parts, i, s, negotiation, ready[i], end);
  std::vector<TaskId> done = add_decode(graph, codec, decode, ready);
  for (std::size_t i = 0; i < done.size(); ++i)
    done[i] =
        add_inside(graph, communication, "gather in machines", parts[i].spread, i, done.size(), negotiation, done[i]);
  return add_decode(graph, codec, decode_inner, done, "decode inner");
}

}  // namespace stepcast
