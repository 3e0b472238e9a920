// SignSGD and SIGNUM have the same messages: signs of the gradient or of its momentum.
#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {
namespace {

CodecPlan majority_vote(CodecKernel encode, Packing packing, bool error_feedback, const Tensor& tensor) {
  const Bytes dense = tensor.dense(), wire = encode.written;
  CodecPlan plan;
  plan.stages = {{{std::move(encode)}, {{"signs", Primitive::all_gather, wire}}}};
  plan.decode = dense_decode(wire, tensor, 2, packing);
  if (error_feedback) add_error_feedback(plan, tensor);
  if (packing == Packing::grace) {
    plan.decode.finish = {sweep("sign", dense, dense, tensor, 1)};
  } else {
    // One kernel counts packed signs bit by bit. Only the majority's signs become numbers.
    Decode packed;
    packed.together = {sweep("majority-vote", wire, wire, tensor, 1)};
    packed.finish = plan.decode.first;
    plan.decode = packed;
    plan.votes = true;
  }
  return plan;
}

// Payload: Bernstein et al. 2018, algorithm 1 (recalled), and 2019, algorithm 1 (recalled): one bit per element.
Bytes signs(Packing packing, const Tensor& tensor) {
  return packed_bits(tensor.elements(), packing == Packing::grace ? 8 : 1);
}

}  // namespace

CodecPlan plan(const SignSgd& x, const Tensor& tensor) {
  return majority_vote(sweep("sign-pack", tensor.dense(), signs(x.packing, tensor), tensor, 1), x.packing,
                       x.error_feedback, tensor);
}

CodecPlan plan(const Signum& x, const Tensor& tensor) {
  const Bytes dense = tensor.dense(), wire = signs(x.packing, tensor);
  CodecPlan plan = majority_vote(sweep("sign-pack", dense, wire, tensor, 1), x.packing, x.error_feedback, tensor);
  // v ← μv + (1-μ)g before the signs: reads gradient and momentum, writes momentum.
  plan.prepare = {sweep("momentum", 2.0 * dense, dense, tensor, 3)};
  return plan;
}

}  // namespace stepcast
