// Finds the lists that turn a scenario into a study: a list where a field wants one value.
//
// Which lists those are depends on the field's type, so the search walks the document along describe():
// a list at a number, text, quantity, name or part is an axis; a list at a field that is a list itself is
// one only if all its elements are lists.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "models/scenario/describe.hpp"
#include "models/scenario/json.hpp"

namespace stepcast {

/// The pointer of the first axis in `json` under a value of type T, in the document's own order.
template <class T>
std::optional<std::string> find_axis(const Json& json, const std::string& pointer = "");

namespace detail {

/// Collects every field's search; the first axis in document order wins.
class AxisFinder {
 public:
  AxisFinder(const Json& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

  template <class T>
  void required(const char* name, T&, const char*, Limits = {}) { visit<T>(name); }
  template <class T>
  void optional(const char* name, T&, const char*, Limits = {}) { visit<T>(name); }

  [[nodiscard]] std::optional<std::string> first() const { return first_; }

 private:
  template <class T>
  void visit(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    const auto position = std::distance(object_.begin(), found);
    if (first_ && position > first_position_) return;
    if (auto axis = find_axis<T>(*found, pointer_to(pointer_, name))) {
      first_ = std::move(axis);
      first_position_ = position;
    }
  }

  const Json& object_;
  std::string pointer_;
  std::optional<std::string> first_;
  std::ptrdiff_t first_position_ = 0;
};

template <class T>
std::optional<std::string> find_axis_in_object(const Json& json, const std::string& pointer) {
  AxisFinder finder(json, pointer);
  T probe;
  T::describe(finder, probe);
  return finder.first();
}

}  // namespace detail

template <class T>
std::optional<std::string> find_axis(const Json& json, const std::string& pointer) {
  if constexpr (std::is_same_v<T, Json>) {
    return {};
  } else if constexpr (IsVector<T>::value) {
    const bool list_of_lists = json.is_array() && !json.empty() &&
                               std::all_of(json.begin(), json.end(), [](const Json& e) { return e.is_array(); });
    if (list_of_lists) return pointer;
    if (!json.is_array()) return {};
    for (std::size_t i = 0; i < json.size(); ++i)
      if (auto axis = find_axis<typename T::value_type>(json[i], pointer_to(pointer, i))) return axis;
    return {};
  } else {
    if (json.is_array()) return pointer;
    if constexpr (IsOptional<T>::value) {
      return find_axis<typename T::value_type>(json, pointer);
    } else if constexpr (IsVariant<T>::value) {
      if (!json.is_object()) return {};
      if (const auto kind = json.find("kind"); kind != json.end() && kind->is_array()) return pointer_to(pointer, "kind");
      std::optional<std::string> axis;
      for_each_part(static_cast<const T*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
        if (json.contains("kind") && json["kind"] == Part::kind) axis = detail::find_axis_in_object<Part>(json, pointer);
      });
      return axis;
    } else if constexpr (Described<T>) {
      if (!json.is_object()) return {};
      return detail::find_axis_in_object<T>(json, pointer);
    } else {
      return {};
    }
  }
}

}  // namespace stepcast
