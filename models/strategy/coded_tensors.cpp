#include "models/strategy/coded_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/compressor/timed_plan.hpp"
#include "models/scenario/whole_tensors.hpp"

namespace stepcast {

std::optional<RatioCompressor> by_bytes(const Compressor& compressor) {
  if (std::holds_alternative<NoCompressor>(compressor)) return RatioCompressor{};
  if (const auto* ratio = std::get_if<RatioCompressor>(&compressor)) return *ratio;
  return {};
}

Chosen choose(const GraphInput& input, const Bucket& bucket, bool cut) {
  Chosen chosen;
  if (by_bytes(input.compressor)) return chosen;
  const Workload& workload = input.workload;
  if (cut) {
    const std::int64_t elements = std::max<std::int64_t>(1, std::llround(bucket.bytes / size_of(workload.dtype)));
    chosen.coded = {{{elements}, workload.dtype}};
    return chosen;
  }
  for (std::size_t i = bucket.first; i < bucket.last; ++i) {
    Tensor tensor{workload.gradients[i].shape(), workload.dtype};
    if (stays_whole(input.codec, workload.gradients[i])) chosen.whole += tensor.dense();
    else chosen.coded.push_back(std::move(tensor));
  }
  return chosen;
}

Tensor slice_of(const std::vector<Tensor>& group, int p) {
  const Tensor flat = flattened(group);
  return {{(flat.elements() + p - 1) / p}, flat.dtype};
}

CodecPlan plan_of(const GraphInput& input, std::span<const Tensor> group, int workers) {
  if (!input.rates) return make_plan(input.compressor, group, workers);
  return timed_plan(input.compressor, group, workers, *input.rates);
}

std::optional<Seconds> whole_time(const GraphInput& input, const std::vector<Tensor>& tensors, int g) {
  if (!input.rates || !input.rates->codec || input.rates->codec->decode) return {};
  const CodecEntry& whole = *input.rates->codec;
  Seconds sum{};
  for (const Tensor& tensor : tensors)
    sum += whole.per_tensor + whole.per_rank * rank_of(input.compressor, tensor) +
           whole.per_element * (static_cast<double>(tensor.elements()) / g);
  return sum;
}

}  // namespace stepcast
