#include "models/strategy/gossip_message.hpp"

#include <algorithm>
#include <optional>

#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// One fused kernel on all elements: it reads and writes some vectors of `each` bytes.
CodecKernel on_vectors(const char* name, Bytes each, double read, double written) {
  return {.kernel = name, .read = each * read, .written = each * written};
}

/// Adds the power steps of d edges.
void add_power_steps(GossipMessage& message, const CodecPlan& plan, const Method& method, std::optional<Seconds> own,
                     int d) {
  const auto time = [&](const std::vector<CodecKernel>& kernels) {
    return own ? Seconds{} : price(kernels, *method.rates) * static_cast<double>(d);
  };
  message.stages.resize(std::max(message.stages.size(), plan.stages.size()));
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    GossipStage& stage = message.stages[s];
    stage.encode += time(plan.stages[s].encode);
    stage.bytes += pushed(plan.stages[s]);
    stage.added += pushed(plan.stages[s]);
  }
  if (own) message.stages.front().encode += *own * static_cast<double>(d);
  message.decode += time(plan.decode.first);
}

}  // namespace

GossipMessage message_of(const GraphInput& input, const Bucket& whole, int neighbours, int pieces) {
  const Bytes n = whole.bytes / pieces;
  if (const auto known = by_bytes(input.compressor())) {
    const Bytes wire = n / known->ratio;
    return {{{n * known->encode_cost, wire, wire}}, n * known->decode_cost, ""};
  }
  const Chosen chosen = choose(input, whole, false);
  const Bytes unchanged = chosen.whole / pieces;
  GossipMessage message{{{{}, unchanged, unchanged}}, {}, ""};
  Bytes coded{};  // without those of power steps
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    const CodecPlan plan = plan_of(method, share_of(method, tensors, pieces), neighbours + 1);
    const auto own = whole_time(method, tensors, pieces);
    add_assumption(message.assumed, method, plan.assumed);
    if (method.traits.stages > 1) return add_power_steps(message, plan, method, own, neighbours);
    for (const Tensor& tensor : tensors) coded += tensor.dense() / pieces;
    const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
    GossipStage& stage = message.stages.front();
    stage.encode += own.value_or(time(plan.stages.front().encode));
    const int decoded = plan.summable() ? std::min(1, neighbours) : neighbours;
    const Seconds others = decoded > 0 ? time(sum_kernels(plan, decoded)) : Seconds{};
    if (!own) message.decode += time(sum_kernels(plan, 1)) + others;
    const Bytes sent = pushed(plan.stages.front());
    stage.bytes += sent;
    if (plan.summable()) stage.added += sent;
  });
  if (coded == Bytes{}) return message;
  // x - x̂ is read from two vectors. At last x, x̂, s, the own message's values and the neighbours' sum give x, x̂ and s.
  const CodecRates& rates = *input.methods.front().rates;
  message.stages.front().encode += price({on_vectors("gossip-difference", coded, 2, 1)}, rates);
  message.decode += price({on_vectors("gossip-average", coded, 5, 3)}, rates);
  return message;
}

GossipMessage message_of_pair(const GraphInput& input, const Bucket& whole, int pieces, int pairs) {
  if (by_bytes(input.compressor())) return message_of(input, whole, 1, pieces);
  const Chosen chosen = choose(input, whole, false);
  const Bytes unchanged = chosen.whole / pieces;
  GossipMessage message{{{{}, unchanged, unchanged}}, {}, ""};
  if (!chosen.has_coded()) return message;
  GossipStage& stage = message.stages.front();
  message.decode =
      price({on_vectors("gossip-average", (whole.bytes - chosen.whole) / pieces, 3, 1)}, *input.methods.front().rates) *
      static_cast<double>(pairs);
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    const CodecPlan plan = plan_of(method, share_of(method, tensors, pieces), 2);
    const auto own = whole_time(method, tensors, pieces);
    const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
    stage.encode += own.value_or(time(plan.stages.front().encode));
    message.decode += time(sum_kernels(plan, 1)) * (pairs + (own ? 0.0 : 1.0));
    stage.bytes += pushed(plan.stages.front());
    add_assumption(message.assumed, method, plan.assumed);
  });
  return message;
}

}  // namespace stepcast
