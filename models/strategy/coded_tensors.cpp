#include "models/strategy/coded_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "models/compressor/timed_plan.hpp"
#include "models/scenario/tensor_compressors.hpp"

namespace stepcast {

std::optional<RatioCompressor> by_bytes(const Compressor& compressor) {
  if (std::holds_alternative<NoCompressor>(compressor)) return RatioCompressor{};
  if (const auto* ratio = std::get_if<RatioCompressor>(&compressor)) return *ratio;
  return {};
}

bool Chosen::has_coded() const {
  return std::any_of(coded.begin(), coded.end(), [](const std::vector<Tensor>& tensors) { return !tensors.empty(); });
}

void add(Chosen& to, Chosen other) {
  to.whole += other.whole;
  to.coded.resize(std::max(to.coded.size(), other.coded.size()));
  for (std::size_t m = 0; m < other.coded.size(); ++m)
    std::move(other.coded[m].begin(), other.coded[m].end(), std::back_inserter(to.coded[m]));
}

void add_assumption(std::string& all, const Method& method, const std::string& text) {
  if (!text.empty()) join_assumptions(all, fmt::format("payload of {} assumed: {}", name_of(method.compressor), text));
}

void assume_even_parts(std::string& all, const Method& method, const CodecPlan& plan) {
  const bool keeps_some = class_of(method.compressor) == CompressorClass::sparsification ||
                          std::holds_alternative<QsparseLocalSgd>(method.compressor);
  if (size_exchange(plan) > Bytes{} || (keeps_some && plan.assumed.empty()))
    add_assumption(all, method, "elements kept are spread evenly over the workers' parts");
}

void join_assumptions(std::string& all, const std::string& other) {
  constexpr std::string_view kBetween = "; ";
  for (std::size_t from = 0; from < other.size();) {
    const std::size_t to = std::min(other.find(kBetween, from), other.size());
    const std::string one = other.substr(from, to - from);
    if (all.find(one) == std::string::npos) all.append(all.empty() ? "" : kBetween).append(one);
    from = to + kBetween.size();
  }
}

Chosen choose(const GraphInput& input, const Bucket& bucket, bool cut) {
  Chosen chosen;
  if (by_bytes(input.compressor())) return chosen;
  const Workload& workload = input.workload;
  if (cut) {
    const std::int64_t elements = std::max<std::int64_t>(1, std::llround(bucket.bytes / size_of(workload.dtype)));
    chosen.coded = {{{{elements}, workload.dtype}}};
    return chosen;
  }
  chosen.coded.resize(input.methods.size());
  for (std::size_t i = bucket.first; i < bucket.last; ++i) {
    Tensor tensor{workload.gradients[i].shape(), workload.dtype};
    if (const auto method = compressor_of(input.codec, input.others, workload.gradients[i]))
      chosen.coded[*method].push_back(std::move(tensor));
    else chosen.whole += tensor.dense();
  }
  return chosen;
}

std::vector<Tensor> share_of(const Method& method, std::vector<Tensor> group, int pieces) {
  if (pieces == 1) return group;
  if (class_of(method.compressor) != CompressorClass::low_rank && !works_on_matrices(method.compressor))
    return {slice_of(group, pieces)};
  for (Tensor& tensor : group) tensor.shape.front() = (tensor.shape.front() + pieces - 1) / pieces;
  return group;
}

Tensor slice_of(const std::vector<Tensor>& group, int p) {
  const Tensor flat = flattened(group);
  return {{(flat.elements() + p - 1) / p}, flat.dtype};
}

CodecPlan plan_of(const Method& method, std::span<const Tensor> group, int workers) {
  if (!method.rates) return make_plan(method.compressor, group, workers);
  return timed_plan(method.compressor, group, workers, *method.rates);
}

std::optional<Seconds> whole_time(const Method& method, const std::vector<Tensor>& tensors, int g) {
  if (!method.rates || !method.rates->codec || method.rates->codec->decode) return {};
  const CodecEntry& whole = *method.rates->codec;
  Seconds sum{};
  for (const Tensor& tensor : tensors)
    sum += whole.per_tensor + whole.per_rank * rank_of(method.compressor, tensor) +
           whole.per_element * (static_cast<double>(tensor.elements()) / g);
  return sum;
}

}  // namespace stepcast
