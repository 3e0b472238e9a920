#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const Dgc& x, const Tensor& tensor) {
  // Payload: Lin et al. 2018, section 4.1 (recalled): 32-bit values with 16-bit run lengths of zeros, 6 B each. The
  // 32-bit indices are GRACE's; they also permit the sum, like top-k here: 8 B each.
  const std::int64_t count =
      std::min(tensor.elements(),
               static_cast<std::int64_t>(std::llround(static_cast<double>(kept(x.ratio, tensor)) * x.selected)));
  // Only the tensorflow version of dgc.py narrows indices to int32.
  const bool wide = x.packing == Packing::grace && x.framework != Framework::tensorflow;
  const Bytes dense = tensor.dense(),
              wire = static_cast<double>(count) * (size_of(tensor.dtype) + (wide ? 8_B : index_width(tensor)));
  const double sample = std::max(1.0, std::floor(0.01 * static_cast<double>(tensor.elements())));
  CodecPlan plan;
  // u ← μu + g, v ← v + u: reads g, u, v, writes u, v.
  plan.compensate = {sweep("momentum-correction", 3.0 * dense, 2.0 * dense, tensor, 3)};
  auto& stage = plan.stages.emplace_back();
  stage.encode = {{"sample", Bytes(8 * sample), Bytes(4 * sample), Flops(kRandomFlops * sample)}, radix_select(sample)};
  if (x.search_sweeps > 0) {
    CodecKernel search = sweep("count", dense, {}, tensor, 2);
    search.repeats = x.search_sweeps;
    stage.encode.push_back(search);
  }
  stage.encode.push_back(sweep("compact", dense, wire, tensor, 2));
  stage.messages = {{"values and indices", Primitive::all_gather_unequal, wire, size_width(x.packing, x.framework)}};
  plan.decode = sparse_decode(wire, count, tensor, x.packing);
  // Clears u and v at the sent elements.
  plan.remember = {sweep("clear-sent", 2.0 * dense, 2.0 * dense, tensor, 2)};
  plan.kept = 2;
  plan.recodable = true;
  plan.assumed = fmt::format("{} times k elements pass the threshold, found in {} sweeps", x.selected, x.search_sweeps);
  return plan;
}

}  // namespace stepcast
