#include "models/describe/reader.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/other_words.hpp"

namespace stepcast {

std::string to_string(const Limits& limits) {
  if (limits.min && limits.max && limits.exclusive)
    return fmt::format("above {:g} and at most {:g}", *limits.min, *limits.max);
  if (limits.min && limits.max) return fmt::format("from {} to {}", *limits.min, *limits.max);
  if (limits.min) return fmt::format("{} {}", limits.exclusive ? "above" : "of at least", *limits.min);
  if (limits.max) return fmt::format("of at most {}", *limits.max);
  return "";
}

bool admits(const Limits& limits, double value) {
  if (limits.min && (value < *limits.min || (limits.exclusive && value == *limits.min))) return false;
  return !limits.max || value <= *limits.max;
}

namespace {

/// Suggests a replacement for a word that is not one of the names.
std::string remedy_of(const std::string& word, const std::vector<std::string>& names) {
  const NameHere here = name_here(word, names).value_or(NameHere{nearest(word, names), "", true});
  if (here.is_spelling) return here.name.empty() ? "" : fmt::format("did you mean \"{}\"?", here.name);
  if (here.name.empty()) return here.field.empty() ? "stepcast has no equivalent of that word" : here.field;
  return fmt::format("that is \"{}\" here{}{}", here.name, here.field.empty() ? "" : ", with ", here.field);
}

std::string list_names(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Fault unknown_name(const std::string& pointer, const Json& found, const std::vector<std::string>& names) {
  return {"", pointer, describe_value(found), list_names(names),
          found.is_string() ? remedy_of(found.get_ref<const std::string&>(), names) : ""};
}

/// Suggests "write 64" for the text "64" or "64 workers", and "write one number, or a list" for "2..4".
std::string unquoted(const Json& json) {
  if (!json.is_string()) return "";
  const auto [number, rest, error] = leading_number(json.get_ref<const std::string&>());
  if (error != std::errc{}) return "";
  // "64" and "64 workers" mean 64. But "2..4", "2,4" or "1,000" mean several numbers or another one.
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '%' &&
      std::isalpha(static_cast<unsigned char>(rest.front())) == 0)
    return "write one number, a list such as [2, 4], or a range such as \"2..8:2\"";
  double factor = 1;
  if (rest == "%" || rest == " %") factor = 0.01;
  else if (rest == "k" || rest == "K") factor = 1e3;
  else if (rest == "M") factor = 1e6;
  else if (rest == "G" || rest == "B") factor = 1e9;  // gradients of 7B parameters
  return fmt::format("write {:.12g}", number * factor);
}

}  // namespace

namespace detail {

const Json* ObjectReader::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

void ObjectReader::report_missing(const char* name, const char* meaning) {
  faults_.push_back(
      {"", pointer_to(pointer_, name), "nothing", fmt::format("a required value ({})", meaning), "add it"});
}

void ObjectReader::report_unknown_keys() {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string part = part_with(key);
    faults_.push_back({"", pointer_to(pointer_, key), "an unknown key", list_names(known_),
                       part.empty() ? key_meant(key, known_) : fmt::format("put it into \"{}\"", part)});
  }
}

std::string ObjectReader::part_with(const std::string& key) const {
  for (const auto& [name, fields] : parts_)
    if (const auto all = fields(); std::find(all.begin(), all.end(), key) != all.end()) return name;
  return "";
}

std::optional<double> read_number(const Json& json, const std::string& pointer, double most_integer,
                                  const Limits& limits, std::vector<Fault>& faults) {
  const bool integral = most_integer > 0;
  const std::string range = to_string(limits);
  std::string wanted = fmt::format("{}{}{}", integral ? "an integer" : "a number", range.empty() ? "" : " ", range);
  if (!json.is_number()) {
    faults.push_back({"", pointer, describe_value(json), wanted, unquoted(json)});
    return {};
  }
  const double value = json.get<double>();
  bool fits = admits(limits, value);
  if (integral) {
    // Above 2^53, a double (and so JSON in most readers) cannot hold every integer.
    const double most = std::min(9007199254740991.0, most_integer);
    fits = fits && value == std::floor(value) && std::abs(value) <= most;
    if (std::abs(value) > most && !limits.max) wanted += fmt::format(", at most {}", most);
  } else {
    fits = fits && is_sane(value);
    if (!is_sane(value))
      wanted = fmt::format("a number {}between {:g} and {:g} in size", admits(limits, 0) ? "of 0, or " : "", kSmallest,
                           limits.max.value_or(kLargest));
  }
  if (fits) return value;
  faults.push_back({"", pointer, describe_value(json), wanted, ""});
  return {};
}

std::optional<double> read_quantity(const Json& json, const std::string& pointer, const Dimension& dimension,
                                    const Limits& limits, std::vector<Fault>& faults) {
  const std::string wanted =
      fmt::format("a {} with its unit, such as \"{}{}\"", dimension.name, 10, dimension.units.front().suffix);
  if (!json.is_string()) {
    faults.push_back({"", pointer, describe_value(json), wanted,
                      json.is_number() ? fmt::format("put the number with its unit in quotes; allowed units: {}",
                                                     dimension.allowed())
                                       : ""});
    return {};
  }
  const auto is_si = [](const Unit& unit) { return unit.factor == 1.0; };
  const auto si = std::find_if(dimension.units.begin(), dimension.units.end(), is_si);
  const std::string_view si_unit = si == dimension.units.end() ? "SI units" : si->suffix;
  try {
    const double value = dimension.parse(json.get_ref<const std::string&>());
    if (admits(limits, value) && is_sane(value)) return value;
    faults.push_back({"", pointer, describe_value(json),
                      admits(limits, value) ? fmt::format("a {} {}between {:g} and {:g} in {}", dimension.name,
                                                          admits(limits, 0) ? "of 0, or " : "", kSmallest,
                                                          limits.max.value_or(kLargest), si_unit)
                                            : fmt::format("a {} {}{}{}", dimension.name, to_string(limits),
                                                          limits.max ? " " : "", limits.max ? si_unit : ""),
                      ""});
  } catch (const UnitError& error) {
    faults.push_back({"", pointer, describe_value(json), wanted, error.why()});
  }
  return {};
}

std::optional<Formula> read_formula(const Json& json, const std::string& pointer, std::vector<Fault>& faults) {
  if (!json.is_string() && !json.is_number()) {
    faults.push_back({"", pointer, describe_value(json), "a formula, such as \"4 B * elements\"", ""});
    return {};
  }
  try {
    return Formula(json.is_string() ? json.get<std::string>() : json.dump());
  } catch (const FormulaError& error) {
    faults.push_back(
        {"", pointer, fmt::format("{}, with {}", describe_value(json), error.found()), error.allowed(), ""});
    return {};
  }
}

std::optional<std::size_t> read_name(const Json& json, const std::string& pointer,
                                     const std::vector<std::string>& names, std::vector<Fault>& faults) {
  if (json.is_string())
    if (const auto found = std::find(names.begin(), names.end(), json.get_ref<const std::string&>());
        found != names.end())
      return found - names.begin();
  faults.push_back(unknown_name(pointer, json, names));
  return {};
}

const std::string* read_kind(const Json& json, const std::string& pointer, const std::vector<std::string>& kinds,
                             std::vector<Fault>& faults) {
  if (!json.is_object()) {
    const std::string meant = json.is_string() ? part_meant(json.get_ref<const std::string&>(), kinds) : "";
    faults.push_back({"", pointer, describe_value(json), "an object with \"kind\": " + list_names(kinds),
                      meant.empty() ? "" : "write " + meant});
    return nullptr;
  }
  const auto kind = json.find("kind");
  if (kind == json.end()) faults.push_back({"", pointer_to(pointer, "kind"), "nothing", list_names(kinds), "add it"});
  else if (read_name(*kind, pointer_to(pointer, "kind"), kinds, faults)) return &kind->get_ref<const std::string&>();
  return nullptr;
}

}  // namespace detail
}  // namespace stepcast
