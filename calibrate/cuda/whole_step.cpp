#include "calibrate/cuda/whole_step.hpp"

#include <algorithm>

namespace stepcast::calibrate {
namespace {

constexpr std::uint64_t kSeed = 11;

using kernels::DeviceWorkspace;
using kernels::Kernel;

std::size_t most_scratch(const StepToMeasure& step, const kernels::Context& context) {
  std::size_t most = 1;
  const auto look = [&](const Kernel& kernel, std::int64_t n) { most = std::max(most, kernels::scratch_bytes(kernels::find_launch(kernel.name()), kernel, n, context)); };
  for (const kernels::LayerKernels& layer : step.layers)
    for (const Kernel* part : layer.parts()) look(*part, step.table.batch);
  for (const std::int64_t elements : step.tensors) look(step.update, elements);
  return most;
}

}  // namespace

WholeStep::WholeStep(const StepToMeasure& step, const kernels::Context& context) : scratch_(most_scratch(step, context)) {
  const auto workspace = [&](const std::optional<Kernel>& kernel, std::int64_t n) -> std::unique_ptr<DeviceWorkspace> {
    if (!kernel) return nullptr;
    return std::make_unique<DeviceWorkspace>(kernels::find_launch(kernel->name()), *kernel, n, kSeed, context, scratch_.data());
  };
  for (const kernels::LayerKernels& layer : step.layers) {
    const bool first = layers_.empty();
    layers_.push_back({workspace(layer.forward, step.table.batch), first ? nullptr : workspace(layer.data_gradient, step.table.batch), workspace(layer.weight_gradient, step.table.batch)});
  }
  for (const std::int64_t elements : step.tensors) updates_.push_back(workspace(step.update, elements));
}

void WholeStep::run() const {
  for (const Layer& layer : layers_)
    if (layer.forward) layer.forward->run();
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
    for (const auto* part : {&layer->weight_gradient, &layer->data_gradient})
      if (*part) (*part)->run();
  for (const auto& update : updates_) update->run();
}

}  // namespace stepcast::calibrate
