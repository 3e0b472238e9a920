// Finds the axes of a study: lists in places where a field takes one value.
//
// The field's type decides whether a list is an axis, so the search follows the document along describe(). A list at a
// number, text, quantity, name or part is an axis. For a field that is itself a list, it is an axis only if all its
// elements are lists.
#pragma once

#include <algorithm>
#include <iterator>
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
    visit<T>(name);
  }
  template <class T>
  void optional(const char* name, T&, const char*, Limits = {}) {
    visit<T>(name);
  }

  [[nodiscard]] std::vector<std::string> axes() && {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.position < b.position; });
    std::vector<std::string> pointers;
    for (Found& found : found_) pointers.push_back(std::move(found.pointer));
    return pointers;
  }

 private:
  template <class T>
  void visit(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    const auto position = std::distance(object_.begin(), found);
    for (std::string& axis : find_axes<T>(*found, pointer_to(pointer_, name)))
      found_.push_back({position, std::move(axis)});
  }

  struct Found {
    std::ptrdiff_t position;
    std::string pointer;
  };

  const Json& object_;
  std::string pointer_;
  std::vector<Found> found_;
};

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
  if constexpr (std::is_same_v<T, JsonValue>) {
    return {};
  } else if constexpr (IsVector<T>::value) {
    const bool list_of_lists = json.is_array() && !json.empty() &&
                               std::all_of(json.begin(), json.end(), [](const Json& e) { return e.is_array(); });
    if (list_of_lists) return {pointer};
    std::vector<std::string> axes;
    if (!json.is_array()) return axes;
    for (std::size_t i = 0; i < json.size(); ++i) {
      auto inside = find_axes<typename T::value_type>(json[i], pointer_to(pointer, i));
      std::move(inside.begin(), inside.end(), std::back_inserter(axes));
    }
    return axes;
  } else {
    if (json.is_array()) return {pointer};
    if constexpr (IsOptional<T>::value) {
      return find_axes<typename T::value_type>(json, pointer);
    } else if constexpr (IsVariant<T>::value) {
      std::vector<std::string> axes;
      if (!json.is_object()) return axes;
      const auto kind = json.find("kind");
      if (kind == json.end()) return axes;
      if (kind->is_array()) return {pointer_to(pointer, "kind")};
      for_each_part(static_cast<const T*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
        if (*kind == Part::kind) axes = detail::find_axes_in_object<Part>(json, pointer);
      });
      return axes;
    } else if constexpr (Described<T>) {
      if (!json.is_object()) return {};
      return detail::find_axes_in_object<T>(json, pointer);
    } else {
      return {};
    }
  }
}

}  // namespace stepcast
