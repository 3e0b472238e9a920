#include "calibrate/torch_step.hpp"

#include "models/scenario/part_json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/profile_of_samples.hpp"
#include "calibrate/statistics.hpp"

namespace stepcast::calibrate {
namespace {

[[noreturn]] void refuse(Fault fault) { throw ScenarioError({std::move(fault)}); }

/// Conditions between fields that are valid by themselves.
void check_times(const TorchStep& step, std::vector<Fault>& faults) {
  if (step.quartiles.size() != 2 || step.quartiles[0] > step.quartiles[1])
    faults.push_back({"", "/quartiles_s", fmt::format("[{}]", fmt::join(step.quartiles, ", ")),
                      "two numbers, the lower one first", "time the step again"});
  if (step.samples.empty()) {
    faults.push_back({"", "/samples_s", "an empty list", "a time for each step", "time the step again"});
  } else if (const double middle = median(step.samples); std::abs(step.step_time - middle) > 1e-9 * middle) {
    faults.push_back({"", "/step_time_s", fmt::format("{}", step.step_time),
                      fmt::format("{}, the median of samples_s", middle), "time the step again"});
  }
}

/// "resnet50 pufferfish, batch 32, tf32"
std::string text_of(const std::string& workload, const std::string& variant, int batch, Dtype dtype) {
  return fmt::format("{} {}, batch {}, {}", workload, variant, batch, stepcast::name_of(dtype));
}

std::int64_t parameters_of(const StepToMeasure& step) {
  std::int64_t sum = 0;
  for (const std::int64_t elements : step.tensors) sum += elements;
  return sum;
}

bool is_same(const StepCheck& check, const TorchStep& torch) {
  return check.workload == torch.workload && check.variant == torch.variant && check.batch == torch.batch &&
         check.dtype == torch.dtype;
}

}  // namespace

TorchStep read_torch_step(const std::filesystem::path& path) {
  const Json json = read_json(path);
  TorchStep step;
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (format == json.end() || *format != step.format)
    refuse({path.string(), "/format", format == json.end() ? "nothing" : describe_value(*format),
            "\"" + step.format + "\"", "calibrate/torch_step.py writes such a file"});
  std::vector<Fault> faults;
  read_value(json, "", step, any, faults);
  if (faults.empty()) check_times(step, faults);
  for (Fault& fault : faults) fault.file = path.string();
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  return step;
}

const StepToMeasure& step_of(const TorchStep& torch, const std::vector<StepToMeasure>& steps, const std::string& file) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const StepToMeasure& step) {
    return step.table.name == torch.workload && step.variant == torch.variant && step.table.batch == torch.batch &&
           step.table.dtype == torch.dtype;
  });
  if (found == steps.end()) {
    std::vector<std::string> measured;
    for (const StepToMeasure& step : steps)
      measured.push_back(text_of(step.table.name, step.variant, step.table.batch, step.table.dtype));
    refuse({file, "", text_of(torch.workload, torch.variant, torch.batch, torch.dtype),
            measured.empty() ? "a step that is measured too, and no --workload is"
                             : "a step that is measured too: " + fmt::format("{}", fmt::join(measured, "; ")),
            fmt::format("add --workload {}:{} --batch {} --dtype {}, or leave the file out", torch.workload,
                        torch.variant, torch.batch, stepcast::name_of(torch.dtype))});
  }
  if (torch.parameters != parameters_of(*found))
    refuse({file, "/parameters", std::to_string(torch.parameters),
            fmt::format("{}, as {} has", parameters_of(*found),
                        text_of(torch.workload, torch.variant, torch.batch, torch.dtype)),
            "time the table that --tables writes"});
  return *found;
}

void add_check(DeviceProfile& profile, const TorchStep& torch, const StepToMeasure& step, const std::string& file) {
  if (!profile.device || profile.device->name != torch.device)
    refuse({file, "/device", "\"" + torch.device + "\"",
            profile.device ? "\"" + profile.device->name + "\", the device of the profile" : "a measured device",
            "time the step on it, or leave the file out"});
  if (const Layer* layer = first_unmeasured(step, profile))
    refuse({file, "", "a step whose layer " + layer->name + " was not measured",
            "steps all of whose layers are in the profile",
            "the calibration's log gives the reason why the layer was left out; a smaller --batch needs less memory"});
  const std::string cudnn = torch.cudnn ? fmt::format(", cuDNN {}", *torch.cudnn) : "";
  const StepCheck check{torch.workload,
                        torch.variant,
                        torch.batch,
                        torch.dtype,
                        assembled_step(step, profile),
                        Seconds(torch.step_time),
                        fmt::format("PyTorch {}{}, each layer on a separate input", torch.torch, cudnn)};
  const auto last = std::find_if(profile.checks.rbegin(), profile.checks.rend(),
                                 [&](const StepCheck& one) { return is_same(one, torch); });
  profile.checks.insert(last == profile.checks.rend() ? profile.checks.end() : last.base(), check);
}

}  // namespace stepcast::calibrate
