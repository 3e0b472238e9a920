// validate --fit: fits fields of a suite's study to its measurements.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/study/suite.hpp"
#include "sim/answer/field_points.hpp"

namespace stepcast {

/// The fields that texts of --fit name.
/// @throws UsageError
std::vector<Field> fitted_fields(const std::vector<std::string>& fits);

/// A suite with its fields at the best values, or unchanged if none is better, with text and JSON about them.
struct FittedSuite {
  Suite suite;
  std::string text;
  Json found;  ///< the same
};

/// @param changes  changes of --set, which come first
/// @throws UsageError if the replay forecasts the suite, or it has no predictions; ScenarioError if every
/// tried value is impossible (changed_suite), with the faults of the first
FittedSuite fit_suite(const Suite& suite, const std::vector<Override>& changes, const std::vector<Field>& fields,
                      int jobs);

}  // namespace stepcast
