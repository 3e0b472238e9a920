#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/hybrid.hpp"

namespace stepcast {

CodecPlan plan(const QsparseLocalSgd& x, const Tensor& tensor) {
  // Payload: Basu et al. 2019, section 2.3, Q_s of Top_k (recalled): k indices, k levels with signs, and a norm.
  const std::int64_t k = kept(x.ratio, tensor);
  const double count = static_cast<double>(k);
  const Bytes values = count * size_of(tensor.dtype), indices = count * index_width(tensor);
  const Bytes levels = packed_bits(k, code_width(2 * std::int64_t{x.levels} + 1)), wire = indices + levels + 4_B;
  CodecPlan plan;
  plan.stages = {{{select_compact(tensor, values + indices),
                   {"norm", values, 4_B, Flops(2 * count)},
                   {"quantize", values, levels, Flops((6 + kRandomFlops) * count)}},
                  {{"levels, indices and norm", Primitive::all_gather, wire}}}};
  plan.decode = sparse_decode(wire, k, tensor, Packing::ideal);
  add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
