// A measured step beside its forecast: how far off it is, and what alone would explain the difference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/report.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// One cause, changed until the forecast is the measured step; everything else stays as the scenario has it.
struct PossibleCause {
  std::string meaning;            ///< "links that reach 8.1 Gb/s, where the scenario has 10 Gb/s"
  std::string set{};              ///< the --set that makes it
  std::optional<double> value{};  ///< in SI units; none: no value in the searched range explains it
};

/// Another setting of the exchange, whose step comes near the measured one.
struct NearSetting {
  std::string meaning, set;
  Seconds step{};
};

struct MeasuredStep {
  Seconds measured{}, forecast{};
  std::string assumed{};  ///< "batch 32, fp32": what the forecast is for, which a training script may have otherwise
  std::vector<PossibleCause> causes{};
  std::vector<NearSetting> near{};  ///< the nearest first

  /// Forecast over measured, minus 1: below zero the forecast is too fast.
  [[nodiscard]] double error() const { return forecast / measured - 1; }
};

/// Searches the causes that the point's scenario can have: slower or faster links, latency, copying hosts, computation
/// beside exchanges, and computation alone. Each is closed in on by the search of crossovers. It also tries other groupings of
/// gradients, and keeps those that leave at most a quarter of the error.
MeasuredStep explain_measured(const StudyPoint& point, const PointReport& report, Seconds measured, int jobs);

/// Lines for people.
std::string to_text(const MeasuredStep& step);
Json measured_json(const MeasuredStep& step);

}  // namespace stepcast
