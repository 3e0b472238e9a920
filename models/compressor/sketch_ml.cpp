#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/hybrid.hpp"

namespace stepcast {

CodecPlan plan(const SketchMl& x, const Tensor& tensor) {
  // Payload: Jiang et al. 2018, section 3.2 (recalled): quantile numbers and a table of q means. The paper also hashes
  // the numbers (MinMaxSketch) and codes keys of sparse gradients by differences. The survey leaves both out.
  const int bits = x.packing == Packing::grace ? (x.quantiles < 256 ? 8 : 16) : code_width(x.quantiles);
  const Bytes dense = tensor.dense(), codes = packed_bits(tensor.elements(), bits), means(4.0 * x.quantiles),
              wire = codes + means;
  CodecPlan plan;
  // Sort; search each element among the q edges; sum and count of each quantile.
  plan.stages = {{{radix_sort(tensor), sweep("find-bins", dense + means, codes, tensor, code_width(x.quantiles)),
                   sweep("segment-means", dense + codes, means, tensor, 2)},
                  gathered_parts("quantiles", codes, "means", means, x.packing)}};
  plan.decode = decode_sum(wire, tensor, 1, x.packing);
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
