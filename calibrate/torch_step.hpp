// A training step as PyTorch runs it, as calibrate/torch_step.py writes it down, and its place among a profile's
// checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/layer_kernels.hpp"
#include "models/part/profile.hpp"

namespace stepcast::calibrate {

struct TorchStep {
  std::string format = "stepcast-torch-step";
  int version = 1;
  std::string workload, variant;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  std::string device, torch;
  std::optional<std::int64_t> cudnn{};
  std::int64_t parameters = 0;
  double step_time = 0;           ///< s
  std::vector<double> quartiles;  ///< s
  std::vector<double> samples;    ///< s

  template <class V>
  static void describe(V& v, TorchStep& x) {
    v.required("format", x.format, "stepcast-torch-step");
    v.required("version", x.version, "version of this format", between(1, 1));
    v.required("workload", x.workload, "layer table");
    v.required("variant", x.variant, "its variant; vanilla without one");
    v.required("batch", x.batch, "samples of a step", at_least(1));
    v.required("dtype", x.dtype, "type of the operands");
    v.required("device", x.device, "the driver's name for it");
    v.required("torch", x.torch, "PyTorch's version");
    v.required("cudnn", x.cudnn, "cuDNN's version number; null: without it");
    v.required("parameters", x.parameters, "parameters that the step updates", at_least(0));
    v.required("step_time_s", x.step_time, "median of the samples", positive);
    v.required("quartiles_s", x.quartiles, "the lower and the upper one", positive);
    v.required("samples_s", x.samples, "time of each step", positive);
  }
};

/// @throws ScenarioError with every fault: a file that cannot be read, another format, numbers that contradict each
/// other
TorchStep read_torch_step(const std::filesystem::path& path);

/// The step among `steps` that PyTorch ran: the same workload, variant, batch, type and number of parameters.
/// @param file  for faults, which say what would measure such a step
/// @throws ScenarioError where there is none
const StepToMeasure& step_of(const TorchStep& torch, const std::vector<StepToMeasure>& steps, const std::string& file);

/// Adds PyTorch's time to the profile's checks, beside those of the same step.
/// @pre the profile was made of `step` among others
/// @throws ScenarioError for a step on another device, and where a layer of it was not measured (first_unmeasured)
void add_check(DeviceProfile& profile, const TorchStep& torch, const StepToMeasure& step, const std::string& file);

}  // namespace stepcast::calibrate
