// Gradients as compressors see them: which tensors each one encodes, their parts, and the time of a device's whole codec.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/compressor/compressor.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {

/// Ratio and cost of compressors that depend on bytes alone.
std::optional<RatioCompressor> by_bytes(const Compressor& compressor);

/// A bucket's gradients by the policy of the codec: the tensors that each of the input's methods compresses, and the bytes
/// of the others. Empty if the compressor depends on bytes only.
struct Chosen {
  std::vector<std::vector<Tensor>> coded;
  Bytes whole{};

  [[nodiscard]] bool has_coded() const;
};
/// @param cut  the bucket is one segment of the gradient and may begin and end inside a tensor
Chosen choose(const GraphInput& input, const Bucket& bucket, bool cut);
/// Adds further tensors.
void add(Chosen& to, Chosen other);

/// Adds an assumption of a method's payload, if there is one, by the method's name.
void add_assumption(std::string& all, const Method& method, const std::string& text);
/// Adds what parts of a method's messages rest on, where their bytes depend on the data.
void assume_even_parts(std::string& all, const Method& method, const CodecPlan& plan);
/// Adds assumptions that are not there yet.
void join_assumptions(std::string& all, const std::string& other);

/// Calls `use` with each method that compresses some of the tensors, and with these.
template <class Use>
void for_each_method(const GraphInput& input, const Chosen& chosen, const Use& use) {
  for (std::size_t m = 0; m < chosen.coded.size(); ++m)
    if (!chosen.coded[m].empty()) use(input.methods[m], chosen.coded[m]);
}

/// One of `pieces` equal shares of a group of tensors: 1/pieces of the rows of each one for low-rank methods, else a flat
/// tensor.
std::vector<Tensor> share_of(const Method& method, std::vector<Tensor> group, int pieces);

/// One of p equal parts of a group of tensors, as a flat tensor.
Tensor slice_of(const std::vector<Tensor>& group, int p);

/// make_plan() of the compressor, with the device's own times of encoding and decoding if it has them.
CodecPlan plan_of(const Method& method, std::span<const Tensor> group, int workers);

/// The time of the method's whole codec on 1/g of each of these tensors, if the device has it.
std::optional<Seconds> whole_time(const Method& method, const std::vector<Tensor>& tensors, int g = 1);

template <class... Lists>
std::vector<CodecKernel> joined(const Lists&... lists) {
  std::vector<CodecKernel> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

}  // namespace stepcast
