#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const Fp16& x, const Tensor& tensor) {
  // Payload: a half has 16 bits (IEEE 754-2008, table 3.5).
  if (size_of(tensor.dtype) == 2_B) return uncompressed(tensor);
  const Bytes dense = tensor.dense(), wire = dense / 2.0;
  CodecPlan plan;
  plan.stages = {{{sweep("cast", dense, wire, tensor, 1)}, {{"halves", Primitive::all_reduce, wire}}}};
  plan.decode.first = {sweep("cast", wire, dense, tensor, 1)};
  plan.recodable = true;
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
