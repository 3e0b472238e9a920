#include "models/strategy/coded_part.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/unit/units.hpp"

namespace stepcast {
namespace {

/// Passes over a share of the same data: the same number of launches, less memory and arithmetic.
std::vector<CodecKernel> scaled(std::vector<CodecKernel> kernels, double share) {
  for (CodecKernel& kernel : kernels) {
    kernel.read *= share;
    kernel.written *= share;
    kernel.flops *= share;
    kernel.fixed *= share;
  }
  return kernels;
}

/// A worker's kernels for the sum of p messages that comes back as it is. A sum of gathered messages is as long as several.
std::vector<CodecKernel> answer_kernels(const CodecPlan& plan, int p) {
  const std::vector<CodecKernel> first = sum_kernels(plan, 1);
  const double more = answer(plan.stages.back()) / pushed(plan.stages.back()) - 1;
  if (plan.summable() || p == 1 || more <= 0) return first;
  return joined(first, scaled(plan.decode.further, more));
}

/// The stages of one method's tensors.
CodedPart coded_by(const Method& method, const std::vector<Tensor>& tensors, double share,
                   const ShardMessages& messages, bool two_way, SecondsPerByte gamma) {
  const CodecPlan plan = plan_of(method, share_of(method, tensors, messages.pieces), messages.added);
  // A whole codec is a worker's; a server sums by the method's kernels.
  const std::optional<Seconds> whole = whole_time(method, tensors, messages.pieces);
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
  CodedPart coded;
  add_assumption(coded.assumed, method, plan.assumed);
  for (const Stage& stage : plan.stages) {
    ShardStage& next = coded.stages.emplace_back();
    if (!whole) next.encode = time(stage.encode);
    next.push = pushed(stage) * share;
    next.pull = answer(stage) * share;
    if (plan.summable()) next.sum = next.push * gamma * messages.added * messages.sums;
  }
  coded.stages.front().encode += whole.value_or(time(joined(plan.prepare, plan.compensate)));
  ShardStage& last = coded.stages.back();
  if (!whole) last.encode += time(plan.remember);
  if (!two_way) last.pull = {};  // parameters come back
  const bool as_it_is = two_way && last.pull > Bytes{};
  const int decoded = plan.summable() ? 1 : messages.added;
  if (!as_it_is || !plan.summable())
    last.sum += time(scaled(two_way && !as_it_is ? recode_kernels(plan, decoded) : sum_kernels(plan, decoded), share)) *
                messages.sums;
  if (two_way && !as_it_is) last.pull = last.push;
  if (two_way && !whole) coded.decode = time(as_it_is ? answer_kernels(plan, messages.added) : sum_kernels(plan, 1));
  return coded;
}

/// Adds the exchange of the same shard's tensors by another method, stage by stage.
void join(CodedPart& to, CodedPart other) {
  to.stages.resize(std::max(to.stages.size(), other.stages.size()));
  for (std::size_t s = 0; s < other.stages.size(); ++s) {
    to.stages[s].encode += other.stages[s].encode;
    to.stages[s].push += other.stages[s].push;
    to.stages[s].pull += other.stages[s].pull;
    to.stages[s].sum += other.stages[s].sum;
  }
  to.decode += other.decode;
  join_assumptions(to.assumed, other.assumed);
}

}  // namespace

CodedPart coded_part(const GraphInput& input, const ShardPart& part, const ShardMessages& messages, bool two_way,
                     SecondsPerByte gamma) {
  const double added = messages.added, sums = messages.sums;
  const Bytes dense = part.bytes / messages.pieces;
  CodedPart coded{.stages = {{}}, .decode = {}, .assumed = {}};
  ShardStage& first = coded.stages.front();
  if (const auto known = by_bytes(input.compressor())) {
    const Bytes whole = dense / part.share;
    first.encode = whole * known->encode_cost;
    first.push = dense / known->ratio;
    first.pull = two_way ? first.push : dense;
    first.sum = (first.push * gamma * added + dense * known->decode_cost) * sums;
    if (two_way) {
      first.sum += dense * known->encode_cost * sums;
      coded.decode = whole * known->decode_cost;
    }
    return coded;
  }
  const Chosen& chosen = part.tensors;
  const Bytes unchanged = chosen.whole * part.share / messages.pieces;
  first.push = first.pull = unchanged;
  first.sum = first.push * gamma * added * sums;
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    join(coded, coded_by(method, tensors, part.share, messages, two_way, gamma));
  });
  // A shard waits for a message of every worker, even if a sparse method kept nothing of a small tensor.
  for (ShardStage& stage : coded.stages) stage.push = std::max(stage.push, 1_B);
  if (two_way || !chosen.has_coded()) {
    for (ShardStage& stage : coded.stages) stage.pull = std::max(stage.pull, 1_B);
    return coded;
  }
  // Parameters come back with the last answer.
  if (coded.stages.size() > 1) coded.stages.front().pull -= unchanged;
  coded.stages.back().pull = dense;
  return coded;
}

}  // namespace stepcast
