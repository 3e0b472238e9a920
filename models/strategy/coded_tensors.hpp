// Gradients as the compressor sees them: which tensors it encodes, their parts, and the time of a device's whole codec.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/compressor/compressor.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {

/// Ratio and cost of compressors that depend on bytes alone.
std::optional<RatioCompressor> by_bytes(const Compressor& compressor);

/// A bucket's gradients by the policy of the codec: tensors that are compressed, and the bytes of the others. Empty if the
/// compressor depends on bytes only.
struct Chosen {
  std::vector<Tensor> coded;
  Bytes whole{};
};
/// @param cut  the bucket is one segment of the gradient and may begin and end inside a tensor
Chosen choose(const GraphInput& input, const Bucket& bucket, bool cut);

/// One of p equal parts of a group of tensors, as a flat tensor.
Tensor slice_of(const std::vector<Tensor>& group, int p);

/// make_plan() of the compressor, with the device's own times of encoding and decoding if it has them.
CodecPlan plan_of(const GraphInput& input, std::span<const Tensor> group, int workers);

/// The time of the method's whole codec on 1/g of each of these tensors, if the device has it.
std::optional<Seconds> whole_time(const GraphInput& input, const std::vector<Tensor>& tensors, int g = 1);

template <class... Lists>
std::vector<CodecKernel> joined(const Lists&... lists) {
  std::vector<CodecKernel> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

}  // namespace stepcast
