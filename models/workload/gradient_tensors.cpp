// The gradient tensors of each kind of layer.
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "models/workload/layer_work.hpp"

namespace stepcast {
namespace {

using Tensors = std::vector<GradientTensor>;

void add(Tensors& tensors, std::string name, std::vector<Count> dims) {
  const Count elements = std::accumulate(dims.begin(), dims.end(), Count{1}, std::multiplies<>());
  tensors.push_back({std::move(name), elements, {}, std::move(dims)});
}

struct ListTensors {
  const std::string& name;
  Tensors& tensors;

  void bias(Count n) { add(tensors, name + ".bias", {n}); }
  void weight(std::vector<Count> dims) { add(tensors, name + ".weight", std::move(dims)); }

  void operator()(const Conv2d& x) {
    if (x.bias) bias(x.out);
    weight({x.out, x.in / x.groups, x.kernel[0], x.kernel[1]});
  }
  void operator()(const ConvTranspose2d& x) {
    if (x.bias) bias(x.out);
    weight({x.in, x.out, x.kernel[0], x.kernel[1]});
  }
  void operator()(const Linear& x) {
    if (x.bias) bias(x.out);
    if (!x.tied) weight({x.out, x.in});
  }
  void operator()(const Embedding& x) {
    if (x.exchanged) weight({x.entries, x.width});
  }
  void operator()(const BatchNorm& x) {
    bias(x.channels);
    if (x.scale) weight({x.channels});
  }
  void operator()(const LayerNorm& x) {
    if (x.bias) bias(x.width);
    weight({x.width});
  }
  void operator()(const Lstm& x) {
    const Count h = x.hidden;
    const auto matrix = [&](const std::string& tensor, Count rows, Count columns, std::optional<Count> rank) {
      if (!rank) return add(tensors, name + "." + tensor, {rows, columns});
      add(tensors, name + "." + tensor + ".v", {*rank, columns});
      add(tensors, name + "." + tensor + ".u", {rows, *rank});
    };
    // Pufferfish has one bias for each gate, PyTorch two vectors for all gates, TensorFlow one.
    if (x.tensors == LstmTensors::fused) {
      add(tensors, name + ".bias_hh", {4 * h});
      add(tensors, name + ".bias_ih", {4 * h});
    } else if (x.tensors == LstmTensors::joint) {
      add(tensors, name + ".bias", {4 * h});
    }
    if (x.input_rank || x.hidden_rank || x.tensors == LstmTensors::gates) {
      for (const char* gate : {"o", "g", "f", "i"}) {
        if (x.tensors == LstmTensors::gates) add(tensors, fmt_gate("b_", gate), {h});
        matrix(std::string("W_h") + gate, h, h, x.hidden_rank);
        matrix(std::string("W_i") + gate, h, x.input, x.input_rank);
      }
    } else if (x.tensors == LstmTensors::fused) {
      matrix("weight_hh", 4 * h, h, {});
      matrix("weight_ih", 4 * h, x.input, {});
    } else {
      matrix("kernel", x.input + h, 4 * h, {});
    }
  }
  template <class Other>
  void operator()(const Other&) {}

  [[nodiscard]] std::string fmt_gate(const char* prefix, const char* gate) const { return name + "." + prefix + gate; }
};

}  // namespace

std::vector<GradientTensor> gradients_of(const Layer& layer) {
  if (!layer.shape) return layer.gradients;
  Tensors tensors;
  std::visit(ListTensors{layer.name, tensors}, *layer.shape);
  return tensors;
}

}  // namespace stepcast
