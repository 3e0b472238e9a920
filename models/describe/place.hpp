// Fields by the members that they are: their names and JSON pointers follow from describe().
#pragma once

#include <string>

#include "models/describe/describe.hpp"
#include "models/describe/json_pointer.hpp"

namespace stepcast {

/// Finds the name under which describe() has a member.
struct FieldName {
  const void* member;
  const char* name = "";

  template <class T>
  void required(const char* field, T& value, const char*, Limits = {}) {
    if (static_cast<const void*>(&value) == member) name = field;
  }
  template <class T>
  void optional(const char* field, T& value, const char* meaning, Limits = {}) {
    required(field, value, meaning);
  }
};

/// A part, and where it stands in a document.
template <class Part>
struct Place {
  const Part& part;
  std::string pointer;

  /// The pointer of the field that a member is.
  template <class T>
  [[nodiscard]] std::string of(T Part::*member) const {
    Part probe{};
    FieldName field{&(probe.*member)};
    Part::describe(field, probe);
    return pointer_to(pointer, field.name);
  }
  /// A part that is a member.
  template <class T>
  [[nodiscard]] Place<T> at(T Part::*member) const {
    return {part.*member, of(member)};
  }
};

}  // namespace stepcast
