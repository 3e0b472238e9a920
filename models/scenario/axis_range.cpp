#include "models/scenario/axis_range.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

constexpr const char* kAllowed = "FROM..TO, two numbers or two quantities of one dimension, such as 2..64, 0.01..0.5 or 100Mbps..100Gbps";
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53, beyond which doubles skip whole numbers

template <class Q>
ValueUnit unit_of(std::string_view suffix) {
  return {dimension_name<Q>(), suffix, [](double si) { return exact_text(Q(si)); }, [](double si) { return human_text(Q(si)); }};
}

/// An end as it was written.
struct End {
  double value = 0.0;
  bool whole = false;
  const ValueUnit* unit = nullptr;
};

template <class Q>
std::optional<End> quantity(std::string_view text, std::string_view suffix) {
  static const ValueUnit unit = unit_of<Q>(suffix);
  try {
    return End{parse_quantity<Q>(text).si(), false, &unit};
  } catch (const UnitError&) {
    return {};
  }
}

std::optional<End> number(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) return {};
  return End{value, text.find_first_not_of("0123456789") == std::string_view::npos && value <= kLargestWhole, nullptr};
}

std::optional<End> read_end(std::string_view text) {
  for (const std::optional<End>& end : {number(text), quantity<Seconds>(text, "_s"), quantity<Bytes>(text, "_B"), quantity<BytesPerSecond>(text, "_B_per_s"), quantity<SecondsPerByte>(text, "_s_per_B"),
                                        quantity<Flops>(text, "_FLOP"), quantity<FlopsPerSecond>(text, "_FLOPS"), quantity<Hertz>(text, "_Hz")})
    if (end) return end;
  return {};
}

std::string kind_of(const End& end) { return end.unit ? fmt::format("a {}", end.unit->dimension) : "a number without a unit"; }

}  // namespace

double AxisRange::coordinate(double value) const { return from > 0 ? std::log(value) : value; }
double AxisRange::value_at(double coordinate) const { return from > 0 ? std::exp(coordinate) : coordinate; }

AxisRange parse_axis_range(std::string_view text) {
  const auto fail = [&](const std::string& why) { return std::invalid_argument(fmt::format("\"{}\": {}; allowed: {}", text, why, kAllowed)); };
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) throw fail("no two ends with .. between them");
  const std::string_view texts[] = {text.substr(0, dots), text.substr(dots + 2)};
  const std::optional<End> from = read_end(texts[0]), to = read_end(texts[1]);
  if (!from || !to) throw fail(fmt::format("the end \"{}\" is no number and no quantity with a known unit", from ? texts[1] : texts[0]));
  if (from->unit != to->unit) throw fail(fmt::format("one end is {}, the other {}", kind_of(*from), kind_of(*to)));
  if (from->value < 0) throw fail(fmt::format("the end {} is below zero", texts[0]));
  if (!(from->value < to->value)) throw fail("the ends are not in order, the smaller one first");
  return {from->value, to->value, from->whole && to->whole, from->unit};
}

std::vector<double> grid_values(const AxisRange& range, std::size_t count) {
  std::vector<double> values;
  if (range.whole && range.to - range.from < static_cast<double>(count)) {
    for (double value = range.from; value <= range.to; ++value) values.push_back(value);
    return values;
  }
  const double first = range.coordinate(range.from), last = range.coordinate(range.to);
  values.push_back(range.from);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double value = range.value_at(first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1));
    const double taken = range.whole ? std::round(value) : value;
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
