// A field of a study that is given values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/override.hpp"
#include "models/study/axis_range.hpp"

namespace stepcast {

/// The field that values are given to.
struct Field {
  std::string pointer;  ///< where the values are set
  /// The field's place in a point's document. It differs from `pointer` if that points into a variant's changes.
  std::string place;
  AxisRange range;
};

/// The field at `pointer` in a study.
/// @param range  as parse_axis_range reads it. If the field takes real numbers, whole ends have real numbers between
/// them
/// @throws std::invalid_argument for an unusable range
Field field_at(std::string pointer, std::string_view range);

/// The field's values as an override of the study, or of a point's own document.
Override values_of(const Field& field, const std::string& pointer, const std::vector<double>& values);
/// One value as an override of a point's own document.
Override value_of(const Field& field, double value);

/// The text of a value in a point's coordinate.
std::string coordinate_text(const AxisRange& range, double value);

}  // namespace stepcast
