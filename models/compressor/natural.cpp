#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const Natural& x, const Tensor& tensor) {
  // Payload: Horváth et al. 2019, section 2 (recalled): sign and 8 exponent bits of binary32, a ratio of 32/9 = 3.56.
  const int bits = x.code_bits();
  const Bytes dense = tensor.dense(), wire = packed_bits(tensor.elements(), bits);
  CodecPlan plan;
  // Works on the number's bits: adds a random mantissa, then masks, clips and shifts the exponent. The measured kernel
  // round-exponent writes codes of one byte; no kernel for 9-bit codes exists yet.
  const char* kernel = bits == 8 ? "round-exponent" : "round-exponent-9-bit";
  plan.stages = {
      {{sweep(kernel, dense, wire, tensor, 5 + kRandomFlops)}, {{"exponents", Primitive::all_gather, wire}}}};
  plan.decode = decode_sum(wire, tensor, 3, x.packing);
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
