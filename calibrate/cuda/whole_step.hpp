// A whole training step on the device: the kernels of all layers, one after the other.
#pragma once

#include "calibrate/layers.hpp"
#include "kernels/cuda/check.hpp"

namespace stepcast::calibrate {

/// Buffers of every kernel, each its own, and one scratch that all share: no kernel finds in L2 what another has just
/// written, unlike in a training step whose layers hand activations on.
class WholeStep {
 public:
  /// @throws CudaError, out of memory among them
  WholeStep(const StepToMeasure& step, const kernels::Context& context);
  /// Forward in the table's order, back in reverse order without the first layer's data gradient, an update a tensor.
  void run() const;

 private:
  struct Layer {
    std::unique_ptr<kernels::DeviceWorkspace> forward, data_gradient, weight_gradient;
  };
  kernels::DeviceMemory scratch_;
  std::vector<Layer> layers_;
  std::vector<std::unique_ptr<kernels::DeviceWorkspace>> updates_;
};

}  // namespace stepcast::calibrate
