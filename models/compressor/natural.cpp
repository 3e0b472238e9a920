#include "models/compressor/passes.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const Natural& x, const Tensor& tensor) {
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), 8);
  CodecPlan plan;
  // On the bits of the number: random mantissa added, exponent masked, clipped and shifted.
  plan.stages = {
      {{sweep("round-exponent", dense, wire, tensor, 5 + kRandomFlops)}, {{"exponents", Primitive::all_gather, wire}}}};
  plan.decode = decode_sum(wire, tensor, 3, x.packing);
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
