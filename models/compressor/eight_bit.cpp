#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const EightBit& x, const Tensor& tensor) {
  // Payload: Dettmers 2016, section 2.3, "dynamic tree" (recalled): 8 bits per element, and the tensor's maximum.
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), 8) + 4_B;
  CodecPlan plan;
  // Quantization: divide, magnitude, seven steps of binary search among 128 entries, sign.
  plan.stages = {{{sweep("max-abs", dense, 4_B, tensor, 2), sweep("quantize", dense, wire, tensor, 10)},
                  gathered_parts("codes", wire - 4_B, "scale", 4_B, x.packing)}};
  plan.decode = decode_sum(wire, tensor, 2, x.packing);
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
