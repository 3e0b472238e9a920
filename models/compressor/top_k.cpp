#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const TopK& x, const Tensor& tensor) {
  // Payload: Aji and Heafield 2017, section 3, algorithm 1 (recalled): k values and their indices, each of 32 bits.
  const std::int64_t k = kept(x.ratio, tensor);
  const Bytes wire = static_cast<double>(k) * (size_of(tensor.dtype) + index_width(tensor, x.packing, x.framework));
  CodecPlan plan;
  const Bytes values = static_cast<double>(k) * size_of(tensor.dtype);
  // Only the tensorflow version of topk.py joins both parts.
  const Packing joined = x.framework == Framework::tensorflow ? Packing::ideal : x.packing;
  plan.stages = {{{select_compact(tensor, wire)}, gathered_parts("values", values, "indices", wire - values, joined)}};
  plan.decode = sparse_decode(wire, k, tensor, x.packing);
  if (x.error_feedback) add_error_feedback(plan, tensor);
  plan.recodable = true;
  return plan;
}

}  // namespace stepcast
