#include "models/describe/reader.hpp"

#include <cctype>
#include <string_view>
#include <system_error>

#include <fmt/ranges.h>

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
  if (here.name.empty()) return here.field.empty() ? "nothing here is what other tools call so" : here.field;
  return fmt::format("that is \"{}\" here{}{}", here.name, here.field.empty() ? "" : ", with ", here.field);
}

}  // namespace

namespace detail {

std::string list_names(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Fault unknown_name(const std::string& pointer, const Json& found, const std::vector<std::string>& names) {
  return {"", pointer, describe_value(found), list_names(names),
          found.is_string() ? remedy_of(found.get_ref<const std::string&>(), names) : ""};
}

std::string unquoted(const Json& json) {
  if (!json.is_string()) return "";
  const auto [number, rest, error] = leading_number(json.get_ref<const std::string&>());
  if (error != std::errc{}) return "";
  // "64" and "64 workers" mean 64. But "2..4", "2,4" or "1,000" mean several numbers or another one.
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '%' &&
      std::isalpha(static_cast<unsigned char>(rest.front())) == 0)
    return "write one number, or a list such as [2, 4]";
  double factor = 1;
  if (rest == "%" || rest == " %") factor = 0.01;
  else if (rest == "k" || rest == "K") factor = 1e3;
  else if (rest == "M") factor = 1e6;
  else if (rest == "G" || rest == "B") factor = 1e9;  // gradients of 7B parameters
  return fmt::format("write {:.12g}", number * factor);
}

}  // namespace detail
}  // namespace stepcast
