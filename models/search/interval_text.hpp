// Intervals of a field as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/rows.hpp"
#include "models/search/crossover_search.hpp"
#include "models/study/axis_range.hpp"

namespace stepcast {

/// "up to 2.31 Gb/s", "2.31 Gb/s to 25 Gb/s", "from 25 Gb/s", "always"; for one value alone "4".
std::string interval_text(const AxisRange& range, double from, double to);

/// All of them, or `none`. With more than five, the first four and the number of the others.
std::string intervals_text(const AxisRange& range, const std::vector<FieldInterval>& all, std::string none);

/// "from 8 to 64", or "from 8 to 64 in steps of 8", "from 2 to 64 by factors of 2".
std::string range_text(const AxisRange& range);

/// How exactly a grid of so many values finds changes, in a sentence or two: the evaluated values, and changes that are
/// not seen.
std::string search_text(const AxisRange& range, std::size_t grid);

/// A value of the range. A whole number has no fraction in CSV and JSON either.
Cell value_cell(const AxisRange& range, double value);
Json value_json(const AxisRange& range, double value);

/// The field, its ends and its grid, in JSON.
Json along_json(const std::string& axis, const std::string& pointer, const AxisRange& range, std::size_t grid);

}  // namespace stepcast
