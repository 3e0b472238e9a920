#include "models/study/axis_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

constexpr const char* kAllowed =
    "FROM..TO, two numbers or two quantities of one dimension, such as 2..64, 0.01..0.5 or 100Mbps..100Gbps, "
    "optionally followed by a step, 8..64:8, or a factor, 2..64:x2";
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53; above it, doubles skip integers

template <class Q>
ValueUnit unit_of(std::string_view suffix) {
  return {dimension_name<Q>(), suffix, [](double si) { return exact_text(Q(si)); },
          [](double si) { return human_text(Q(si)); },
          [](std::string_view text) -> std::optional<double> {
            try {
              return parse_quantity<Q>(text).si();
            } catch (const UnitError&) {
              return {};
            }
          }};
}

/// The value that lies this many steps from the first end.
double moved(const AxisRange& range, double steps) {
  if (range.spacing == Spacing::factor) return range.from * std::pow(range.step, steps);
  const double value = range.from + steps * range.step;
  return range.unit || range.whole
             ? value
             : std::stod(fmt::format("{:.12g}", value));  // 1.7 instead of 1 + 7·0.1 = 1.7000000000000002
}

std::string kind_of(const WrittenValue& end) {
  return end.unit ? fmt::format("a {}", end.unit->dimension) : "a number without a unit";
}

}  // namespace

std::span<const ValueUnit> value_units() {
  static const std::array kUnits = {unit_of<Seconds>("_s"),
                                    unit_of<Bytes>("_B"),
                                    unit_of<BytesPerSecond>("_B_per_s"),
                                    unit_of<SecondsPerByte>("_s_per_B"),
                                    unit_of<Flops>("_FLOP"),
                                    unit_of<FlopsPerSecond>("_FLOPS"),
                                    unit_of<Hertz>("_Hz")};
  return kUnits;
}

std::optional<WrittenValue> read_written(std::string_view text) {
  if (const std::optional<double> value = parse_number(text))
    return WrittenValue{*value,
                        text.find_first_not_of("0123456789") == std::string_view::npos && *value <= kLargestWhole};
  for (const ValueUnit& unit : value_units())
    if (const std::optional<double> si = unit.read(text)) return WrittenValue{*si, false, &unit};
  return {};
}

double AxisRange::coordinate(double value) const { return from > 0 ? std::log(value) : value; }
double AxisRange::value_at(double coordinate) const { return from > 0 ? std::exp(coordinate) : coordinate; }

double AxisRange::steps_to(double value) const {
  return spacing == Spacing::factor ? std::log(value / from) / std::log(step) : (value - from) / step;
}
double AxisRange::steps() const { return std::round(steps_to(to)); }
double AxisRange::after(double steps) const { return steps == this->steps() ? to : moved(*this, steps); }

namespace {

/// Reads the text after "FROM..TO:", such as "8", "8MiB" or "x2".
/// @param fail  makes the exception from an explanation
template <class Fail>
void read_step(AxisRange& range, std::string_view text, LastEnd end, Fail&& fail) {
  const bool is_factor = text.starts_with('x');
  const std::optional<WrittenValue> step = read_written(is_factor ? text.substr(1) : text);
  if (!step) throw fail(fmt::format("the step \"{}\" is no number and no quantity with a known unit", text));
  if (is_factor && (step->unit || !(step->value > 1) || !(range.from > 0)))
    throw fail(fmt::format("the factor \"{}\" has to be a number above 1, and the first end above zero", text));
  if (!is_factor && (step->unit != range.unit || !(step->value > 0)))
    throw fail(fmt::format("the step \"{}\" has to be above zero, and of the ends' kind: {}", text,
                           kind_of({0, false, range.unit})));
  range.whole = range.whole && step->whole;
  range.spacing = is_factor ? Spacing::factor : Spacing::added;
  range.step = step->value;
  const double steps = range.steps_to(range.to);
  if (const double last = std::floor(steps * (1 + 1e-12)); last < 1)
    throw fail("the first step goes beyond the last end");
  else if (end == LastEnd::within) range.to = moved(range, last);
  else if (std::abs(steps - last) > 1e-9 * steps)
    throw fail(fmt::format("no step reaches the last end; the nearest steps reach {} and {}",
                           human_value(range, moved(range, last)), human_value(range, moved(range, last + 1))));
  if (steps > kLargestWhole) throw fail("more steps than can be counted");
}

}  // namespace

AxisRange parse_axis_range(std::string_view text, BetweenWholes between, LastEnd last) {
  const auto fail = [&](const std::string& why) {
    return std::invalid_argument(fmt::format("\"{}\": {}; allowed: {}", text, why, kAllowed));
  };
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) throw fail("no two ends with .. between them");
  const auto colon = std::min(text.size(), text.find(':', dots));
  const std::string_view texts[] = {text.substr(0, dots), text.substr(dots + 2, colon - dots - 2)};
  const std::optional<WrittenValue> from = read_written(texts[0]), to = read_written(texts[1]);
  if (!from || !to)
    throw fail(
        fmt::format("the end \"{}\" is no number and no quantity with a known unit", from ? texts[1] : texts[0]));
  if (from->unit != to->unit) throw fail(fmt::format("one end is {}, the other {}", kind_of(*from), kind_of(*to)));
  if (from->value < 0) throw fail(fmt::format("the end {} is below zero", texts[0]));
  if (!(from->value < to->value)) throw fail("the ends are not in order, the smaller one first");
  const bool whole = between == BetweenWholes::whole_numbers && from->whole && to->whole;
  AxisRange range{from->value, to->value, whole, from->unit};
  if (colon < text.size()) read_step(range, text.substr(colon + 1), last, fail);
  return range;
}

std::vector<double> grid_values(const AxisRange& range, std::size_t count) {
  std::vector<double> values;
  if (range.is_discrete() && range.steps() < static_cast<double>(count)) {
    for (double steps = 0; steps <= range.steps(); ++steps) values.push_back(range.after(steps));
    return values;
  }
  const double first = range.coordinate(range.from), last = range.coordinate(range.to);
  values.push_back(range.from);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double value =
        range.value_at(first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1));
    const double taken = range.is_discrete() ? range.after(std::round(range.steps_to(value))) : value;
    if (taken > values.back() && taken < range.to) values.push_back(taken);
  }
  values.push_back(range.to);
  return values;
}

Json field_value(const AxisRange& range, double value) {
  if (range.unit) return range.unit->exact(value);
  if (range.whole) return static_cast<std::int64_t>(value);
  return value;
}

std::string human_value(const AxisRange& range, double value) {
  if (range.unit) return range.unit->human(value);
  return range.whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{:.4g}", value);
}

}  // namespace stepcast
