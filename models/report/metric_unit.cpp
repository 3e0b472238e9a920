#include "models/report/metric_unit.hpp"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

double read_number(std::string_view text) {
  if (const std::optional<double> value = parse_number(text)) return *value;
  const LeadingNumber number = leading_number(text);
  const bool is_percent = number.error == std::errc{} && number.rest == "%";
  const std::string remedy =
      is_percent ? fmt::format("; write {:.12g}, or for a share of the best --within", number.value / 100) : "";
  throw std::invalid_argument(fmt::format("\"{}\" is not a number{}", text, remedy));
}
template <class Q>
double read_quantity(std::string_view text) {
  return parse_quantity<Q>(text).si();
}

template <class Q>
std::string quantity(double si) {
  return human_text(Q(si));
}
std::string run_time(double seconds) { return run_text(Seconds(seconds)); }
std::string four_digits(double value) { return fmt::format("{:.4g}", value); }
/// Four digits, or more if the integer part has more.
std::string plain(double value) { return value < 1e4 ? four_digits(value) : fmt::format("{:.0f}", value); }
std::string per_second(double value) { return four_digits(value) + "/s"; }
std::string measured_per_second(double value) { return four_digits(value) + " /s"; }
std::string times(double value) { return four_digits(value) + "x"; }
std::string few_times(double value) { return fmt::format("{:.3g}x", value); }
std::string tenths(double value) { return fmt::format("{:.1f} %", 100 * value); }
std::string with_sign(double value) { return fmt::format("{:+.1e}", value); }

template <class Q>
constexpr MetricUnit unit_of(std::string_view symbol) {
  return {CellKind::number, symbol, read_quantity<Q>, quantity<Q>, quantity<Q>, quantity<Q>};
}
using Show = std::string (*)(double);
constexpr MetricUnit number(std::string_view symbol, Show text, Show cell, Show measured, bool is_share = false) {
  return {CellKind::number, symbol, read_number, text, cell, measured, is_share};
}

}  // namespace

constexpr MetricUnit kTruth{CellKind::truth}, kCount{CellKind::count}, kText{CellKind::text}, kTexts{CellKind::texts};
constexpr MetricUnit kTime = unit_of<Seconds>("s");
constexpr MetricUnit kRunTime{CellKind::number, "s", read_quantity<Seconds>, run_time, run_time, run_time};
constexpr MetricUnit kBytes = unit_of<Bytes>("B");
constexpr MetricUnit kBandwidth = unit_of<BytesPerSecond>("B/s");
constexpr MetricUnit kSampleRate = number("samples/s", per_second, four_digits, measured_per_second);
constexpr MetricUnit kTokenRate = number("tokens/s", per_second, plain, measured_per_second);
constexpr MetricUnit kRatio = number("1", times, few_times, few_times);
constexpr MetricUnit kShare = number("1", percent, percent, tenths, true);
constexpr MetricUnit kDifference = number("1", with_sign, with_sign, with_sign);
constexpr MetricUnit kPrice = number("currency", four_digits, plain, four_digits);

}  // namespace stepcast
