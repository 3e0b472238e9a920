// A whole training step on the device: the kernels of all layers, one after the other.
#pragma once

#include "calibrate/step_buffers.hpp"
#include "kernels/cuda/kernel_check.hpp"

namespace stepcast::calibrate {

/// The calls of plan_buffers(step) in its memory. As in training, layers hand on activations and gradients, and a
/// kernel finds the last one's output in L2. A batch that fits in training also fits here. One scratch serves all.
class WholeStep {
 public:
  /// @throws CudaError, out of memory among them
  WholeStep(const StepToMeasure& step, const kernels::Context& context);
  void run() const;

 private:
  WholeStep(const StepBuffers& plan, const kernels::Context& context);

  kernels::DeviceMemory scratch_;
  std::vector<kernels::DeviceMemory> slots_;
  std::vector<std::unique_ptr<kernels::DeviceWorkspace>> calls_;
};

}  // namespace stepcast::calibrate
