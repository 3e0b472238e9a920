#include "models/workload/activation_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "models/workload/blocks.hpp"
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

  Reads operator()(const Conv2d& x) const { return {{real(x.in) * product(x.input)}}; }
  Reads operator()(const ConvTranspose2d& x) const { return {{real(x.in) * product(x.input)}}; }
  Reads operator()(const Linear& x) const { return {{real(x.in) * real(x.rows)}}; }
  Reads operator()(const Lstm& x) const {
    const double middles = 4.0 * real(x.input_rank.value_or(0) + x.hidden_rank.value_or(0));
    return {{real(x.input) * real(x.steps)}, true, real(x.steps) * (5 * real(x.hidden) + middles)};
  }
  Reads operator()(const Attention& x) const {
    const double rows = real(x.heads) * real(x.sequence), keys = real(x.memory.value_or(x.sequence));
    const double of_keys = keys * real(x.d / x.heads) * real(x.kv_heads.value_or(x.heads));
    const std::vector<double> qkv{of_keys, of_keys, real(x.sequence) * real(x.d)};
    return x.fused ? Reads{qkv, true, 0, 4_B * rows} : Reads{qkv, false, rows * keys};
  }
  Reads operator()(const Embedding& x) const { return {{}, false, 0, 8_B * real(x.rows)}; }
  Reads operator()(const BatchNorm& x) const { return {{real(x.channels) * product(x.input)}}; }
  Reads operator()(const LayerNorm& x) const {
    const double n = real(x.width) * real(x.rows);
    if (!x.composed) return {{n}, false, 0, 8_B * real(x.rows)};
    return element < 4_B ? Reads{{}, false, n, 4_B * n + 4_B * real(x.rows)} : Reads{{n}, false, n, 4_B * real(x.rows)};
  }
  Reads operator()(const Activation& x) const {
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
    return {{real(x.channels) * product(x.input)}, false, 0, places};
  }
  Reads operator()(const Multiply& x) const { return {{real(x.elements), real(x.elements)}}; }
  Reads operator()(const SoftmaxLoss& x) const {
    const Bytes copy = element < 4_B ? 4_B : 0_B, score = element + copy + 4_B + 4_B;
    return {{}, false, 0, 8_B * real(x.rows) + score * (x.fused ? 0.0 : real(x.classes) * real(x.rows))};
  }
  Reads operator()(const Rotary&) const { return {}; }
  Reads operator()(const Add&) const { return {}; }
  Reads operator()(const Concat&) const { return {}; }
};

/// The outputs of the layers so far, indexed by their number of elements.
class Outputs {
 public:
  void add(std::size_t layer, double elements) {
    by_size_[elements].push_back(layer);
    newest_ = {layer, elements};
  }

  /// The layers whose outputs these inputs are: for each input, the nearest output of its size. Empty means the sample
  /// itself. Inputs may be parts of one output, such as the product for q, k and v.
  [[nodiscard]] std::vector<std::optional<std::size_t>> find(const std::vector<double>& inputs) const {
    double sum = 0;
    for (const double elements : inputs) sum += elements;
    if (newest_ && inputs.size() > 1 && newest_->elements == sum) return {newest_->layer};
    std::vector<std::optional<std::size_t>> found;
    std::map<double, std::size_t> taken;
    for (const double elements : inputs) {
      const auto same = by_size_.find(elements);
      const std::size_t before = taken[elements]++;
      found.push_back(same != by_size_.end() && before < same->second.size()
                          ? std::optional(same->second[same->second.size() - 1 - before])
                          : std::nullopt);
    }
    return found;
  }

 private:
  struct Newest {
    std::size_t layer;
    double elements;
  };
  std::map<double, std::vector<std::size_t>> by_size_;
  std::optional<Newest> newest_;
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
  const Bytes element = size_of(compute_dtype_of(listed));

  std::vector<Kept> kept(layers.size());
  std::vector<double> outputs;
  Outputs before;
  std::map<double, std::size_t> sample;  // the network's own inputs: how many of each number of elements
  auto block = blocks.begin();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (block != blocks.end() && i == block->last) ++block;
    const bool again = block != blocks.end() && i >= block->first;
    if (again && i == block->first && i > 0) kept[i - 1].output = true;
    const Reads reads = std::visit(ReadsOf{element}, *layers[i].shape);
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
    outputs.push_back(output_elements(*layers[i].shape));
    before.add(i, outputs.back());
  }

  Bytes sum{};
  for (const auto& [elements, count] : sample) sum += element * (elements * static_cast<double>(count));
  Bytes fullest = sum;
  block = blocks.begin();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (block != blocks.end() && i == block->first) {
      Bytes again{};
      for (std::size_t k = block->first; k < block->last; ++k)
        again += kept[k].rest_again + element * (kept[k].output_again ? outputs[k] : 0.0);
      fullest = std::max(fullest, sum + again);
      ++block;
    }
    sum += kept[i].rest + element * (kept[i].output ? outputs[i] : 0.0);
  }
  return std::max(fullest, sum) * listed.batch;
}

}  // namespace stepcast
