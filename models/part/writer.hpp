// Typed parts to the canonical JSON document: every field written out, quantities as exact text, so that
// reading the result gives the same value (see describe.hpp).
#pragma once

#include "models/part/describe.hpp"
#include "models/part/json.hpp"
#include "models/unit/format.hpp"

namespace stepcast {

template <class T>
Json write_value(const T& value);

namespace detail {

class ObjectWriter {
 public:
  explicit ObjectWriter(Json& object) : object_(object) {}
  template <class T>
  void required(const char* name, T& value, const char*, Limits = {}) {
    object_[name] = write_value(value);
  }
  template <class T>
  void optional(const char* name, T& value, const char*, Limits = {}) {
    object_[name] = write_value(value);
  }

 private:
  Json& object_;
};

}  // namespace detail

template <class T>
Json write_value(const T& value) {
  if constexpr (IsQuantity<T>::value) {
    return exact_text(value);
  } else if constexpr (Named<T>) {
    return name_of(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? write_value(*value) : Json(nullptr);
  } else if constexpr (IsOrAuto<T>::value) {
    return value.value ? write_value(*value.value) : Json("auto");
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(write_value(element));
    return list;
  } else if constexpr (IsVariant<T>::value) {
    return std::visit(
        [](const auto& part) {
          Json object = Json::object();
          object["kind"] = part.kind;
          const Json fields = write_value(part);
          for (const auto& [key, field] : fields.items()) object[key] = field;
          return object;
        },
        value);
  } else if constexpr (Described<T>) {
    Json object = Json::object();
    detail::ObjectWriter writer(object);
    T copy = value;  // describe() takes a reference to fill or to show; here it only shows
    T::describe(writer, copy);
    return object;
  } else {
    return Json(value);
  }
}

}  // namespace stepcast
