#include "models/workload/autocast.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "models/workload/earlier_outputs.hpp"
#include "models/workload/linear_inputs.hpp"
#include "models/workload/sizes.hpp"

namespace stepcast {
namespace {

/// Goes through the layers in forward order.
class Autocast {
 public:
  Autocast(const WorkloadTable& listed, int batch)
      : listed_(listed),
        wide_(listed.dtype),
        narrow_(compute_dtype_of(listed)),
        batch_(batch),
        linear_inputs_(linear_inputs(listed.layers)) {}

  std::vector<LayerPrecision> run() {
    for (std::size_t i = 0; i < listed_.layers.size(); ++i) {
      layers_.push_back(std::visit([&](const auto& shape) { return precision_of(shape); }, *listed_.layers[i].shape));
      layers_.back().beside_dtype = wide_;
      outputs_.add(i, output_elements(*listed_.layers[i].shape));
    }
    return std::move(layers_);
  }

 private:
  LayerPrecision precision_of(const Conv2d& x) const { return product(x, input_or_sample(x)); }
  LayerPrecision precision_of(const ConvTranspose2d& x) const { return product(x, input_or_sample(x)); }
  LayerPrecision precision_of(const Lstm& x) const { return product(x, input_or_sample(x)); }
  LayerPrecision precision_of(const Linear& x) const {
    const auto input = linear_inputs_[layers_.size()];
    return product(x, input ? layers_[*input].output : wide_);
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
    one.beside.forward.assign(separate ? 2 : 1, cast(scores));
    one.beside.forward.front().work.bytes += difference * (separate ? 2.0 : 1.0);
    one.beside.data_gradient.assign(separate ? 2 : 1, cast(scores));
    one.beside.data_gradient.front().work.bytes += difference * (separate ? 3.0 : 2.0);
    return one;
  }
  LayerPrecision precision_of(const Embedding&) { return starts_branch({wide_, wide_}); }
  LayerPrecision precision_of(const LayerNorm& x) {
    LayerPrecision one{wide_, wide_};
    one.casts_input = input_or_newest(x) == narrow_;
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
    const Dtype input = input_or_newest(x), sum = input == wide_ || branch_ == wide_ ? wide_ : narrow_;
    LayerPrecision one{sum, sum};
    if (sum == wide_ && (input == narrow_ || branch_ == narrow_))
      one.beside.data_gradient = {cast(real(x.elements) * batch_)};
    return starts_branch(std::move(one));
  }
  LayerPrecision precision_of(const Activation& x) const {
    if (x.composed) return {wide_, wide_};
    const LayerShape* before = shape_before();
    return before && drops_scores(x, *before) ? LayerPrecision{wide_, narrow_} : like_input(x);
  }
  LayerPrecision precision_of(const Rotary& x) const {
    return x.composed ? LayerPrecision{wide_, wide_} : like_input(x);
  }
  template <class Other>
  LayerPrecision precision_of(const Other& x) const {
    return like_input(x);
  }

  [[nodiscard]] LayerPrecision like_input(const LayerShape& shape) const {
    const Dtype input = input_or_newest(shape);
    return {input, input};
  }
  LayerPrecision starts_branch(LayerPrecision one) {
    branch_ = one.output;
    return one;
  }

  [[nodiscard]] LayerPrecision product(const LayerShape& shape, Dtype input) const {
    LayerPrecision one{narrow_, narrow_};
    for (const double elements : cast_weights(listed_.layers[layers_.size()])) {
      one.beside.forward.push_back(cast(elements));
      one.beside.weight_gradient.push_back(cast(elements));
    }
    one.casts_input = input == wide_;
    if (one.casts_input) add_input_cast(one, input_elements(shape) * batch_);
    return one;
  }

  [[nodiscard]] LayerKernel cast(double elements) const {
    return {KernelKind::elementwise, {Flops{}, (size_of(wide_) + size_of(narrow_)) * elements, 1}};
  }
  void add_input_cast(LayerPrecision& one, double elements) const {
    one.beside.forward.push_back(cast(elements));
    one.beside.data_gradient.push_back(cast(elements));
  }

  /// The layer with the nearest output of as many elements as this one's input has. None: it reads the sample.
  [[nodiscard]] std::optional<std::size_t> nearest(const LayerShape& shape) const {
    return outputs_.find({input_elements(shape)}).front();
  }
  [[nodiscard]] Dtype input_or_sample(const LayerShape& shape) const {
    const auto found = nearest(shape);
    return found ? layers_[*found].output : wide_;
  }
  /// Without such an output the newest one's type.
  [[nodiscard]] Dtype input_or_newest(const LayerShape& shape) const {
    const auto found = nearest(shape);
    return found || layers_.empty() ? input_or_sample(shape) : layers_.back().output;
  }
  [[nodiscard]] const LayerShape* shape_before() const {
    return layers_.empty() ? nullptr : &*listed_.layers[layers_.size() - 1].shape;
  }
  const WorkloadTable& listed_;
  Dtype wide_, narrow_;
  double batch_;
  std::vector<std::optional<std::size_t>> linear_inputs_;
  std::vector<LayerPrecision> layers_;  ///< those so far
  EarlierOutputs outputs_;
  Dtype branch_ = narrow_;  ///< the newest sum, norm or embedding, where a branch starts
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
  const Dtype dtype = compute_dtype_of(listed);
  LayerPrecision same{dtype, dtype};
  same.beside_dtype = dtype;
  std::vector<LayerPrecision> layers =
      casts(listed) ? Autocast(listed, batch).run() : std::vector<LayerPrecision>(listed.layers.size(), same);
  add_gradient_sums(listed, batch, layers);
  return layers;
}

}  // namespace stepcast
