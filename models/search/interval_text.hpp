// Parts of a range as text.
#pragma once

#include <cstddef>
#include <string>

#include "models/describe/json.hpp"
#include "models/report/rows.hpp"
#include "models/study/axis_range.hpp"

namespace stepcast {

/// "up to 2.31 Gb/s", "2.31 Gb/s to 25 Gb/s", "from 25 Gb/s", "always"; of one value alone "4".
std::string stretch_text(const AxisRange& range, double from, double to);

/// All of them, or `none`; of more than five the first four and how many follow.
template <class Stretches>
std::string stretches_text(const AxisRange& range, const Stretches& all, std::string none) {
  constexpr std::size_t kMost = 5;
  if (all.empty()) return none;
  std::string text;
  std::size_t shown = 0;
  for (const auto& one : all) {
    if (all.size() > kMost && shown + 1 == kMost) return text + ", and " + std::to_string(all.size() - shown) + " more";
    text += (shown++ > 0 ? ", " : "") + stretch_text(range, one.from, one.to);
  }
  return text;
}

/// "from 8 to 64", or "from 8 to 64 in steps of 8", "from 2 to 64 by factors of 2".
std::string range_text(const AxisRange& range);

/// How exactly changes are found by a grid of so many values, in a sentence or two: what was evaluated, and what goes
/// unseen.
std::string search_text(const AxisRange& range, std::size_t grid);

/// A value of the range; a whole number is one in CSV and JSON too.
Cell value_cell(const AxisRange& range, double value);
Json value_json(const AxisRange& range, double value);

/// The field, its ends and its grid, in JSON.
Json along_json(const std::string& axis, const std::string& pointer, const AxisRange& range, std::size_t grid);

}  // namespace stepcast
