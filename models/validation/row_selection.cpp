#include "models/validation/row_selection.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepcast {
namespace {

constexpr const char* kSuite = "suite";

/// Splits at commas. Each part is the longest known value that fits.
std::vector<std::string> split(std::string_view text, const std::string& axis, const std::set<std::string>& known) {
  std::vector<std::string> values;
  for (;;) {
    std::string_view longest;
    for (const std::string& value : known)
      if (text.starts_with(value) && (text.size() == value.size() || text[value.size()] == ',') &&
          value.size() > longest.size())
        longest = value;
    if (longest.empty())
      throw std::invalid_argument(
          fmt::format("no row has the value \"{}\" on the axis {}; there are {}", text, axis, fmt::join(known, "; ")));
    values.emplace_back(longest);
    if (text.size() == longest.size()) return values;
    text.remove_prefix(longest.size() + 1);
  }
}

}  // namespace

std::string axis_value(const std::string& axis, const std::string& suite, const ValidationRow& row) {
  return axis == kSuite ? suite : value_on(row.coordinates, axis);
}

RowCondition parse_row_condition(std::string_view text, const std::vector<Validation>& validations) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw std::invalid_argument(fmt::format(
        "\"{}\" is not AXIS=VALUE,... or AXIS!=VALUE,..., such as workers=2,4 or workload!=bert-base", text));
  RowCondition condition;
  condition.negated = text[equals - 1] == '!';
  condition.axis = text.substr(0, equals - (condition.negated ? 1 : 0));
  std::set<std::string> axes{kSuite}, known;
  for (const Validation& validation : validations) {
    axes.insert(validation.axes.begin(), validation.axes.end());
    for (const ValidationRow& row : validation.rows) known.insert(axis_value(condition.axis, validation.name, row));
  }
  if (!axes.contains(condition.axis))
    throw std::invalid_argument(
        fmt::format("no suite has the axis \"{}\"; there are {}", condition.axis, fmt::join(axes, ", ")));
  known.erase("");
  condition.values = split(text.substr(equals + 1), condition.axis, known);
  return condition;
}

bool is_selected(const std::vector<RowCondition>& conditions, const std::string& suite, const ValidationRow& row) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const RowCondition& one) {
    const std::string value = axis_value(one.axis, suite, row);
    return (std::find(one.values.begin(), one.values.end(), value) != one.values.end()) != one.negated;
  });
}

}  // namespace stepcast
