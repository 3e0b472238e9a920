#include "models/report/axis_columns.hpp"

#include <algorithm>
#include <optional>

#include "models/describe/json.hpp"
#include "models/study/axis_labels.hpp"
#include "models/unit/parse.hpp"

namespace stepcast {
namespace {

struct SiValue {
  std::string_view unit;
  double value;
};

template <class Q>
void try_to_read(const std::string& text, std::string_view unit, std::optional<SiValue>& found) {
  if (found) return;
  try {
    found = SiValue{unit, parse_quantity<Q>(text).si()};
  } catch (const UnitError&) {  // of another dimension, or no quantity
  }
}

/// A quantity's value and unit; no two dimensions have a unit in common.
std::optional<SiValue> si_value(const std::string& text) {
  std::optional<SiValue> found;
  if (text.empty() || parse_number(text)) return found;
  try_to_read<Seconds>(text, "_s", found);
  try_to_read<Bytes>(text, "_B", found);
  try_to_read<BytesPerSecond>(text, "_B_per_s", found);
  try_to_read<SecondsPerByte>(text, "_s_per_B", found);
  try_to_read<Flops>(text, "_FLOP", found);
  try_to_read<FlopsPerSecond>(text, "_FLOPS", found);
  try_to_read<Hertz>(text, "_Hz", found);
  return found;
}

/// The value as a file's cell: nothing without a value, plain numbers as numbers.
Cell typed(const std::string& label) {
  if (label.empty()) return {};
  const Json value = label_json(label);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return label;
}

}  // namespace

std::vector<std::string> axis_units(const Study& study) {
  std::vector<std::string> units;
  for (const std::vector<std::string>& values : study.axis_values) {
    std::string unit;
    bool is_one = true;
    for (const std::string& value : values) {
      const std::optional<SiValue> si = si_value(value);
      if (!si) continue;
      is_one = is_one && (unit.empty() || unit == si->unit);
      unit = si->unit;
    }
    units.push_back(is_one ? unit : "");
  }
  return units;
}

std::vector<Metric> axis_columns(const std::vector<std::string>& axes, const std::vector<std::string>& units) {
  std::vector<Metric> columns;
  columns.reserve(2 * axes.size());
  for (const std::string& axis : axes)
    columns.push_back({axis, "axis of the study", &kAxisValue,
                       [axis](const PointReport& p) { return typed(value_on(p.coordinates, axis)); }});
  for (std::size_t i = 0; i < std::min(axes.size(), units.size()); ++i) {
    if (units[i].empty()) continue;
    columns.push_back({axes[i] + units[i], "axis of the study, in SI units", &kAxisSi,
                       [axis = axes[i]](const PointReport& p) -> Cell {
                         const std::optional<SiValue> si = si_value(value_on(p.coordinates, axis));
                         return si ? Cell(si->value) : Cell();
                       }});
  }
  return columns;
}

bool is_axis_column(const Metric& column) { return column.unit == &kAxisValue || column.unit == &kAxisSi; }

std::vector<std::string> axis_units_in(const std::vector<std::string>& columns, std::size_t axes) {
  constexpr std::string_view kUnits[] = {"_s", "_B", "_B_per_s", "_s_per_B", "_FLOP", "_FLOPS", "_Hz"};
  std::vector<std::string> units(axes);
  std::size_t next = axes;
  for (std::size_t i = 0; i < axes && next < columns.size(); ++i)
    for (const std::string_view unit : kUnits)
      if (next < columns.size() && units[i].empty() && columns[next] == columns[i] + std::string(unit)) {
        units[i] = unit;
        ++next;
      }
  return units;
}

}  // namespace stepcast
