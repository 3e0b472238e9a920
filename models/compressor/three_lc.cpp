#include <cmath>

#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/hybrid.hpp"

namespace stepcast {

CodecPlan plan(const ThreeLc& x, const Tensor& tensor) {
  // Payload: Lim et al. 2019, sections 3.1 to 3.3 (recalled): a scale and ternary values, five to a byte. Runs of 2 to
  // 14 zero bytes become one byte.
  const std::int64_t quintuples = (tensor.elements() + 4) / 5;
  const Bytes dense = tensor.dense(), quartic(static_cast<double>(quintuples));
  const Bytes runs(std::ceil(quartic.si() / x.run_length_gain)), wire = runs + 4_B;
  CodecPlan plan;
  plan.stages = {{{sweep("max-abs", dense, 4_B, tensor, 2),
                   sweep("quantize", dense, quartic, tensor, 5),
                   {"zero-runs", quartic, runs, Flops(2 * quartic.si())}},
                  {{"ternary codes and scale", Primitive::all_gather_unequal, wire, 4_B}}}};
  plan.decode = dense_decode(wire, tensor, 3, Packing::ideal);
  plan.assumed = fmt::format("runs of zeros shorten messages by {}, alike on all workers", x.run_length_gain);
  add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
