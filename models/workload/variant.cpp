#include "models/workload/variant.hpp"

#include <cstddef>
#include <variant>

#include "models/workload/factorize.hpp"
#include "models/workload/layer_work.hpp"

namespace stepcast {
namespace {

std::vector<Layer> with_fused_attention(const std::vector<Layer>& layers) {
  std::vector<Layer> fused;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i > 0 && drops_scores(*layers[i].shape, *layers[i - 1].shape)) continue;
    fused.push_back(layers[i]);
    if (auto* attention = std::get_if<Attention>(&*fused.back().shape)) attention->fused = true;
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
  if (table.variant->fused_attention) result.layers = with_fused_attention(result.layers);
  if (table.variant->composed)
    for (Layer& layer : result.layers) compose(*layer.shape);
  result.variant.reset();
  return result;
}

}  // namespace stepcast
