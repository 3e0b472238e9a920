#include "models/unit/format.hpp"

#include <cmath>
#include <span>
#include <string>
#include <type_traits>

#include <fmt/format.h>

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

}  // namespace

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

#define STEPCAST_INSTANTIATE(Q)            \
  template std::string exact_text(Q);      \
  template std::string human_text(Q, int); \
  template std::string brief_text(Q);
STEPCAST_INSTANTIATE(Seconds)
STEPCAST_INSTANTIATE(Bytes)
STEPCAST_INSTANTIATE(BytesPerSecond)
STEPCAST_INSTANTIATE(SecondsPerByte)
STEPCAST_INSTANTIATE(Flops)
STEPCAST_INSTANTIATE(FlopsPerSecond)
STEPCAST_INSTANTIATE(Hertz)
#undef STEPCAST_INSTANTIATE

std::string duration_text(Seconds duration) {
  const auto s = static_cast<long long>(std::ceil(duration.si()));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace stepcast
