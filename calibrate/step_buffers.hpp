// The memory of a whole training step: its kernels in order, and the buffers that they share. As in training, a layer's
// output is the next one's input, and is kept until its backward pass has read it.
//
//     StepBuffers plan = plan_buffers(step);   // plan.calls[i].slots[b]: where buffer b of the i-th kernel lies
//
// A table lists layers in order, but not their connections. An input is therefore the latest output of the same type and
// size. In a chain, that is the output of the layer before, and at a residual sum also the branch's begin. The gradient
// of an output comes from the first layer that took it. If none fits, a separate buffer is filled once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "calibrate/layer_kernels.hpp"

namespace stepcast::calibrate {

/// A kernel of the step.
struct StepCall {
  static constexpr std::size_t kUpdate = static_cast<std::size_t>(-1);
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  const kernels::Kernel* kernel;
  std::int64_t n;
  std::size_t layer;               ///< index in the table; kUpdate: in no layer
  std::vector<std::size_t> slots;  ///< one slot for each of its buffers, in order; kNothing for one without elements
};

/// A piece of memory.
struct Slot {
  std::size_t bytes = 0;
  /// Its content before the first step: weights, state, input from outside. Nothing: another kernel of the step writes
  /// it before any kernel reads it. A filled slot is written only by kernels that also read it.
  std::optional<kernels::Buffer> fill{};
  std::int64_t n = 0;  ///< for filling
};

struct StepBuffers {
  std::vector<StepCall> calls;
  std::vector<Slot> slots;

  [[nodiscard]] std::size_t bytes() const;
};

/// The kernels of the step in order. First come all forward layers. In reverse order follow the data gradient (not the
/// first layer's) and then the weight gradient, which may need data that the former keeps. Last comes an update of each
/// tensor. Slots are not filled in.
std::vector<StepCall> calls_of(const StepToMeasure& step);

/// @param step  which the result refers to
StepBuffers plan_buffers(const StepToMeasure& step);

}  // namespace stepcast::calibrate
