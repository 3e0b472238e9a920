// A selection of suites' rows by their coordinates: those that a fit may see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/validation/validation.hpp"

namespace stepcast {

/// A row's value on an axis; the suite's name on the axis "suite"; "" if it has none.
std::string axis_value(const std::string& axis, const std::string& suite, const ValidationRow& row);

/// The rows with one of these values on an axis, or with none of them.
struct RowCondition {
  std::string axis;  ///< "suite" is the suite's name
  std::vector<std::string> values;
  bool negated = false;
};

/// Reads "AXIS=VALUE,VALUE" or "AXIS!=VALUE,VALUE". Values may have commas of their own.
/// @throws std::invalid_argument with the text found and the allowed forms, axes or values of the validations' rows
RowCondition parse_row_condition(std::string_view text, const std::vector<Validation>& validations);

/// Whether all conditions hold.
bool is_selected(const std::vector<RowCondition>& conditions, const std::string& suite, const ValidationRow& row);

}  // namespace stepcast
