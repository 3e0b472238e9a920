#include "models/unit/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/unit/units.hpp"

namespace stepcast {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

/// Units that the author may mean: the same letters in another case, or with "/s" instead of "ps".
template <class Q>
std::string guesses(std::string_view suffix) {
  std::vector<std::string_view> found;
  std::string slashed(suffix);
  if (slashed.size() > 2 && same_but_for_case(slashed.substr(slashed.size() - 2), "ps"))
    slashed.replace(slashed.size() - 2, 2, "/s");
  for (const Unit& unit : units_of<Q>())
    if (same_but_for_case(unit.suffix, suffix) || same_but_for_case(unit.suffix, slashed)) found.push_back(unit.suffix);
  // A capital B suggests bytes.
  const auto in_bytes = [](std::string_view unit) { return unit.find('B') != std::string_view::npos; };
  std::stable_partition(found.begin(), found.end(),
                        [&](std::string_view unit) { return in_bytes(unit) == in_bytes(suffix); });
  return fmt::format("{}", fmt::join(found, " or "));
}

}  // namespace

LeadingNumber leading_number(std::string_view text) {
  LeadingNumber number;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number.value);
  number.rest = std::string_view(rest, static_cast<std::size_t>(end - rest));
  number.error = error == std::errc{} && !std::isfinite(number.value) ? std::errc::invalid_argument : error;
  return number;
}

std::optional<double> parse_number(std::string_view text) {
  const LeadingNumber number = leading_number(text);
  return number.error == std::errc{} && number.rest.empty() ? std::optional(number.value) : std::nullopt;
}

template <class Q>
std::string allowed_units() {
  std::string list;
  for (const Unit& unit : units_of<Q>()) list += fmt::format("{}{}", list.empty() ? "" : ", ", unit.suffix);
  return list;
}

template <class Q>
Q parse_quantity(std::string_view text) {
  const auto fail = [&](std::string_view why) -> UnitError {
    const std::string reason = fmt::format("{}; allowed units: {}", why, allowed_units<Q>());
    return UnitError(fmt::format("{} \"{}\": {}", dimension_name<Q>(), text.substr(0, 80), reason), reason);
  };
  const LeadingNumber number = leading_number(text);
  if (number.error == std::errc::result_out_of_range) throw fail("the number is too large or too small");
  if (number.error != std::errc{}) throw fail("does not begin with a number");
  std::string_view suffix = number.rest;
  if (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  if (suffix.empty()) throw fail("has no unit");
  // Greek mu looks like the micro sign. The table has only the micro sign.
  std::string as_micro;
  if (suffix.starts_with("\u03bc")) {
    as_micro = "\u00b5" + std::string(suffix.substr(2));
    suffix = as_micro;
  }
  for (const Unit& unit : units_of<Q>()) {
    if (unit.suffix != suffix) continue;
    const double si = number.value * unit.factor;
    if (!std::isfinite(si)) throw fail("the number is too large");
    return Q(si);
  }
  const std::string meant = guesses<Q>(suffix);
  throw fail(fmt::format("unknown or ambiguous unit \"{}\"{}", suffix.substr(0, 20),
                         meant.empty() ? "" : "; did you mean " + meant + "?"));
}

#define STEPCAST_INSTANTIATE(Q)                   \
  template Q parse_quantity<Q>(std::string_view); \
  template std::string allowed_units<Q>();
STEPCAST_INSTANTIATE(Seconds)
STEPCAST_INSTANTIATE(Bytes)
STEPCAST_INSTANTIATE(BytesPerSecond)
STEPCAST_INSTANTIATE(SecondsPerByte)
STEPCAST_INSTANTIATE(Flops)
STEPCAST_INSTANTIATE(FlopsPerSecond)
STEPCAST_INSTANTIATE(Hertz)
#undef STEPCAST_INSTANTIATE

}  // namespace stepcast
