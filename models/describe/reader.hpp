// Converts JSON to typed parts and collects all faults (see describe.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/describe/describe.hpp"
#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/describe/other_words.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"

namespace stepcast {

template <class T>
void read_value(const Json& json, const std::string& pointer, T& target, const Limits& limits,
                std::vector<Fault>& faults);

namespace detail {

std::string list_names(const std::vector<std::string>& names);
Fault unknown_name(const std::string& pointer, const Json& found, const std::vector<std::string>& names);

/// Visits one JSON object. Faults carry the pointer only; the caller that loads the file adds its name.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string pointer, std::vector<Fault>& faults)
      : object_(object), pointer_(std::move(pointer)), faults_(faults) {}

  /// Keys that belong to the object but are not fields ("kind", "$schema").
  void ignore(const char* key) { known_.emplace_back(key); }

  template <class T>
  void required(const char* name, T& target, const char* meaning, Limits limits = {}) {
    know<T>(name);
    if (const auto found = object_.find(name); found != object_.end())
      read_value(*found, pointer_to(pointer_, name), target, limits, faults_);
    else
      faults_.push_back(
          {"", pointer_to(pointer_, name), "nothing", fmt::format("a required value ({})", meaning), "add it"});
  }

  template <class T>
  void optional(const char* name, T& target, const char* /*meaning*/, Limits limits = {}) {
    know<T>(name);
    if (const auto found = object_.find(name); found != object_.end())
      read_value(*found, pointer_to(pointer_, name), target, limits, faults_);
  }

  void report_unknown_keys() {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const std::string part = part_with(key);
      faults_.push_back({"", pointer_to(pointer_, key), "an unknown key", list_names(known_),
                         part.empty() ? key_meant(key, known_) : fmt::format("put it into \"{}\"", part)});
    }
  }

 private:
  /// Collects the field names of a part.
  struct Names {
    std::vector<std::string> all;
    template <class F>
    void required(const char* name, F&, const char*, Limits = {}) {
      all.emplace_back(name);
    }
    template <class F>
    void optional(const char* name, F&, const char*, Limits = {}) {
      all.emplace_back(name);
    }
  };

  template <class T>
  static std::vector<std::string> fields_of() {
    Names names;
    T part{};
    T::describe(names, part);
    return names.all;
  }

  template <class T>
  void know(const char* name) {
    known_.emplace_back(name);
    if constexpr (Described<T>) parts_.emplace_back(name, &fields_of<T>);
  }

  /// The object-valued field whose part has a field named `key`; "" if there is none.
  [[nodiscard]] std::string part_with(const std::string& key) const {
    for (const auto& [name, fields] : parts_)
      if (const auto all = fields(); std::find(all.begin(), all.end(), key) != all.end()) return name;
    return "";
  }

  const Json& object_;
  std::string pointer_;
  std::vector<Fault>& faults_;
  std::vector<std::string> known_;
  std::vector<std::pair<const char*, std::vector<std::string> (*)()>> parts_;  ///< fields that are objects
};

/// The suffix of the unit whose factor is 1.
template <class Q>
std::string si_unit() {
  for (const Unit& unit : units_of<Q>())
    if (unit.factor == 1.0) return std::string(unit.suffix);
  return "SI units";
}

/// Suggests "write 64" for the text "64" or "64 workers", and "write one number, or a list" for "2..4".
std::string unquoted(const Json& json);

template <class T>
void read_number(const Json& json, const std::string& pointer, T& target, const Limits& limits,
                 std::vector<Fault>& faults) {
  constexpr bool integral = std::is_integral_v<T>;
  const std::string range = to_string(limits);
  std::string wanted = fmt::format("{}{}{}", integral ? "an integer" : "a number", range.empty() ? "" : " ", range);
  if (!json.is_number()) {
    faults.push_back({"", pointer, describe_value(json), wanted, unquoted(json)});
    return;
  }
  const double value = json.get<double>();
  bool fits = admits(limits, value);
  const bool is_bounded = limits.max.has_value();
  if constexpr (integral) {
    // Above 2^53, a double (and so JSON in most readers) cannot hold every integer.
    constexpr double most = std::min(9007199254740991.0, static_cast<double>(std::numeric_limits<T>::max()));
    fits = fits && value == std::floor(value) && std::abs(value) <= most;
    if (std::abs(value) > most && !is_bounded) wanted += fmt::format(", at most {}", most);
  } else {
    fits = fits && is_sane(value);
    if (!is_sane(value))
      wanted = fmt::format("a number {}between {:g} and {:g} in size", admits(limits, 0) ? "of 0, or " : "", kSmallest,
                           limits.max.value_or(kLargest));
  }
  if (fits) target = static_cast<T>(value);
  else faults.push_back({"", pointer, describe_value(json), wanted, ""});
}

template <class Q>
void read_quantity(const Json& json, const std::string& pointer, Q& target, const Limits& limits,
                   std::vector<Fault>& faults) {
  const std::string wanted =
      fmt::format("a {} with its unit, such as \"{}{}\"", dimension_name<Q>(), 10, units_of<Q>().front().suffix);
  if (!json.is_string()) {
    faults.push_back({"", pointer, describe_value(json), wanted,
                      json.is_number()
                          ? fmt::format("put the number with its unit in quotes; allowed units: {}", allowed_units<Q>())
                          : ""});
    return;
  }
  try {
    const Q value = parse_quantity<Q>(json.get_ref<const std::string&>());
    if (!admits(limits, value.si()))
      faults.push_back({"", pointer, describe_value(json),
                        fmt::format("a {} {}{}", dimension_name<Q>(), to_string(limits),
                                    limits.max ? fmt::format(" {}", si_unit<Q>()) : ""),
                        ""});
    else if (!is_sane(value.si()))
      faults.push_back(
          {"", pointer, describe_value(json),
           fmt::format("a {} {}between {:g} and {:g} in {}", dimension_name<Q>(), admits(limits, 0) ? "of 0, or " : "",
                       kSmallest, limits.max.value_or(kLargest), si_unit<Q>()),
           ""});
    else target = value;
  } catch (const UnitError& error) {
    faults.push_back({"", pointer, describe_value(json), wanted, error.why()});
  }
}

template <class V>
void read_variant(const Json& json, const std::string& pointer, V& target, std::vector<Fault>& faults) {
  const auto kinds = kinds_of<V>();
  if (!json.is_object()) {
    const std::string meant = json.is_string() ? part_meant(json.get_ref<const std::string&>(), kinds) : "";
    faults.push_back({"", pointer, describe_value(json), "an object with \"kind\": " + list_names(kinds),
                      meant.empty() ? "" : "write " + meant});
    return;
  }
  const auto kind = json.find("kind");
  if (kind == json.end()) {
    faults.push_back({"", pointer_to(pointer, "kind"), "nothing", list_names(kinds), "add it"});
    return;
  }
  bool known = false;
  for_each_part(&target, [&]<class Part>(std::in_place_type_t<Part>) {
    if (!kind->is_string() || kind->template get_ref<const std::string&>() != Part::kind) return;
    known = true;
    Part part;
    ObjectReader reader(json, pointer, faults);
    reader.ignore("kind");
    Part::describe(reader, part);
    reader.report_unknown_keys();
    target = part;
  });
  if (!known) faults.push_back(unknown_name(pointer_to(pointer, "kind"), *kind, kinds));
}

}  // namespace detail

/// Reads `json` into `target`. On a fault, the target keeps its default and reading continues.
template <class T>
void read_value(const Json& json, const std::string& pointer, T& target, const Limits& limits,
                std::vector<Fault>& faults) {
  if constexpr (std::is_same_v<T, bool>) {
    if (json.is_boolean()) target = json.get<bool>();
    else faults.push_back({"", pointer, describe_value(json), "true or false", ""});
  } else if constexpr (std::is_arithmetic_v<T>) {
    detail::read_number(json, pointer, target, limits, faults);
  } else if constexpr (IsQuantity<T>::value) {
    detail::read_quantity(json, pointer, target, limits, faults);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (json.is_string()) target = json.get<std::string>();
    else faults.push_back({"", pointer, describe_value(json), "a text", ""});
  } else if constexpr (std::is_same_v<T, Json>) {
    target = json;
  } else if constexpr (Named<T>) {
    std::vector<std::string> names;
    for (const auto& choice : Choices<T>::table) {
      if (json.is_string() && json.get_ref<const std::string&>() == choice.name) {
        target = choice.value;
        return;
      }
      names.emplace_back(choice.name);
    }
    faults.push_back(detail::unknown_name(pointer, json, names));
  } else if constexpr (IsOptional<T>::value) {
    if (json.is_null()) {
      target.reset();
      return;
    }
    typename T::value_type value{};
    const std::size_t before = faults.size();
    read_value(json, pointer, value, limits, faults);
    if (faults.size() == before) target = std::move(value);
  } else if constexpr (IsOrAuto<T>::value) {
    if (json == "auto") {
      target.value.reset();
      return;
    }
    typename decltype(T::value)::value_type value{};
    const std::size_t before = faults.size();
    read_value(json, pointer, value, limits, faults);
    if (faults.size() > before) faults.back().allowed += ", or \"auto\"";
    else target.value = std::move(value);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) {
      faults.push_back({"", pointer, describe_value(json), "a list", ""});
      return;
    }
    target.clear();
    for (std::size_t i = 0; i < json.size() && faults.size() < kMaxFaults; ++i) {
      typename T::value_type element{};
      read_value(json[i], pointer_to(pointer, i), element, limits, faults);
      target.push_back(std::move(element));
    }
  } else if constexpr (IsVariant<T>::value) {
    detail::read_variant(json, pointer, target, faults);
  } else {
    static_assert(Described<T>);
    if (!json.is_object()) {
      faults.push_back({"", pointer, describe_value(json), "an object", ""});
      return;
    }
    detail::ObjectReader reader(json, pointer, faults);
    T::describe(reader, target);
    reader.report_unknown_keys();
  }
}

}  // namespace stepcast
