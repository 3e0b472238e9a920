#include "models/workload/autocast.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "models/workload/earlier_outputs.hpp"
#include "models/workload/sizes.hpp"

namespace stepcast {
namespace {

/// Goes through the layers in forward order.
class Autocast {
 public:
  Autocast(const WorkloadTable& listed, int batch)
      : listed_(listed), wide_(listed.dtype), narrow_(compute_dtype_of(listed)), batch_(batch) {}

  std::vector<LayerPrecision> run() {
    for (std::size_t i = 0; i < listed_.layers.size(); ++i) {
      layers_.push_back(std::visit([&](const auto& shape) { return precision_of(shape); }, *listed_.layers[i].shape));
      outputs_.add(i, output_elements(*listed_.layers[i].shape));
    }
    return std::move(layers_);
  }

 private:
  LayerPrecision precision_of(const Conv2d& x) const { return product(x); }
  LayerPrecision precision_of(const ConvTranspose2d& x) const { return product(x); }
  LayerPrecision precision_of(const Lstm& x) const { return product(x); }
  LayerPrecision precision_of(const Linear& x) {
    LayerPrecision one = product(x);
    first_linear_[layers_.size()] = first_linear_of(x).value_or(layers_.size());
    return one;
  }

  LayerPrecision precision_of(const Attention& x) const {
    LayerPrecision one{narrow_, narrow_};
    if (const auto* rotary = std::get_if<Rotary>(shape_before()); rotary && layers_.back().output == wide_)
      add_input_cast(one, real(rotary->elements) * batch_);
    if (x.fused) return one;
    const double scores = scores_of(x) * batch_;
    one.casts_scores = true;
    // The softmax's own kernels count as narrow. A wide one reads and writes more: its result and its gradient, and in
    // bf16 its input and its input's gradient, which are casts of their own. In fp16 its kernels cast these.
    const Bytes difference = (size_of(wide_) - size_of(narrow_)) * scores;
    const bool separate = narrow_ != Dtype::fp16;
    one.casts.forward.assign(separate ? 2 : 1, cast(scores));
    one.casts.forward.front().work.bytes += difference * (separate ? 2.0 : 1.0);
    one.casts.data_gradient.assign(separate ? 2 : 1, cast(scores));
    one.casts.data_gradient.front().work.bytes += difference * (separate ? 3.0 : 2.0);
    return one;
  }
  LayerPrecision precision_of(const Embedding&) { return starts_branch({wide_, wide_}); }
  LayerPrecision precision_of(const LayerNorm& x) {
    LayerPrecision one{wide_, wide_};
    one.casts_input = input_of(input_elements(x)) == narrow_;
    if (one.casts_input) add_input_cast(one, input_elements(x) * batch_);
    return starts_branch(std::move(one));
  }
  LayerPrecision precision_of(const SoftmaxLoss& x) const {
    const double scores = input_elements(x) * batch_;
    LayerPrecision one = like_input(x);
    if (one.dtype == narrow_ && !x.fused) add_input_cast(one, scores);
    return one;
  }
  LayerPrecision precision_of(const Add& x) {
    const Dtype input = input_of(real(x.elements)), sum = input == wide_ || branch_ == wide_ ? wide_ : narrow_;
    LayerPrecision one{sum, sum};
    if (sum == wide_ && (input == narrow_ || branch_ == narrow_))
      one.casts.data_gradient = {cast(real(x.elements) * batch_)};
    return starts_branch(std::move(one));
  }
  LayerPrecision precision_of(const Activation& x) const {
    if (x.composed) return {wide_, wide_};
    const auto* attention = std::get_if<Attention>(shape_before());
    const bool drops_scores = attention && !attention->fused && scores_of(*attention) == real(x.elements);
    return drops_scores ? LayerPrecision{wide_, narrow_} : like_input(x);
  }
  LayerPrecision precision_of(const Rotary& x) const {
    return x.composed ? LayerPrecision{wide_, wide_} : like_input(x);
  }
  template <class Other>
  LayerPrecision precision_of(const Other& x) const {
    return like_input(x);
  }

  [[nodiscard]] LayerPrecision like_input(const LayerShape& shape) const {
    const Dtype input = input_of(input_elements(shape));
    return {input, input};
  }
  LayerPrecision starts_branch(LayerPrecision one) {
    branch_ = one.output;
    return one;
  }

  [[nodiscard]] LayerPrecision product(const LayerShape& shape) const {
    LayerPrecision one{narrow_, narrow_};
    for (const double elements : cast_weights(listed_.layers[layers_.size()])) {
      one.casts.forward.push_back(cast(elements));
      one.casts.weight_gradient.push_back(cast(elements));
    }
    one.casts_input = input_of_product(shape) == wide_;
    if (one.casts_input) add_input_cast(one, input_elements(shape) * batch_);
    return one;
  }

  [[nodiscard]] LayerKernel cast(double elements) const {
    return {KernelKind::elementwise, {Flops{}, (size_of(wide_) + size_of(narrow_)) * elements, 1}};
  }
  void add_input_cast(LayerPrecision& one, double elements) const {
    one.casts.forward.push_back(cast(elements));
    one.casts.data_gradient.push_back(cast(elements));
  }

  /// The type of the nearest output with so many elements; without one the newest output's, or a sample's.
  [[nodiscard]] Dtype input_of(double elements) const {
    if (const auto found = outputs_.find({elements}).front()) return layers_[*found].output;
    return layers_.empty() ? wide_ : layers_.back().output;
  }
  [[nodiscard]] Dtype input_of_product(const LayerShape& shape) const {
    const auto found = outputs_.find({input_elements(shape)}).front();
    if (!found) return wide_;
    const auto* own = std::get_if<Linear>(&shape);
    const auto first = first_linear_.find(*found);
    if (own && first != first_linear_.end() && same_input(*own, first->second))
      return layers_[first->second].casts_input ? wide_ : narrow_;
    return layers_[*found].output;
  }
  /// The first of the linear layers, each behind the other, that this one is behind. None if it reads the same as they do.
  [[nodiscard]] std::optional<std::size_t> first_linear_of(const Linear& x) const {
    const auto found = outputs_.find({input_elements(x)}).front();
    const auto first = found ? first_linear_.find(*found) : first_linear_.end();
    if (first == first_linear_.end() || same_input(x, first->second)) return {};
    return first->second;
  }
  [[nodiscard]] bool same_input(const Linear& x, std::size_t layer) const {
    const auto& other = std::get<Linear>(*listed_.layers[layer].shape);
    return x.in == other.in && x.rows == other.rows;
  }
  [[nodiscard]] const LayerShape* shape_before() const {
    return layers_.empty() ? nullptr : &*listed_.layers[layers_.size() - 1].shape;
  }
  [[nodiscard]] static double scores_of(const Attention& x) {
    return real(x.heads) * real(x.sequence) * real(x.memory.value_or(x.sequence));
  }

  const WorkloadTable& listed_;
  Dtype wide_, narrow_;
  double batch_;
  std::vector<LayerPrecision> layers_;  ///< those so far
  EarlierOutputs outputs_;
  std::map<std::size_t, std::size_t> first_linear_;  ///< by linear layer: the first of those it is behind, or itself
  Dtype branch_ = narrow_;                           ///< the newest sum, norm or embedding, where a branch starts
};

}  // namespace

std::vector<double> cast_weights(const Layer& layer) {
  std::vector<double> elements;
  const LayerShape& shape = *layer.shape;
  const auto* linear = std::get_if<Linear>(&shape);
  if (!linear && !std::holds_alternative<Conv2d>(shape) && !std::holds_alternative<ConvTranspose2d>(shape) &&
      !std::holds_alternative<Lstm>(shape))
    return elements;
  for (const GradientTensor& tensor : layer.gradients) elements.push_back(static_cast<double>(tensor.elements));
  if (linear && linear->tied) elements.push_back(real(linear->in) * real(linear->out));
  return elements;
}

std::vector<LayerPrecision> precisions_of(const WorkloadTable& listed, int batch) {
  if (casts(listed)) return Autocast(listed, batch).run();
  const Dtype dtype = compute_dtype_of(listed);
  return std::vector<LayerPrecision>(listed.layers.size(), LayerPrecision{dtype, dtype});
}

}  // namespace stepcast
