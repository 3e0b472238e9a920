#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const Threshold& x, const Tensor& tensor) {
  // Payload: Dutta et al. 2020, "hard threshold" (section not known): values and indices above the threshold.
  const std::int64_t count = expected_count(x.density, tensor);
  const Bytes dense = tensor.dense(),
              wire = static_cast<double>(count) * (size_of(tensor.dtype) + index_width(tensor, x.packing, x.framework));
  CodecPlan plan;
  // Compaction first counts, to find each block's output position.
  plan.stages = {{{sweep("count", dense, {}, tensor, 2), sweep("compact", dense, wire, tensor, 2)},
                  {{"values and indices", Primitive::all_gather_unequal, wire, size_width(x.packing, x.framework)}}}};
  plan.decode = sparse_decode(wire, count, tensor, x.packing);
  plan.assumed =
      fmt::format("density {} of elements above {}{}, alike on all workers", x.density,
                  x.threshold ? fmt::format("{}", *x.threshold) : "the threshold",
                  x.evidence == Evidence::assumed ? "" : fmt::format(", {}, holds in every step", name_of(x.evidence)));
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
