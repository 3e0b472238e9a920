#include "models/report/run_time.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/scenario/tensor_compressors.hpp"

namespace stepcast {
namespace {

const EpochsToTarget* find_method(const AccuracyTarget& target, const Scenario& last) {
  const std::string compressor = compressor_text(last);
  const bool is_other_network = last.workload && last.workload->variant && last.workload->variant->factorize;
  const std::string variant = is_other_network ? last.workload->variant->name : "vanilla";
  for (const EpochsToTarget& method : target.methods)
    if (method.compressor == compressor && method.variant.value_or(variant) == variant) return &method;
  return nullptr;
}

/// Time until this many epochs have passed. Empty if the run ends before.
std::optional<Seconds> time_of(const std::vector<PhaseReport>& phases, int epochs) {
  Seconds time{};
  for (const PhaseReport& phase : phases) {
    const int here = std::min(epochs, phase.epochs);
    time += phase.before + phase.step * (static_cast<double>(here) * static_cast<double>(phase.steps_per_epoch));
    epochs -= here;
    if (epochs == 0) return time;
  }
  return {};
}

}  // namespace

RunReport make_run_report(const TrainingRun& run, const std::vector<PhaseStep>& steps, const Scenario& last) {
  RunReport report;
  const std::int64_t data = run.samples ? *run.samples : static_cast<std::int64_t>(std::ceil(run.tokens.value()));
  for (std::size_t i = 0; i < run.phases.size(); ++i) {
    PhaseReport phase;
    phase.name = run.phases[i].name;
    phase.epochs = run.phases[i].epochs;
    phase.steps_per_epoch = (data + steps[i].samples_per_step - 1) / steps[i].samples_per_step;
    phase.step = steps[i].step;
    if (run.phases[i].before) phase.before = run.phases[i].before->time;
    phase.time =
        phase.before + phase.step * (static_cast<double>(phase.epochs) * static_cast<double>(phase.steps_per_epoch));
    report.time += phase.time;
    report.phases.push_back(phase);
  }
  if (run.target) {
    if (const EpochsToTarget* method = find_method(*run.target, last)) {
      report.to_target = time_of(report.phases, method->epochs);
      report.target = fmt::format("{} after {} epochs ({}: {})", run.target->metric, method->epochs,
                                  name_of(method->evidence), method->source);
      if (!report.to_target) report.target += ", which the run does not have";
    }
  }
  return report;
}

}  // namespace stepcast
