#include "models/workload/variant.hpp"

#include <utility>

#include "models/workload/factorize.hpp"
#include "models/workload/sizes.hpp"

namespace stepcast {
namespace {

bool drops(const Layer& layer, double elements) {
  const auto* activation = std::get_if<Activation>(&*layer.shape);
  return activation && activation->function == ActivationFunction::dropout && real(activation->elements) == elements;
}

std::vector<Layer> with_fused_attention(std::vector<Layer> layers) {
  std::vector<Layer> fused;
  double scores = 0;  // of the layer before, if it is attention
  for (Layer& layer : layers) {
    const bool goes = scores > 0 && drops(layer, scores);
    scores = 0;
    if (goes) continue;
    if (auto* attention = std::get_if<Attention>(&*layer.shape)) {
      attention->fused = true;
      scores =
          real(attention->heads) * real(attention->sequence) * real(attention->memory.value_or(attention->sequence));
    }
    fused.push_back(std::move(layer));
  }
  return fused;
}

/// Makes the layer simple operations if it may be.
struct Compose {
  bool operator()(Activation& x) const { return set(x, x.function == ActivationFunction::gelu); }
  bool operator()(LayerNorm& x) const { return set(x, !x.bias); }
  bool operator()(Rotary& x) const { return set(x, true); }
  template <class Other>
  bool operator()(Other&) const {
    return false;
  }

  template <class Shape>
  static bool set(Shape& x, bool may_be) {
    x.composed = may_be;
    return may_be;
  }
};

}  // namespace

bool compose(LayerShape& shape) { return std::visit(Compose{}, shape); }

WorkloadTable with_variant(const WorkloadTable& table) {
  if (!table.variant) return table;
  WorkloadTable result = table.variant->factorize ? factorize(table, *table.variant->factorize) : table;
  if (table.variant->fused_attention) result.layers = with_fused_attention(std::move(result.layers));
  if (table.variant->composed)
    for (Layer& layer : result.layers) compose(*layer.shape);
  result.variant.reset();
  return result;
}

}  // namespace stepcast
