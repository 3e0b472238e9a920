#include "models/report/axis_columns.hpp"

#include <algorithm>
#include <optional>

#include "models/describe/json.hpp"
#include "models/study/axis_labels.hpp"

namespace stepcast {
namespace {

/// The value as a file's cell: nothing without a value, plain numbers as numbers.
Cell typed(const std::string& label) {
  if (label.empty()) return {};
  const Json value = label_json(label);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return label;
}

std::string si_name(const std::string& axis, const ValueUnit& unit) { return axis + std::string(unit.suffix); }

}  // namespace

AxisUnits axis_units(const Study& study) {
  AxisUnits units;
  for (const std::vector<std::string>& values : study.axis_values) {
    const ValueUnit* unit = nullptr;
    bool is_one = true;
    for (const std::string& value : values) {
      const std::optional<WrittenValue> written = read_written(value);
      if (!written || !written->unit) continue;
      is_one = is_one && (!unit || unit == written->unit);
      unit = written->unit;
    }
    units.push_back(is_one ? unit : nullptr);
  }
  return units;
}

std::vector<Metric> axis_columns(const std::vector<std::string>& axes, const AxisUnits& units) {
  std::vector<Metric> columns;
  columns.reserve(2 * axes.size());
  for (const std::string& axis : axes)
    columns.push_back({axis, "axis of the study", &kAxisValue,
                       [axis](const PointReport& p) { return typed(value_on(p.coordinates, axis)); }});
  for (std::size_t i = 0; i < std::min(axes.size(), units.size()); ++i) {
    if (!units[i]) continue;
    columns.push_back({si_name(axes[i], *units[i]), "axis of the study, in SI units", &kAxisSi,
                       [axis = axes[i], unit = units[i]](const PointReport& p) -> Cell {
                         const std::optional<double> si = unit->read(value_on(p.coordinates, axis));
                         return si ? Cell(*si) : Cell();
                       }});
  }
  return columns;
}

bool is_axis_column(const Metric& column) { return column.unit == &kAxisValue || column.unit == &kAxisSi; }

AxisUnits axis_units_in(const std::vector<std::string>& columns, std::size_t axes) {
  AxisUnits units(axes);
  std::size_t next = axes;
  for (std::size_t i = 0; i < axes && next < columns.size(); ++i)
    for (const ValueUnit& unit : value_units())
      if (next < columns.size() && !units[i] && columns[next] == si_name(columns[i], unit)) {
        units[i] = &unit;
        ++next;
      }
  return units;
}

}  // namespace stepcast
