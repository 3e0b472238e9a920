// validate --fit: fields of a suite's study set to what its measurements say.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/study/suite.hpp"
#include "sim/answer/field_points.hpp"

namespace stepcast {

/// What texts of --fit name.
/// @throws CLI::ValidationError
std::vector<Field> fitted_fields(const std::vector<std::string>& fits);

/// A suite with its fields at the values found, or as it is where none is better, and what is to be said of them.
struct FittedSuite {
  Suite suite;
  std::string text;
  Json found;  ///< the same
};

/// @param changes  of --set, made before
/// @throws CLI::ValidationError where the suite is forecast by the replay or has no predictions; ScenarioError
/// where every value tried is impossible (changed_suite), of the first of them
FittedSuite fit_suite(const Suite& suite, const std::vector<Override>& changes, const std::vector<Field>& fields,
                      int jobs);

}  // namespace stepcast
