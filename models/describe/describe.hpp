// The vocabulary that the parts of a scenario use to describe themselves.
//
// Every part is a plain struct. It has default member initialisers and one function:
//
//     template <class V> static void describe(V& v, Link& x) {
//       v.required("bandwidth", x.bandwidth, "rate of one direction", positive);
//       v.optional("latency", x.latency, "one-way, end to end", non_negative);
//     }
//
// Every walk over the fields visits this function: it reads JSON (reader.hpp), writes the canonical document
// (writer.hpp) and the JSON Schema (study/schema.cpp). Other walks find the axes of a study (axes.hpp) and compare
// with the defaults (defaults.hpp).
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/describe/shared.hpp"
#include "models/unit/quantity.hpp"

namespace stepcast {

/// Range of a number, in SI for quantities. `exclusive` excludes the minimum itself.
struct Limits {
  std::optional<double> min{};
  bool exclusive = false;
  std::optional<double> max{};
};

inline constexpr Limits any{};
inline constexpr Limits positive{0.0, true, {}};
inline constexpr Limits non_negative{0.0, false, {}};
constexpr Limits at_least(double min) { return {min, false, {}}; }
constexpr Limits between(double min, double max) { return {min, false, max}; }

/// A real number or quantity (in SI) is 0 or has a magnitude in this range. Outside it, products and quotients of a few
/// values could leave the range of double.
inline constexpr double kSmallest = 1e-30, kLargest = 1e30;
inline bool is_sane(double value) {
  return value == 0 || (std::abs(value) >= kSmallest && std::abs(value) <= kLargest);
}

/// Texts: "of at least 1", "above 0", "from 1 to 8"; "" without limits.
std::string to_string(const Limits& limits);
bool admits(const Limits& limits, double value);

/// A value that the model chooses when the scenario says "auto".
template <class T>
struct OrAuto {
  std::optional<T> value{};  ///< empty: "auto"
  bool operator==(const OrAuto&) const = default;
};

/// Specialised for every enumeration in a scenario: a table of {name, value, meaning}.
template <class E>
struct Choice {
  std::string_view name;
  E value;
  std::string_view meaning;
};
template <class E>
struct Choices;  // static constexpr std::array<Choice<E>, n> table;

template <class E>
concept Named = requires {
  Choices<E>::table;
};

template <Named E>
constexpr std::string_view name_of(E value) {
  for (const auto& choice : Choices<E>::table)
    if (choice.value == value) return choice.name;
  return "?";
}

/// A visitor that does nothing. It only serves to test whether a type describes itself.
struct NullVisitor {
  template <class T>
  void required(const char*, T&, const char*, Limits = {}) {}
  template <class T>
  void optional(const char*, T&, const char*, Limits = {}) {}
};

template <class T>
concept Described = requires(NullVisitor& v, T& x) {
  T::describe(v, x);
};

template <class T>
struct IsQuantity : std::false_type {};
template <int T, int B, int F>
struct IsQuantity<Quantity<T, B, F>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// Values by names that the author of the document chooses.
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsOptional<Shared<T>> : std::true_type {};

template <class T>
struct IsOrAuto : std::false_type {};
template <class T>
struct IsOrAuto<OrAuto<T>> : std::true_type {};

/// A part whose fields are no axes of a study, whatever lists they have: `static constexpr bool axes = false`.
template <class T>
concept WithoutAxes = requires {
  requires !T::axes;
};

/// A choice between parts. Each part has a name: `static constexpr std::string_view kind` (with `meaning`). In JSON,
/// the key "kind" selects the part.
template <class T>
struct IsVariant : std::false_type {};
template <class... Parts>
struct IsVariant<std::variant<Parts...>> : std::true_type {};

/// Calls f(std::in_place_type<Part>) for every alternative.
template <class... Parts, class F>
void for_each_part(const std::variant<Parts...>*, F&& f) {
  (f(std::in_place_type<Parts>), ...);
}

template <class T>
std::vector<std::string> kinds_of() {
  std::vector<std::string> kinds;
  for_each_part(static_cast<const T*>(nullptr),
                [&]<class Part>(std::in_place_type_t<Part>) { kinds.emplace_back(Part::kind); });
  return kinds;
}

}  // namespace stepcast
