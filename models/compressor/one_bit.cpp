#include "models/compressor/passes.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const OneBit& x, const Tensor& tensor) {
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), x.packing == Packing::grace ? 8 : 1) + 8_B;
  CodecPlan plan;
  // One sweep compares, packs, and adds up the elements of either sign and their number.
  plan.stages = {{{sweep("sign-means", dense, wire, tensor, 3)}, {{"signs and means", Primitive::all_gather, wire}}}};
  plan.decode = decode_sum(wire, tensor, 1, x.packing);
  add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
