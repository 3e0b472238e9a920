#include "models/compressor/passes.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const TopK& x, const Tensor& tensor) {
  const std::int64_t k = kept(x.ratio, tensor);
  const Bytes wire = static_cast<double>(k) * (size_of(tensor.dtype) + index_width(tensor, x.packing, x.framework));
  CodecPlan plan;
  plan.stages = {{{select_compact(tensor, wire)}, {{"values and indices", Primitive::all_gather, wire}}}};
  plan.decode = sparse_decode(wire, k, tensor, x.packing);
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
