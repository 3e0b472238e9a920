#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/low_rank.hpp"

namespace stepcast {

CodecPlan plan(const GradiVeq& x, const Tensor& tensor) {
  // Payload: Yu et al. 2018, section 4 (recalled): each slice of `slice` elements has `dimension` basis coefficients.
  const std::int64_t slices = (tensor.elements() + x.slice - 1) / x.slice;
  const Bytes element = size_of(tensor.dtype), wire = static_cast<double>(slices * x.dimension) * element;
  if (wire >= tensor.dense()) return uncompressed(tensor);
  CodecPlan plan;
  plan.stages = {{{matrix_product("matrix-product", slices, x.slice, x.dimension, element)},
                  {{"projections", Primitive::all_reduce, wire}}}};
  plan.decode.first = {matrix_product("matrix-product", slices, x.dimension, x.slice, element)};
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
