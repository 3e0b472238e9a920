#include "kernels/check_shape.hpp"

#include <algorithm>

#include "kernels/products.hpp"

namespace stepcast::kernels {
namespace {

constexpr double kMostOperations = 2e9;
constexpr std::int64_t kLeastElements = 4;  // elements in a batch norm's channel

/// The part of `layer` of the same name.
Kernel same_part(const LayerKernels& layer, const Kernel& kernel) {
  for (const Kernel* part : layer.parts())
    if (part->role == kernel.role) return *part;
  return kernel;
}

/// A layer's method: its precision and, for convolutions, the path.
struct Method {
  Precision precision = Precision::fp32;
  ConvolutionPath path = ConvolutionPath::im2col;
};
Method method_of(const Kernel& kernel) {
  for (const Precision precision : kPrecisions)
    for (const ConvolutionPath path : kConvolutionPaths)
      if (kernel.method == prefix_of(path) + std::string(name_of(precision))) return {precision, path};
  return {};
}

/// `share` of `count`, and not below `least`.
std::int64_t part_of(std::int64_t count, double share, std::int64_t least = 1) {
  return std::max(least, static_cast<std::int64_t>(static_cast<double>(count) * share));
}

/// The same kernel of a layer with a share of its rows, steps, queries or lines; the kernel itself if it has none of
/// these.
Kernel shortened(const Kernel& kernel, double share) {
  const std::int64_t* p = kernel.parameters.data();
  const auto [precision, path] = method_of(kernel);
  if (kernel.role.starts_with("linear-")) {
    LinearShape s = linear_shape(p);
    s.rows = part_of(s.rows, share);
    return same_part(linear_layer(s, precision), kernel);
  }
  if (kernel.role.starts_with("lstm-")) {
    LstmShape s = lstm_shape(p);
    s.steps = part_of(s.steps, share);
    return same_part(lstm_layer(s, precision), kernel);
  }
  if (kernel.role.starts_with("attention-")) {
    AttentionShape s = attention_shape(p);
    s.sequence = part_of(s.sequence, share);
    return same_part(attention_layer(s, precision), kernel);
  }
  if (kernel.role.starts_with("conv2d-")) {
    Conv2dShape s = conv2d_shape(p);
    s.height = part_of(s.height, share, s.kernel_height);
    return same_part(conv2d_layer(s, precision, path), kernel);
  }
  if (kernel.role.starts_with("conv-transpose2d-")) {
    ConvTranspose2dShape s = conv_transpose2d_shape(p);
    s.height = part_of(s.height, share);
    return same_part(conv_transpose2d_layer(s, precision), kernel);
  }
  return kernel;
}

}  // namespace

ShapeToCheck shape_to_check(const Kernel& kernel) {
  const std::int64_t batch = kernel.role.starts_with("batch_norm-")
                                 ? ceil_div(kLeastElements, kernel.parameters[1] * kernel.parameters[2])
                                 : 1;
  const double operations = kernel.flops(batch);
  return {operations > kMostOperations ? shortened(kernel, kMostOperations / operations) : kernel, batch};
}

}  // namespace stepcast::kernels
