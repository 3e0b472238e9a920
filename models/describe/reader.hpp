// Converts JSON to typed parts and collects all faults (see describe.hpp).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/describe/json_value.hpp"
#include "models/unit/formula.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"

namespace stepcast {

template <class T>
void read_value(const Json& json, const std::string& pointer, T& target, const Limits& limits,
                std::vector<Fault>& faults);

namespace detail {

/// Visits one JSON object. Faults carry the pointer only; the caller that loads the file adds its name.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string pointer, std::vector<Fault>& faults)
      : object_(object), pointer_(std::move(pointer)), faults_(faults) {}

  /// Keys that belong to the object but are not fields ("kind", "$schema").
  void ignore(const char* key) { known_.emplace_back(key); }

  template <class T>
  void required(const char* name, T& target, const char* meaning, Limits limits = {}) {
    optional(name, target, meaning, limits);
    if (!find(name)) report_missing(name, meaning);
  }

  template <class T>
  void optional(const char* name, T& target, const char* /*meaning*/, Limits limits = {}) {
    know<T>(name);
    if (const Json* found = find(name)) read_value(*found, pointer_to(pointer_, name), target, limits, faults_);
  }

  void report_unknown_keys();

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

  [[nodiscard]] const Json* find(const char* name) const;
  void report_missing(const char* name, const char* meaning);
  /// The object-valued field whose part has a field named `key`; "" if there is none.
  [[nodiscard]] std::string part_with(const std::string& key) const;

  const Json& object_;
  std::string pointer_;
  std::vector<Fault>& faults_;
  std::vector<std::string> known_;
  std::vector<std::pair<const char*, std::vector<std::string> (*)()>> parts_;  ///< fields that are objects
};

/// The number, if it is within the limits; otherwise appends a fault.
/// @param most_integer  the largest value of an integral type; 0 for real numbers
std::optional<double> read_number(const Json& json, const std::string& pointer, double most_integer,
                                  const Limits& limits, std::vector<Fault>& faults);

struct Dimension {
  std::string_view name;
  std::span<const Unit> units;
  double (*parse)(std::string_view text);  ///< the value in SI; throws UnitError
  std::string (*allowed)();
};
/// The value in SI; otherwise appends a fault.
std::optional<double> read_quantity(const Json& json, const std::string& pointer, const Dimension& dimension,
                                    const Limits& limits, std::vector<Fault>& faults);

/// The index of the name; otherwise appends a fault.
std::optional<std::size_t> read_name(const Json& json, const std::string& pointer,
                                     const std::vector<std::string>& names, std::vector<Fault>& faults);

/// The kind of a variant's object; otherwise appends a fault and returns null.
const std::string* read_kind(const Json& json, const std::string& pointer, const std::vector<std::string>& kinds,
                             std::vector<Fault>& faults);

template <class T>
void read_list(const Json& json, const std::string& pointer, std::vector<T>& target, const Limits& limits,
               std::vector<Fault>& faults) {
  if (!json.is_array()) {
    faults.push_back({"", pointer, describe_value(json), "a list", ""});
    return;
  }
  target.clear();
  for (std::size_t i = 0; i < json.size() && faults.size() < kMaxFaults; ++i) {
    T element{};
    read_value(json[i], pointer_to(pointer, i), element, limits, faults);
    target.push_back(std::move(element));
  }
}

template <class T>
void read_map(const Json& json, const std::string& pointer, std::map<std::string, T>& target, const Limits& limits,
              std::vector<Fault>& faults) {
  if (!json.is_object()) {
    faults.push_back({"", pointer, describe_value(json), "an object of names and values", ""});
    return;
  }
  target.clear();
  for (const auto& [name, value] : json.items())
    if (faults.size() < kMaxFaults) read_value(value, pointer_to(pointer, name), target[name], limits, faults);
}

/// The formula, if the text or the number is one; otherwise appends a fault.
std::optional<Formula> read_formula(const Json& json, const std::string& pointer, std::vector<Fault>& faults);

template <class V>
void read_variant(const Json& json, const std::string& pointer, V& target, std::vector<Fault>& faults) {
  const std::string* kind = read_kind(json, pointer, kinds_of<V>(), faults);
  if (!kind) return;
  for_each_part(&target, [&]<class Part>(std::in_place_type_t<Part>) {
    if (*kind != Part::kind) return;
    Part part;
    ObjectReader reader(json, pointer, faults);
    reader.ignore("kind");
    Part::describe(reader, part);
    reader.report_unknown_keys();
    target = part;
  });
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
    constexpr double most = std::is_integral_v<T> ? static_cast<double>(std::numeric_limits<T>::max()) : 0.0;
    if (const auto value = detail::read_number(json, pointer, most, limits, faults)) target = static_cast<T>(*value);
  } else if constexpr (IsQuantity<T>::value) {
    const detail::Dimension dimension{dimension_name<T>(), units_of<T>(),
                                      [](std::string_view text) { return parse_quantity<T>(text).si(); },
                                      allowed_units<T>};
    if (const auto value = detail::read_quantity(json, pointer, dimension, limits, faults)) target = T(*value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (json.is_string()) target = json.get<std::string>();
    else faults.push_back({"", pointer, describe_value(json), "a text", ""});
  } else if constexpr (std::is_same_v<T, JsonValue>) {
    target = json;
  } else if constexpr (Named<T>) {
    std::vector<std::string> names;
    for (const auto& choice : Choices<T>::table) names.emplace_back(choice.name);
    if (const auto index = detail::read_name(json, pointer, names, faults)) target = Choices<T>::table[*index].value;
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
    detail::read_list(json, pointer, target, limits, faults);
  } else if constexpr (IsMap<T>::value) {
    detail::read_map(json, pointer, target, limits, faults);
  } else if constexpr (std::is_same_v<T, Formula>) {
    if (auto formula = detail::read_formula(json, pointer, faults)) target = std::move(*formula);
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
