#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

CodecPlan plan(const RandomK& x, const Tensor& tensor) {
  // Payload: Stich et al. 2018, definition 2.1, rand_k (recalled): k values. A seed gives the indices, as in GRACE.
  const std::int64_t k = kept(x.ratio, tensor);
  const double count = static_cast<double>(k);
  const Bytes dense = tensor.dense(), wire = count * size_of(tensor.dtype), indices = count * index_width(tensor);
  CodecPlan plan;
  auto& stage = plan.stages.emplace_back();
  if (x.packing == Packing::grace && x.framework == Framework::torch)  // randperm(d): a sort of d random int64 keys
    stage.encode = {{"random-permutation",
                     {},
                     8.0 * Bytes(static_cast<double>(tensor.elements())),
                     Flops(kRandomFlops * static_cast<double>(tensor.elements()))}};
  else stage.encode = {{"random-indices", {}, indices, Flops(kRandomFlops * count)}};
  stage.encode.push_back({"gather", indices + wire, wire});
  stage.messages = {{"values", Primitive::all_reduce, wire}};
  plan.decode.first = {sweep("fill", {}, dense, tensor, 0), {"scatter", indices + wire, wire}};
  if (x.error_feedback) add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
