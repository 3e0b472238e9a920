// The device under measurement, behind an interface so that the program is the same with and without CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "calibrate/layer_kernels.hpp"
#include "calibrate/subject.hpp"
#include "models/part/profile.hpp"

namespace stepcast::calibrate {

/// The sizes at which kernels of compressors and updates are measured.
struct Sizes {
  std::int64_t least = 1 << 10, largest = 1 << 26;  ///< elements
  int count = 24;
  std::uint64_t seed = 0;

  /// Updates begin at one element: norms and biases are tensors of their own.
  [[nodiscard]] Sizes of_updates() const { return {1, largest, count, seed}; }
};

class Device {
 public:
  virtual ~Device() = default;
  /// All but clocks under load, date and state of the sources.
  [[nodiscard]] virtual MeasuredDevice facts() const = 0;
  /// The device's own rates, every kernel of the compressors and every update.
  [[nodiscard]] virtual std::vector<Subject> subjects(const Sizes& sizes) const = 0;
  /// A layer's kernel on a batch; checked on its own shape, on one sample of it (kernels/check_shape.hpp).
  [[nodiscard]] virtual Subject subject(const kernels::Kernel& kernel, int batch) const = 0;
  /// The step's kernels one after the other, in the memory of plan_buffers(step) (calibrate/step_buffers.hpp).
  [[nodiscard]] virtual Subject subject(const StepToMeasure& step) const = 0;
};

/// Whether there is a device, without taking hold of it. False in a build without CUDA.
/// @throws kernels::CudaError where there is one that does not answer
bool has_device();
/// Whether convolutions can be cuDNN's.
bool has_cudnn();
/// @pre has_device()
std::unique_ptr<Device> open_device();

}  // namespace stepcast::calibrate
