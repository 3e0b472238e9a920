#include "sim/answer/field.hpp"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/scenario/part_json.hpp"
#include "models/study/schema.hpp"

namespace stepcast {
namespace {

/// Returns "/compressor/ratio" for "/variants/1/set/~1compressor/ratio".
std::string place_of(const std::string& pointer) {
  const auto tokens = tokens_of(pointer);  // a malformed pointer is reported when it is applied
  if (!tokens || tokens->size() < 4 || (*tokens)[0] != "variants" || (*tokens)[2] != "set") return pointer;
  std::string place = (*tokens)[3];
  for (std::size_t i = 4; i < tokens->size(); ++i) place = pointer_to(place, (*tokens)[i]);
  return place;
}

}  // namespace

Field field_at(std::string pointer, std::string_view range) {
  if (!is_utf8(pointer)) throw std::invalid_argument(fmt::format("\"{}\" is not UTF-8", pointer));
  std::string place = place_of(pointer);
  // A range with a unit has real numbers, whatever the schema says, which takes a while to ask.
  const std::optional<WrittenValue> first = read_written(range.substr(0, range.find("..")));
  const bool is_real = (first && first->unit) || takes_fractions(place);
  const auto between = is_real ? BetweenWholes::real_numbers : BetweenWholes::whole_numbers;
  return {std::move(pointer), std::move(place), parse_axis_range(range, between)};
}

Override values_of(const Field& field, const std::string& pointer, const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(field_value(field.range, value));
  return {pointer, std::move(list), "--along", field.pointer};
}

Override value_of(const Field& field, double value) {
  return {field.place, field_value(field.range, value), "--along", field.pointer};
}

std::string coordinate_text(const AxisRange& range, double value) {
  const Json json = field_value(range, value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

}  // namespace stepcast
