// From step times to the time of a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// One phase's answer: what a step of it takes, of how many samples (of a data set in tokens: tokens).
struct PhaseStep {
  Seconds step{};
  std::int64_t samples_per_step = 1;  ///< of all workers
};

struct PhaseReport {
  std::string name;
  int epochs = 1;
  std::int64_t steps_per_epoch = 1;  ///< ceil(samples / samples_per_step): the last step of an epoch may be part-filled
  Seconds step{};
  Seconds before{};  ///< paid once
  Seconds time{};    ///< before + epochs · steps_per_epoch · step
};

struct RunReport {
  std::vector<PhaseReport> phases;
  Seconds time{};                    ///< of all phases
  std::optional<double> cost;        ///< of all phases, in the currency of their clusters' prices
  std::optional<double> speedup;     ///< the baseline's run time over this one's
  std::optional<Seconds> to_target;  ///< until the epochs have passed that the method was seen to need
  std::string target;                ///< what is reached then, and by what evidence
};

/// @param last  the last phase's scenario, which tells the method for the target's table
/// @pre steps has one entry for each phase
RunReport make_run_report(const TrainingRun& run, const std::vector<PhaseStep>& steps, const Scenario& last);

}  // namespace stepcast
