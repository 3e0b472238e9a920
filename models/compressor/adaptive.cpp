#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/hybrid.hpp"

namespace stepcast {

CodecPlan plan(const Adaptive& x, const Tensor& tensor) {
  // Payload: Dryden et al. 2016, section 3.3 (recalled): two means, and for each sent element its index with its sign.
  const std::int64_t count = expected_count(std::min(1.0, x.ratio * x.selected), tensor);
  const Bytes dense = tensor.dense(), wire = 12_B + static_cast<double>(count) * index_width(tensor);
  // Half of the elements have each sign, and 1 % of those are the sample.
  const double sample = std::max(1.0, std::ceil(0.005 * static_cast<double>(tensor.elements())));
  CodecPlan plan;
  auto& stage = plan.stages.emplace_back();
  CodecKernel take{"sample", Bytes(8 * sample), Bytes(4 * sample), Flops(kRandomFlops * sample), 2};
  CodecKernel select = radix_select(sample);
  select.repeats *= 2;
  stage.encode = {take, select};
  if (x.search_sweeps > 0) {
    CodecKernel search = sweep("count", dense, {}, tensor, 3);
    search.repeats = 2 * x.search_sweeps;
    stage.encode.push_back(search);
  }
  // Each sign's indices and the sum of its elements.
  CodecKernel compact = sweep("compact-mean", dense, wire / 2.0, tensor, 4);
  compact.repeats = 2;
  stage.encode.push_back(compact);
  stage.messages = {{"means, count and indices", Primitive::all_gather_unequal, wire, 4_B}};
  plan.decode = sparse_decode(wire, count, tensor, x.packing);
  // The paper's all-reduce quantizes each hop's sum again, at the same share of elements.
  plan.recodable = true;
  plan.assumed = fmt::format("{} times ratio·d elements sent, thresholds found in {} sweeps for either sign",
                             x.selected, x.search_sweeps);
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
