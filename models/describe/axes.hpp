// Finds the axes of a study: lists in places where a field takes one value.
//
// The field's type decides whether a list is an axis, so the search follows the document along describe(). A list at a
// number, text, quantity, name or part is an axis. For a field that is itself a list, it is an axis only if all its
// elements are lists.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/json.hpp"
#include "models/describe/json_value.hpp"

namespace stepcast {

/// The JSON pointers of all axes in `json` for a value of type T, in document order. The search does not enter an
/// axis's elements: their fields depend on the chosen element.
template <class T>
std::vector<std::string> find_axes(const Json& json, const std::string& pointer = "");

namespace detail {

/// Collects the axes of all fields and sorts them in document order.
class AxisFinder {
 public:
  AxisFinder(const Json& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

  template <class T>
  void required(const char* name, T&, const char*, Limits = {}) {
    visit(name, find_axes<T>);
  }
  template <class T>
  void optional(const char* name, T&, const char*, Limits = {}) {
    visit(name, find_axes<T>);
  }

  [[nodiscard]] std::vector<std::string> axes() &&;

 private:
  using Find = std::vector<std::string>(const Json& json, const std::string& pointer);
  void visit(const char* name, Find& find);

  struct Found {
    std::ptrdiff_t position;
    std::string pointer;
  };

  const Json& object_;
  std::string pointer_;
  std::vector<Found> found_;
};

/// The axis itself if the value is a list.
std::vector<std::string> find_axes_of_value(const Json& json, const std::string& pointer);
/// The axes of a list's elements, unless all of them are lists.
std::vector<std::string> find_axes_of_list(const Json& json, const std::string& pointer,
                                           std::vector<std::string> (*of_element)(const Json&, const std::string&));

template <class T>
std::vector<std::string> find_axes_of_map(const Json& json, const std::string& pointer) {
  std::vector<std::string> axes;
  if (!json.is_object()) return axes;
  for (const auto& [name, value] : json.items())
    for (std::string& axis : find_axes<T>(value, pointer_to(pointer, name))) axes.push_back(std::move(axis));
  return axes;
}

template <class T>
std::vector<std::string> find_axes_in_object(const Json& json, const std::string& pointer) {
  AxisFinder finder(json, pointer);
  T probe;
  T::describe(finder, probe);
  return std::move(finder).axes();
}

}  // namespace detail

template <class T>
std::vector<std::string> find_axes(const Json& json, const std::string& pointer) {
  if constexpr (std::is_same_v<T, JsonValue> || WithoutAxes<T>) {
    return {};
  } else if constexpr (IsVector<T>::value) {
    return detail::find_axes_of_list(json, pointer, find_axes<typename T::value_type>);
  } else if constexpr (IsOptional<T>::value) {
    return find_axes<typename T::value_type>(json, pointer);
  } else if constexpr (IsMap<T>::value) {
    return detail::find_axes_of_map<typename T::mapped_type>(json, pointer);
  } else if constexpr (!IsVariant<T>::value && !Described<T>) {
    return detail::find_axes_of_value(json, pointer);
  } else {
    if (json.is_array()) return {pointer};
    if constexpr (IsVariant<T>::value) {
      std::vector<std::string> axes;
      if (!json.is_object()) return axes;
      const auto kind = json.find("kind");
      if (kind == json.end()) return axes;
      if (kind->is_array()) return {pointer_to(pointer, "kind")};
      for_each_part(static_cast<const T*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
        if (*kind == Part::kind) axes = detail::find_axes_in_object<Part>(json, pointer);
      });
      return axes;
    } else {
      if (!json.is_object()) return {};
      return detail::find_axes_in_object<T>(json, pointer);
    }
  }
}

}  // namespace stepcast
