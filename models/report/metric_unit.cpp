#include "models/report/metric_unit.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

using Texts = std::vector<std::string>;

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
Texts numbers_column(std::span<const double> values) { return column_numbers(values, 2, ""); }
Texts times_column(std::span<const double> values) { return column_numbers(values, 2, "x"); }
std::string with_sign(double value) { return fmt::format("{:+.1e}", value); }

template <class Q>
constexpr MetricUnit unit_of(std::string_view symbol) {
  return {CellKind::number, symbol, read_quantity<Q>, quantity<Q>, quantity<Q>, quantity<Q>, false, column_texts<Q>};
}
/// As nccl-tests prints them.
std::string gigabytes(double value) { return fmt::format("{:.4g} GB/s", value / 1e9); }
/// Two decimals as nccl-tests has, or more for slow links. Values too far apart have four digits each.
Texts gigabytes_column(std::span<const double> values) {
  constexpr double kApart = 1000;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  Texts texts;
  std::vector<double> in_unit;
  for (const double value : values) {
    texts.push_back(gigabytes(value));
    in_unit.push_back(value / 1e9);
  }
  if (values.empty() || *most > kApart * *least) return texts;
  return column_numbers(in_unit, *least >= 1e8 ? 2 : 4, " GB/s");
}
using Show = std::string (*)(double);
using ShowColumn = Texts (*)(std::span<const double>);
constexpr MetricUnit number(std::string_view symbol, Show text, Show cell, Show measured, ShowColumn column) {
  return {CellKind::number, symbol, read_number, text, cell, measured, false, column};
}

}  // namespace

constexpr MetricUnit kTruth{CellKind::truth}, kCount{CellKind::count}, kText{CellKind::text}, kTexts{CellKind::texts};
constexpr MetricUnit kPhases{CellKind::phases};
constexpr MetricUnit kAxisValue{CellKind::value}, kAxisSi{CellKind::number};
constexpr MetricUnit kTime = unit_of<Seconds>("s");
constexpr MetricUnit kRunTime{CellKind::number, "s", read_quantity<Seconds>, run_time, run_time, run_time};
constexpr MetricUnit kBytes = unit_of<Bytes>("B");
constexpr MetricUnit kBandwidth{
    CellKind::number, "B/s", read_quantity<BytesPerSecond>, gigabytes, gigabytes, gigabytes, false, gigabytes_column};
constexpr MetricUnit kSampleRate = number("samples/s", per_second, four_digits, measured_per_second, numbers_column);
constexpr MetricUnit kTokenRate = number("tokens/s", per_second, plain, measured_per_second, numbers_column);
constexpr MetricUnit kRatio = number("1", times, few_times, few_times, times_column);
constexpr MetricUnit kShare{CellKind::number, "1", read_number, percent, tenths, tenths, true};
constexpr MetricUnit kDifference = number("1", with_sign, with_sign, with_sign, nullptr);
constexpr MetricUnit kPrice = number("currency", four_digits, plain, four_digits, numbers_column);

}  // namespace stepcast
