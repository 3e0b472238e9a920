#include "models/search/interval_text.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"

namespace stepcast {
namespace {

/// The distance of the grid's neighbours: "1.33 times", or a difference.
std::string grid_step_text(const AxisRange& range, std::size_t grid) {
  const double steps = static_cast<double>(grid - 1);
  if (range.from > 0) return fmt::format("{:.3g} times", std::pow(range.to / range.from, 1 / steps));
  return human_value({0, 1, false, range.unit}, range.to / steps);
}

}  // namespace

std::string interval_text(const AxisRange& range, double from, double to) {
  const bool from_start = from <= range.from, to_end = to >= range.to;
  if (from_start && to_end) return "always";
  if (from == to) return human_value(range, from);
  if (from_start) return "up to " + human_value(range, to);
  if (to_end) return "from " + human_value(range, from);
  return fmt::format("{} to {}", human_value(range, from), human_value(range, to));
}

std::string intervals_text(const AxisRange& range, const std::vector<FieldInterval>& all, std::string none) {
  constexpr std::size_t kMost = 5;
  if (all.empty()) return none;
  std::vector<std::string> texts;
  const std::size_t shown = all.size() > kMost ? kMost - 1 : all.size();
  for (std::size_t i = 0; i < shown; ++i) texts.push_back(interval_text(range, all[i].from, all[i].to));
  if (shown < all.size()) texts.push_back(fmt::format("and {} more", all.size() - shown));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string range_text(const AxisRange& range) {
  std::string text = fmt::format("from {} to {}", human_value(range, range.from), human_value(range, range.to));
  if (range.spacing == Spacing::factor) text += fmt::format(" by factors of {:.4g}", range.step);
  else if (range.is_discrete() && !(range.whole && range.step == 1))
    text += " in steps of " + human_value(range, range.step);
  return text;
}

std::string search_text(const AxisRange& range, std::size_t grid) {
  if (range.is_discrete() && range.steps() < static_cast<double>(grid)) return "every value was evaluated\n";
  return fmt::format(
      "changes are {}; two of them between neighbours of the {} values looked at first, {}\napart, are not seen: --grid N looks at more\n",
      range.is_discrete() ? "exact" : fmt::format("found to {:g} of the value", kCrossoverWidth), grid,
      grid_step_text(range, grid));
}

Cell value_cell(const AxisRange& range, double value) {
  return range.whole ? Cell(static_cast<std::int64_t>(value)) : Cell(value);
}
Json value_json(const AxisRange& range, double value) {
  return range.whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json along_json(const std::string& axis, const std::string& pointer, const AxisRange& range, std::size_t grid) {
  const Json step = range.spacing == Spacing::added ? value_json(range, range.step) : Json(),
             factor = range.spacing == Spacing::factor ? Json(range.step) : Json();
  return {{"axis", axis},
          {"pointer", pointer},
          {"from", value_json(range, range.from)},
          {"to", value_json(range, range.to)},
          {"step", step},
          {"factor", factor},
          {"si_unit", range.unit ? Json(range.unit->suffix.substr(1)) : Json()},
          {"grid", grid}};
}

}  // namespace stepcast
