// A JSON value as a field of a part.
#pragma once

#include <memory>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// A constant value that copies share. It is behind a pointer: most files that hold a part read no JSON.
class JsonValue {
 public:
  JsonValue();            ///< an empty object
  JsonValue(Json value);  // implicit: readers assign JSON to fields
  const Json& operator*() const { return *value_; }
  const Json* operator->() const { return value_.get(); }
  bool operator==(const JsonValue& other) const;

 private:
  std::shared_ptr<const Json> value_;
};

}  // namespace stepcast
