#include "models/workload/linear_inputs.hpp"

#include <map>
#include <set>

#include "models/workload/earlier_outputs.hpp"
#include "models/workload/sizes.hpp"

namespace stepcast {

std::vector<std::optional<std::size_t>> linear_inputs(const std::vector<Layer>& layers) {
  std::vector<std::optional<std::size_t>> inputs(layers.size());
  EarlierOutputs outputs;
  std::map<std::size_t, std::size_t> first;  // by linear layer: the first of those it is behind, or itself
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (const auto* linear = std::get_if<Linear>(&*layers[i].shape)) {
      const auto nearest = outputs.find({input_elements(*linear)}).front();
      const auto behind = nearest ? first.find(*nearest) : first.end();
      const std::size_t other = behind == first.end() ? i : behind->second;
      const auto& before = std::get<Linear>(*layers[other].shape);
      const bool same = other != i && before.in == linear->in && before.rows == linear->rows;
      inputs[i] = same ? inputs[other] : nearest;
      first[i] = same ? i : other;
    }
    outputs.add(i, output_elements(*layers[i].shape));
  }
  return inputs;
}

void add_gradient_sums(const WorkloadTable& listed, int batch, std::vector<LayerPrecision>& layers) {
  std::set<std::size_t> read;
  const std::vector<std::optional<std::size_t>> inputs = linear_inputs(listed.layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!inputs[i] || read.insert(*inputs[i]).second) continue;
    const double elements = input_elements(*listed.layers[i].shape) * batch;
    const Bytes each = size_of(layers[*inputs[i]].output);
    layers[i].beside.data_gradient.push_back({KernelKind::elementwise, {Flops(elements), each * 3.0 * elements, 1}});
  }
}

}  // namespace stepcast
