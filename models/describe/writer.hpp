// Converts typed parts to the canonical JSON document with every field written out. Exact text reads back to the same
// value (see describe.hpp). Brief text is for files that people read.
#pragma once

#include "models/describe/describe.hpp"
#include "models/describe/json.hpp"
#include "models/describe/json_value.hpp"
#include "models/unit/formula.hpp"
#include "models/unit/format.hpp"

namespace stepcast {

/// The form of quantities: exact_text or brief_text of unit/format.hpp.
enum class QuantityText { exact, brief };

template <class T>
Json write_value(const T& value, QuantityText text = QuantityText::exact);

namespace detail {

class ObjectWriter {
 public:
  ObjectWriter(Json& object, QuantityText text) : object_(object), text_(text) {}
  template <class T>
  void required(const char* name, T& value, const char*, Limits = {}) {
    set(name, write_value(value, text_));
  }
  template <class T>
  void optional(const char* name, T& value, const char*, Limits = {}) {
    set(name, write_value(value, text_));
  }

 private:
  void set(const char* name, Json value);

  Json& object_;
  QuantityText text_;
};

/// The fields of a part, after its "kind".
Json with_kind(std::string_view kind, const Json& fields);

}  // namespace detail

template <class T>
Json write_value(const T& value, QuantityText text) {
  if constexpr (IsQuantity<T>::value) {
    return text == QuantityText::exact ? exact_text(value) : brief_text(value);
  } else if constexpr (Named<T>) {
    return name_of(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? write_value(*value, text) : Json(nullptr);
  } else if constexpr (IsOrAuto<T>::value) {
    return value.value ? write_value(*value.value, text) : Json("auto");
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(write_value(element, text));
    return list;
  } else if constexpr (IsMap<T>::value) {
    Json object = Json::object();
    for (const auto& [name, element] : value) object[name] = write_value(element, text);
    return object;
  } else if constexpr (std::is_same_v<T, Formula>) {
    return value.text();
  } else if constexpr (IsVariant<T>::value) {
    return std::visit([text](const auto& part) { return detail::with_kind(part.kind, write_value(part, text)); },
                      value);
  } else if constexpr (Described<T>) {
    Json object = Json::object();
    detail::ObjectWriter writer(object, text);
    T copy = value;  // describe() takes a non-const reference; this visitor only reads
    T::describe(writer, copy);
    return object;
  } else if constexpr (std::is_same_v<T, JsonValue>) {
    return *value;
  } else {
    return Json(value);
  }
}

}  // namespace stepcast
