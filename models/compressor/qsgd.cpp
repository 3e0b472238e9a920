#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const Qsgd& x, const Tensor& tensor) {
  // Payload: Alistarh et al. 2017, section 3.1 (recalled): for each bucket a norm, signs and levels 0 to s. The paper
  // uses an Elias code (section 3.2, recalled) with data-dependent length; here each code has ceil(lg(2s+1)) bits.
  const std::int64_t d = tensor.elements();
  const bool grace = x.packing == Packing::grace;
  const std::int64_t bucket = x.bucket ? *x.bucket : grace && x.framework == Framework::dist ? 128 : d;
  const std::int64_t buckets = (d + bucket - 1) / bucket;
  const Bytes norms(4.0 * static_cast<double>(buckets));
  const int bits = grace ? (x.levels < 128 ? 8 : 16) : code_width(2 * std::int64_t{x.levels} + 1);
  const Bytes dense = tensor.dense(), wire = packed_bits(d, bits) + norms;
  CodecPlan plan;
  // Quantization: magnitude, scale, floor, random number, compare, add, sign.
  plan.stages = {
      {{sweep("norm", dense, norms, tensor, 2), sweep("quantize", dense + norms, wire, tensor, 6 + kRandomFlops)},
       gathered_parts("levels", wire - norms, "norms", norms, x.packing)}};
  plan.decode = decode_sum(wire, tensor, 2, x.packing);
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
