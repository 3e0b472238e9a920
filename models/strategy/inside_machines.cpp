#include "models/strategy/inside_machines.hpp"

#include <utility>
#include <vector>

#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// The tensors of a bucket that the inner compressor encodes, and the bytes of the others.
std::pair<std::vector<Tensor>, Bytes> inner_tensors(const GraphInput& input, const Bucket& bucket) {
  std::vector<Tensor> tensors;
  Bytes whole{};
  for (std::size_t i = bucket.first; i < bucket.last; ++i) {
    const Gradient& gradient = input.workload.gradients[i];
    Tensor tensor{gradient.shape(), input.workload.dtype};
    if (stays_whole(input.codec, gradient)) whole += tensor.dense();
    else tensors.push_back(std::move(tensor));
  }
  return {std::move(tensors), whole};
}

}  // namespace

InsideMachines inside_machines(const GraphInput& input, const Bucket& bucket, int g, int parts, bool back) {
  const auto inside = [&](Operation operation, Bytes bytes) {
    return input.prices.decide(operation, {}, bytes, inside_groups(g, input.cluster.workers));
  };
  const Bytes dense = bucket.bytes / parts;
  const auto uncompressed = [&]() -> InsideMachines {
    return {
        .sum = inside(Operation::reduce_scatter, dense), .spread = inside(Operation::all_gather, dense), .assumed = ""};
  };
  if (!input.inner) return uncompressed();
  const Method& method = *input.inner;
  if (const auto known = by_bytes(method.compressor)) {
    const Bytes wire = dense / known->ratio;
    return {.sum = inside(Operation::reduce_scatter, wire),
            .spread = inside(Operation::all_gather, back ? wire : dense),
            .encode = dense * known->encode_cost,
            .add = dense / g * known->decode_cost,
            .encode_share = back ? dense / g * known->encode_cost : Seconds{},
            .decode = back ? dense * known->decode_cost : Seconds{},
            .payload = wire,
            .assumed = ""};
  }
  auto [tensors, whole] = inner_tensors(input, bucket);
  if (tensors.empty()) return uncompressed();
  whole = whole / parts;
  // A measured codec's time includes its decoding. Sums are added and encoded again by the method's kernels.
  const std::optional<Seconds> codec = whole_time(method, tensors, parts);
  if (parts > 1) tensors = {slice_of(tensors, parts)};
  const Tensor share = slice_of(tensors, g);
  const CodecPlan plan = plan_of(method, tensors, g), of_share = plan_of(method, {&share, 1}, g);
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
  std::vector<CodecKernel> add = sum_kernels(of_share, plan.summable() ? 1 : g);
  if (!plan.summable() && whole > Bytes{}) add.push_back({.kernel = "add", .read = whole, .written = whole / g});
  CodecPlan again = of_share;
  again.prepare.clear();
  InsideMachines machines{
      .sum = inside(plan.summable() ? Operation::reduce_scatter : Operation::all_to_all, payload(plan) + whole),
      .spread = inside(Operation::all_gather, back ? payload(of_share) * g + whole : dense),
      .encode = codec.value_or(time(back ? encode_kernels(plan) : joined(encode_kernels(plan), plan.remember))),
      .add = time(add),
      .encode_share = back ? time(joined(encode_kernels(again), again.remember)) : Seconds{},
      .decode = back && !codec ? time(decode_kernels(plan, 1)) : Seconds{},
      .payload = payload(plan) + whole,
      .assumed = ""};
  add_assumption(machines.assumed, method, plan.assumed);
  if (size_exchange(plan) > Bytes{})
    add_assumption(machines.assumed, method, "messages inside machines are padded to one size");
  return machines;
}

}  // namespace stepcast
