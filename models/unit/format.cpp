#include "models/unit/format.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

template <class Q>
std::span<const Unit> human_units();

constexpr Unit kHumanTime[] = {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
constexpr Unit kHumanSize[] = {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1.0}};
constexpr Unit kHumanBandwidth[] = {
    {"Tb/s", 1e12 / 8}, {"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}, {"kb/s", 1e3 / 8}, {"b/s", 1.0 / 8}};
constexpr Unit kByteRates[] = {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1.0}};
constexpr Unit kHumanTimePerByte[] = {{"ns/B", 1e-9}, {"ps/B", 1e-12}};
constexpr Unit kHumanWork[] = {{"PFLOP", 1e15}, {"TFLOP", 1e12}, {"GFLOP", 1e9}, {"MFLOP", 1e6}, {"FLOP", 1.0}};
constexpr Unit kHumanRate[] = {{"PFLOPS", 1e15}, {"TFLOPS", 1e12}, {"GFLOPS", 1e9}, {"MFLOPS", 1e6}, {"FLOPS", 1.0}};
constexpr Unit kHumanFrequency[] = {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1.0}};

template <>
std::span<const Unit> human_units<Seconds>() {
  return kHumanTime;
}
template <>
std::span<const Unit> human_units<Bytes>() {
  return kHumanSize;
}
template <>
std::span<const Unit> human_units<BytesPerSecond>() {
  return kHumanBandwidth;
}
template <>
std::span<const Unit> human_units<SecondsPerByte>() {
  return kHumanTimePerByte;
}
template <>
std::span<const Unit> human_units<Flops>() {
  return kHumanWork;
}
template <>
std::span<const Unit> human_units<FlopsPerSecond>() {
  return kHumanRate;
}
template <>
std::span<const Unit> human_units<Hertz>() {
  return kHumanFrequency;
}

/// Uses the largest unit in which the rounded value is at least 1: 999.9999 us becomes 1 ms.
std::string rounded_text(double si, int digits, std::span<const Unit> units, const char* between) {
  for (const Unit& unit : units) {
    const std::string text = fmt::format("{:.{}g}", si / unit.factor, digits);
    if (si == 0.0 ? unit.factor == 1.0 : std::abs(std::stod(text)) >= 1.0)
      return fmt::format("{}{}{}", text, between, unit.suffix);
  }
  const Unit& least = units.back();
  return fmt::format("{:.{}g}{}{}", si / least.factor, digits, between, least.suffix);
}

/// The smallest and the largest size of the values that are not zero; both 0 without any.
struct Sizes {
  double least = 0, most = 0;
};
Sizes sizes_of(std::span<const double> values) {
  Sizes sizes;
  for (const double value : values) {
    const double size = std::abs(value);
    if (size == 0 || !std::isfinite(size)) continue;
    sizes.least = sizes.least == 0 ? size : std::min(sizes.least, size);
    sizes.most = std::max(sizes.most, size);
  }
  return sizes;
}

/// Digits before the point: 3 of 128, 0 of 0.5, -1 of 0.05.
int integer_digits(double size) { return size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1; }

/// Decimals that give the least size three digits and the most four.
int decimals_of(const Sizes& sizes) {
  return std::max({0, 3 - integer_digits(sizes.least), 4 - integer_digits(sizes.most)});
}

}  // namespace

template <class Q>
std::vector<std::string> column_texts(std::span<const double> si) {
  constexpr double kApart = 1e3, kMostInUnit = 2e4;
  const Sizes sizes = sizes_of(si);
  std::vector<std::string> texts;
  if (sizes.most > kApart * sizes.least || sizes.most == 0) {
    for (const double value : si) texts.push_back(human_text(Q(value)));
    return texts;
  }
  const std::span<const Unit> units = human_units<Q>();
  // The unit of the smallest value, or the first in which the largest value is not too long.
  auto unit = units.size() - 1;
  while (unit > 0 && (sizes.least >= units[unit - 1].factor || sizes.most >= kMostInUnit * units[unit].factor)) --unit;
  const double factor = units[unit].factor;
  const int decimals = decimals_of({sizes.least / factor, sizes.most / factor});
  for (const double value : si)
    texts.push_back(fmt::format("{:.{}f} {}", value / factor, decimals, units[unit].suffix));
  return texts;
}

std::vector<std::string> column_numbers(std::span<const double> values, int most_decimals, std::string_view suffix) {
  const Sizes sizes = sizes_of(values);
  const int decimals = sizes.most < 1 ? decimals_of(sizes) : std::min(decimals_of(sizes), most_decimals);
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(fmt::format("{:.{}f}{}", value, decimals, suffix));
  return texts;
}

template <class Q>
std::string exact_text(Q value) {
  const std::string si_unit = [] {
    for (const Unit& unit : units_of<Q>())
      if (unit.factor == 1.0) return std::string(unit.suffix);
    return std::string();
  }();
  std::string best = fmt::format("{}{}", value.si(), si_unit);
  if (value.si() == 0.0) return best;
  for (const Unit& unit : units_of<Q>()) {
    const double scaled = value.si() / unit.factor;
    if (!std::isfinite(scaled)) continue;
    const std::string text = fmt::format("{}{}", scaled, unit.suffix);
    if (text.size() < best.size() && parse_quantity<Q>(text) == value) best = text;
  }
  return best;
}

template <class Q>
std::string human_text(Q value, int digits) {
  return rounded_text(value.si(), digits, human_units<Q>(), " ");
}

template <class Q>
std::string brief_text(Q value) {
  constexpr int kDigits = 5;
  if (value.si() == 0.0) return exact_text(value);
  if constexpr (std::is_same_v<Q, BytesPerSecond>) return rounded_text(value.si(), kDigits, kByteRates, "");
  return rounded_text(value.si(), kDigits, human_units<Q>(), "");
}

#define STEPCAST_INSTANTIATE(Q)                                               \
  template std::string exact_text(Q);                                         \
  template std::string human_text(Q, int);                                    \
  template std::vector<std::string> column_texts<Q>(std::span<const double>); \
  template std::string brief_text(Q);
STEPCAST_INSTANTIATE(Seconds)
STEPCAST_INSTANTIATE(Bytes)
STEPCAST_INSTANTIATE(BytesPerSecond)
STEPCAST_INSTANTIATE(SecondsPerByte)
STEPCAST_INSTANTIATE(Flops)
STEPCAST_INSTANTIATE(FlopsPerSecond)
STEPCAST_INSTANTIATE(Hertz)
#undef STEPCAST_INSTANTIATE

std::string enumerated(std::span<const std::string_view> names) {
  const std::string last(names.back());
  if (names.size() == 1) return last;
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), last);
}

std::string duration_text(Seconds duration) {
  const auto s = static_cast<long long>(std::ceil(duration.si()));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace stepcast
