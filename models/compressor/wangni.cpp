#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const Wangni& x, const Tensor& tensor) {
  // Payload: Wangni et al. 2018, section 3.3 (recalled) codes elements with probability below 1 by index and sign with
  // one common magnitude, others by index and value. The division depends on the data. This plan uses index and value
  // for all elements, the maximum of their code.
  const std::int64_t count = expected_count(x.density, tensor);
  const Bytes dense = tensor.dense(), wire = static_cast<double>(count) * (size_of(tensor.dtype) + index_width(tensor));
  CodecPlan plan;
  CodecKernel probabilities = sweep("sum-abs", dense, 4_B, tensor, 3);
  probabilities.repeats = 2;
  plan.stages = {{{probabilities, sweep("sample-compact", dense, wire, tensor, 5 + kRandomFlops)},
                  {{"values and indices", Primitive::all_gather_unequal, wire, 4_B}}}};
  plan.decode = sparse_decode(wire, count, tensor, Packing::ideal);
  plan.assumed = fmt::format("density {} of elements kept, the expected number, alike on all workers", x.density);
  return plan;
}

}  // namespace stepcast
