#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/quantization.hpp"

namespace stepcast {

CodecPlan plan(const Inceptionn& x, const Tensor& tensor) {
  // Payload: Li et al. 2018, section 4, algorithm 2 (recalled): 0, 8, 16 or 32 bits by exponent, and a 2-bit tag.
  const std::int64_t d = tensor.elements();
  const double n32 = static_cast<double>(expected_count(x.share_32, tensor)),
               n16 = static_cast<double>(expected_count(x.share_16, tensor)),
               n8 = static_cast<double>(expected_count(x.share_8, tensor));
  const std::int64_t grace_tags = d / 4 + 1;
  const Bytes tags = x.packing == Packing::grace ? Bytes(static_cast<double>(grace_tags)) : packed_bits(d, 2);
  const Bytes dense = tensor.dense(), values(4 * n32 + 2 * n16 + n8), wire = values + tags;
  CodecPlan plan;
  // One sweep finds the tags. Another sorts the values by width.
  plan.stages = {
      {{sweep("tag-exponents", dense, tags, tensor, 6), sweep("compact-by-tag", dense + tags, values, tensor, 6)},
       {{"values and tags", Primitive::all_gather_unequal, wire, 16_B}}}};
  plan.decode = dense_decode(wire, tensor, 12, x.packing);
  plan.assumed =
      fmt::format("shares of elements at 32, 16 and 8 bits: {}, {} and {}", x.share_32, x.share_16, x.share_8);
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
