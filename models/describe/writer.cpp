#include "models/describe/writer.hpp"

#include <utility>

namespace stepcast::detail {

void ObjectWriter::set(const char* name, Json value) { object_[name] = std::move(value); }

Json with_kind(std::string_view kind, const Json& fields) {
  Json object = Json::object();
  object["kind"] = kind;
  for (const auto& [key, field] : fields.items()) object[key] = field;
  return object;
}

}  // namespace stepcast::detail
