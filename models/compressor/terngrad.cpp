#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const TernGrad& x, const Tensor& tensor) {
  // Payload: Wen et al. 2017, section 3.1 and equation 1 (recalled): one scale per tensor, three values, lg 3 bits at
  // best. The plan sends two bits, as is usual.
  const bool grace = x.packing == Packing::grace;
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), grace ? 8 : 2) + 4_B;
  CodecPlan plan;
  // Sums and squares give the deviation; then the maximum after clipping; then clip, random number, compare, sign.
  auto& encode = plan.stages.emplace_back().encode;
  encode = {sweep("moments", dense, 8_B, tensor, 3), sweep("clipped-max", dense, 4_B, tensor, 3),
            sweep("quantize", dense, wire, tensor, 4 + kRandomFlops)};
  if (grace && x.framework == Framework::torch) encode.push_back({"host-read", 4_B, 4_B, {}, 2});
  plan.stages[0].messages = gathered_parts("ternary codes", wire - 4_B, "scale", 4_B, x.packing);
  plan.decode = decode_sum(wire, tensor, 1, x.packing);
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
