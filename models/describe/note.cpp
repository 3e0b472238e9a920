#include "models/describe/note.hpp"

#include "models/describe/json.hpp"

namespace stepcast {

Json coded(const Notes& notes) {
  Json json = Json::array();
  for (const Note& note : notes) json.push_back({{"code", name_of(note.code)}, {"text", note.text}});
  return json;
}

}  // namespace stepcast
