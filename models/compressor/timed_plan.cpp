#include "models/compressor/timed_plan.hpp"

#include <algorithm>
#include <utility>

#include "models/compressor/codec_kernels.hpp"

namespace stepcast {
namespace {

/// Whether the method has codes: a tensor that stays whole is not decoded.
bool has_codes(const CodecPlan& plan) { return !plan.decode.first.empty() || !plan.decode.together.empty(); }

/// The tensors that the method encodes: matrices one by one, all others as one vector.
/// @param plan  of the group
std::vector<Tensor> encoded(const Compressor& compressor, std::span<const Tensor> group, int workers,
                            const CodecPlan& plan) {
  std::vector<Tensor> found;
  if (!works_on_matrices(compressor)) {
    if (has_codes(plan)) found.push_back(flattened(group));
    return found;
  }
  for (const Tensor& tensor : group)
    if (has_codes(make_plan(compressor, tensor, workers))) found.push_back(tensor);
  return found;
}

/// A kernel of known time for some tensors. None if that is 0, since a plan's 0 stands for an unknown time.
template <class Times>
std::vector<CodecKernel> known(const char* name, const Times& times, const Compressor& compressor,
                               const std::vector<Tensor>& tensors) {
  CodecKernel kernel{.kernel = name};
  for (const Tensor& tensor : tensors) {
    kernel.start += times.per_tensor + times.per_rank * rank_of(compressor, tensor);
    kernel.fixed += times.per_element * static_cast<double>(tensor.elements());
  }
  if (kernel.known() == Seconds{}) return {};
  return {kernel};
}

}  // namespace

CodecPlan timed_plan(const Compressor& compressor, std::span<const Tensor> group, int workers,
                     const CodecRates& rates) {
  CodecPlan plan = make_plan(compressor, group, workers);
  if (!rates.codec || !rates.codec->decode) return plan;
  const std::vector<Tensor> tensors = encoded(compressor, group, workers, plan);
  if (tensors.empty()) return plan;

  const CodecEntry& codec = *rates.codec;
  const Tensor all = flattened(tensors);
  const Bytes dense = all.dense();
  const std::vector<CodecKernel> decode = known("decode", *codec.decode, compressor, tensors);

  for (Stage& stage : plan.stages) stage.encode.clear();
  plan.stages.front().encode = known("encode", codec, compressor, tensors);
  std::vector<CodecKernel> further = decode;
  further.push_back(sweep("add", 2.0 * dense, dense, all, 1));
  plan.decode.first = decode;
  plan.decode.further = plan.summable() ? std::vector<CodecKernel>{} : std::move(further);
  plan.decode.together.clear();
  if (std::exchange(plan.votes, false)) {
    plan.decode.vote = {sweep("sign", dense, dense, all, 1)};
    plan.decode.finish.clear();
  }
  if (codec.error_feedback) {
    plan.prepare.clear();
    plan.compensate.clear();
    plan.remember.clear();
  } else if (!plan.remember.empty()) {
    plan.remember = decode;
    plan.remember.push_back(sweep("subtract", 2.0 * dense, dense, all, 1));
  }
  return plan;
}

}  // namespace stepcast
