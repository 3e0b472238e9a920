#include "models/workload/activation_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "models/workload/autocast.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/earlier_outputs.hpp"
#include "models/workload/layer_work.hpp"
#include "models/workload/sizes.hpp"

namespace stepcast {
namespace {

/// The tensors of one sample's forward that a layer's backward reads.
struct Reads {
  std::vector<double> inputs{};  ///< elements of each
  bool output = false;
  double elements = 0;  ///< elements that no other layer reads
  Bytes bytes{};        ///< bytes that no other layer reads, in another type than the operands'
};

struct ReadsOf {
  Bytes element{};
  bool casts_input = false, casts_scores = false;
  Bytes wide{};

  /// The input, or an own cast of it.
  [[nodiscard]] Reads input_of(const LayerShape& shape) const {
    return casts_input ? Reads{{}, false, input_elements(shape)} : Reads{{input_elements(shape)}};
  }
  Reads operator()(const Conv2d& x) const { return input_of(x); }
  Reads operator()(const ConvTranspose2d& x) const { return input_of(x); }
  Reads operator()(const Linear& x) const { return input_of(x); }
  Reads operator()(const Lstm& x) const {
    const double middles = 4.0 * real(x.input_rank.value_or(0) + x.hidden_rank.value_or(0));
    Reads reads = input_of(x);
    reads.output = true;
    reads.elements += real(x.steps) * (5 * real(x.hidden) + middles);
    return reads;
  }
  Reads operator()(const Attention& x) const {
    const double rows = real(x.heads) * real(x.sequence), keys = real(x.memory.value_or(x.sequence));
    const double of_keys = keys * real(x.d / x.heads) * real(x.kv_heads.value_or(x.heads));
    const std::vector<double> qkv{of_keys, of_keys, real(x.sequence) * real(x.d)};
    if (x.fused) return {qkv, true, 0, 4_B * rows};
    return {qkv, false, scores_of(x), casts_scores ? wide * scores_of(x) : 0_B};
  }
  Reads operator()(const Embedding& x) const { return {{}, false, 0, 8_B * real(x.rows)}; }
  Reads operator()(const BatchNorm& x) const { return {{input_elements(x)}}; }
  Reads operator()(const LayerNorm& x) const {
    const double n = input_elements(x);
    if (!x.composed) {
      Reads reads = input_of(x);
      reads.bytes = 8_B * real(x.rows);
      return reads;
    }
    return element < 4_B ? Reads{{}, false, n, 4_B * n + 4_B * real(x.rows)} : Reads{{n}, false, n, 4_B * real(x.rows)};
  }
  Reads operator()(const Activation& x) const {
    if (x.composed) return {{real(x.elements)}, false, 3 * real(x.elements)};
    switch (x.function) {
      case ActivationFunction::relu:
      case ActivationFunction::tanh:
      case ActivationFunction::sigmoid: return {{}, true};
      case ActivationFunction::gelu:
      case ActivationFunction::silu: return {{real(x.elements)}};
      case ActivationFunction::dropout: return {{}, false, 0, 1_B * real(x.elements)};
    }
    return {};
  }
  Reads operator()(const Pool& x) const {
    const Bytes places = x.function == PoolFunction::max ? 8_B * output_elements(x) : 0_B;
    return {{input_elements(x)}, false, 0, places};
  }
  Reads operator()(const Multiply& x) const { return {{real(x.elements), real(x.elements)}}; }
  Reads operator()(const SoftmaxLoss& x) const {
    const Bytes copy = element < 4_B ? 4_B : 0_B, probability = wide > element ? element : 4_B,
                score = element + copy + probability + 4_B;
    return {{}, false, 0, 8_B * real(x.rows) + score * (x.fused ? 0.0 : real(x.classes) * real(x.rows))};
  }
  Reads operator()(const Rotary&) const { return {}; }
  Reads operator()(const Add&) const { return {}; }
  Reads operator()(const Concat&) const { return {}; }
};

/// A layer's tensors: those kept from forward to backward, and those that its block computes again.
struct Kept {
  bool output = false, output_again = false;
  Bytes rest{}, rest_again{};
};

}  // namespace

Bytes activations_of(const WorkloadTable& listed) {
  const std::vector<Layer>& layers = listed.layers;
  const std::vector<LayerRange> blocks = recomputed_blocks(listed);
  const Bytes narrow = size_of(compute_dtype_of(listed)), wide = casts(listed) ? size_of(listed.dtype) : narrow;
  const std::vector<LayerPrecision> precisions = precisions_of(listed, 1);

  std::vector<Kept> kept(layers.size());
  std::vector<Bytes> outputs;
  EarlierOutputs before;
  std::map<double, std::size_t> sample;  // the network's own inputs: how many of each number of elements
  auto block = blocks.begin();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (block != blocks.end() && i == block->last) ++block;
    const bool again = block != blocks.end() && i >= block->first;
    if (again && i == block->first && i > 0) kept[i - 1].output = true;
    const Bytes element = size_of(precisions[i].dtype);
    const Reads reads =
        std::visit(ReadsOf{element, precisions[i].casts_input, precisions[i].casts_scores, wide}, *layers[i].shape);
    const auto inputs = before.find(reads.inputs);
    std::map<double, std::size_t> given;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (const double elements = reads.inputs[k]; !inputs[k])
        sample[elements] = std::max(sample[elements], ++given[elements]);
      else if (again && *inputs[k] >= block->first) kept[*inputs[k]].output_again = true;
      else kept[*inputs[k]].output = true;
    }
    (again ? kept[i].output_again : kept[i].output) |= reads.output;
    (again ? kept[i].rest_again : kept[i].rest) += element * reads.elements + reads.bytes;
    const double elements = output_elements(*layers[i].shape);
    outputs.push_back(size_of(precisions[i].output) * elements);
    before.add(i, elements);
  }

  Bytes sum{};
  for (const auto& [elements, count] : sample) sum += narrow * (elements * static_cast<double>(count));
  Bytes fullest = sum;
  block = blocks.begin();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (block != blocks.end() && i == block->first) {
      Bytes again{};
      for (std::size_t k = block->first; k < block->last; ++k)
        again += kept[k].rest_again + (kept[k].output_again ? outputs[k] : Bytes{});
      fullest = std::max(fullest, sum + again);
      ++block;
    }
    sum += kept[i].rest + (kept[i].output ? outputs[i] : Bytes{});
  }
  return std::max(fullest, sum) * listed.batch;
}

}  // namespace stepcast
