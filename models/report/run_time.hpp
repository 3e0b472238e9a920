// Converts step times to the time of a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// One phase's answer: the time of a step, and its samples. For a data set in tokens, it has tokens instead.
struct PhaseStep {
  Seconds step{};
  std::int64_t samples_per_step = 1;  ///< of all workers
};

struct PhaseReport {
  std::string name;
  int epochs = 1;
  /// Ceil(samples / samples_per_step): the last step of an epoch may be partly filled.
  std::int64_t steps_per_epoch = 1;
  Seconds step{};
  Seconds before{};  ///< paid once
  Seconds time{};    ///< before + epochs · steps_per_epoch · step
};

struct RunReport {
  std::vector<PhaseReport> phases;
  Seconds time{};                    ///< of all phases
  std::optional<double> cost;        ///< of all phases, in the currency of their clusters' prices
  std::optional<double> speedup;     ///< the baseline's run time over this one's
  std::optional<Seconds> to_target;  ///< until the number of epochs after which the method reached the target
  std::string target;                ///< the target, and the evidence for it
};

/// @param last  the last phase's scenario, which gives the method for the target's table
/// @pre steps has one entry for each phase
RunReport make_run_report(const TrainingRun& run, const std::vector<PhaseStep>& steps, const Scenario& last);

}  // namespace stepcast
