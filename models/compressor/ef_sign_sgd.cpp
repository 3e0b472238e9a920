#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const EfSignSgd& x, const Tensor& tensor) {
  // Payload: Karimireddy et al. 2019, section 4, algorithm 1 (recalled): sign(p)·|p|₁/d, d + 32 bits per tensor.
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), x.packing == Packing::grace ? 8 : 1) + 4_B;
  CodecPlan plan;
  // One sweep compares, packs and sums magnitudes.
  plan.stages = {
      {{sweep("sign-mean", dense, wire, tensor, 3)}, gathered_parts("signs", wire - 4_B, "mean", 4_B, x.packing)}};
  plan.decode = decode_sum(wire, tensor, 1, x.packing);
  add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
