#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const OneBit& x, const Tensor& tensor) {
  // Payload: Seide et al. 2014, section 3.1 (recalled): one bit per element and two means. The paper has means for each
  // matrix column, 8 bytes per column; GRACE and this plan have one pair per tensor.
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), x.packing == Packing::grace ? 8 : 1) + 8_B;
  CodecPlan plan;
  // One sweep compares and packs; it also sums and counts the elements of each sign.
  plan.stages = {
      {{sweep("sign-means", dense, wire, tensor, 3)}, gathered_parts("signs", wire - 8_B, "means", 8_B, x.packing)}};
  plan.decode = decode_sum(wire, tensor, 1, x.packing);
  add_error_feedback(plan, tensor);
  plan.recodable = true;
  return plan;
}

}  // namespace stepcast
