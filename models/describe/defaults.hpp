// Tests whether a field of a part has its default value, using describe() (see describe.hpp).
#pragma once

#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/describe/describe.hpp"

namespace stepcast {

/// Compares the field at `path` in `value` with the same field in `by_default`. If `by_default` holds another kind of a
/// variant, the field's default in the current kind counts. Returns true where the path leads to no field.
template <class T>
bool holds_default(const T& value, const T& by_default, std::span<const std::string_view> path);

namespace detail {

/// Finds the member with the given name and type.
template <class T>
struct MemberFinder {
  std::string_view name;
  const T* found = nullptr;

  template <class F>
  void required(const char* field, F& member, const char*, Limits = {}) {
    if constexpr (std::is_same_v<F, T>)
      if (field == name) found = &member;
  }
  template <class F>
  void optional(const char* field, F& member, const char* meaning, Limits = {}) {
    required(field, member, meaning);
  }
};

/// Follows a path into one of the members.
template <class T>
struct DefaultComparer {
  T& by_default;
  std::span<const std::string_view> path;
  bool same = true;

  template <class F>
  void required(const char* field, F& member, const char*, Limits = {}) {
    if (field != path.front()) return;
    MemberFinder<F> finder{path.front()};
    T::describe(finder, by_default);
    same = holds_default(member, *finder.found, path.subspan(1));
  }
  template <class F>
  void optional(const char* field, F& member, const char* meaning, Limits = {}) {
    required(field, member, meaning);
  }
};

}  // namespace detail

template <class T>
bool holds_default(const T& value, const T& by_default, std::span<const std::string_view> path) {
  if (path.empty()) return value == by_default;
  if constexpr (IsVariant<T>::value) {
    return std::visit(
        [&]<class Part>(const Part& part) {
          const auto* other = std::get_if<Part>(&by_default);
          return holds_default(part, other ? *other : Part{}, path);
        },
        value);
  } else if constexpr (IsOptional<T>::value) {
    return !value || holds_default(*value, by_default.value_or(typename T::value_type{}), path);
  } else if constexpr (Described<T>) {
    T copy = value, default_copy = by_default;  // describe() takes a non-const reference; this visitor only reads
    detail::DefaultComparer<T> comparer{default_copy, path};
    T::describe(comparer, copy);
    return comparer.same;
  } else {
    return true;
  }
}

}  // namespace stepcast
