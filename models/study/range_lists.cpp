#include "models/study/range_lists.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "models/describe/json.hpp"
#include "models/study/axis_range.hpp"

namespace stepcast {
namespace {

constexpr double kMostValues = 100000;
constexpr std::array<std::string_view, 6> kTexts = {"name", "description", "source", "$schema", "from", "plot"};

/// The values of a range; nothing for other texts, and for a range without steps.
std::optional<Json> values_of(const std::string& text) {
  if (text.find("..") == std::string::npos) return {};
  AxisRange range;
  try {
    range = parse_axis_range(text, BetweenWholes::whole_numbers, LastEnd::within);
  } catch (const std::invalid_argument&) {
    return {};
  }
  if (!range.is_discrete() || !(range.steps() < kMostValues)) return {};
  Json values = Json::array();
  const auto steps = static_cast<int>(range.steps() * (1 + 1e-12));
  for (int step = 0; step <= steps; ++step) values.push_back(field_value(range, range.after(step)));
  return values;
}

}  // namespace

void expand_ranges(Json& json) {
  if (json.is_string()) {
    if (std::optional<Json> values = values_of(json.get<std::string>())) json = std::move(*values);
    return;
  }
  if (json.is_array())
    for (Json& one : json) expand_ranges(one);
  if (!json.is_object()) return;
  for (auto& [key, value] : json.items())
    if (std::find(kTexts.begin(), kTexts.end(), key) == kTexts.end()) expand_ranges(value);
}

Json range_schema() {
  return {{"type", "string"},
          {"pattern", R"(^[^.]*[0-9].*\.\..*[0-9])"},
          {"description", "a range in steps: FROM..TO:STEP or FROM..TO:xFACTOR"}};
}

}  // namespace stepcast
