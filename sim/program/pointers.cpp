#include "sim/program/pointers.hpp"

#include <map>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/schema.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/schema_nodes.hpp"

namespace stepcast {
namespace {

/// A scenario's schema, walked along a pointer.
class PointerWalk {
 public:
  explicit PointerWalk(const Json& schema) : definitions_(&schema["definitions"]), at_(nodes_of(schema)) {}

  void step(const std::string& name) {
    SchemaNodes below;
    for (const Json* node : at_)
      for (const auto& [field, schema] : fields_of(*node))
        if (field == name)
          for (const Json* one : nodes_of(*schema)) below.push_back(one);
    at_ = std::move(below);
  }

  /// Fields here, each with its description.
  [[nodiscard]] std::map<std::string, std::string> fields() const {
    std::map<std::string, std::string> all;
    for (const Json* node : at_)
      for (const auto& [name, schema] : fields_of(*node)) all.try_emplace(name, schema->value("description", ""));
    return all;
  }

  /// Fixed values here, each with its meaning.
  [[nodiscard]] std::vector<Completion> values() const {
    std::vector<Completion> all;
    for (const Json* node : at_)
      for (const auto& [value, meaning] : values_of(*node)) all.push_back({value, meaning});
    return all;
  }

  /// Whether a value may stand here that is no object.
  [[nodiscard]] bool takes_value() const {
    for (const Json* node : at_)
      if (node->value("type", "") != "object") return true;
    return false;
  }

 private:
  /// Alternatives that are a value or an object; a list is no place for a pointer.
  [[nodiscard]] SchemaNodes nodes_of(const Json& schema) const {
    SchemaNodes nodes = alternatives_of(schema, *definitions_);
    std::erase_if(nodes, [](const Json* node) {
      return !node->contains("properties") && !node->contains("const") && !node->contains("enum") &&
             node->value("type", "array") == "array";
    });
    return nodes;
  }

  const Json* definitions_;
  SchemaNodes at_;
};

/// The shelf whose names a field takes: that of "workload" is "workloads".
std::string shelf_of_field(const std::string& name) {
  for (const std::string& shelf : catalogue_shelves())
    if (is_of_file(shelf) && singular_of(shelf) == name) return shelf;
  return "";
}

std::vector<Completion> values_at(const PointerWalk& walk, const std::string& name) {
  std::vector<Completion> values = walk.values();
  const std::string shelf = shelf_of_field(name);
  if (shelf.empty() || shelf == "scenarios" || shelf == "suites") return values;
  for (const CatalogueEntry& entry : catalogue(default_library()))
    if (entry.shelf == shelf) values.push_back({entry.name, entry.meaning});
  return values;
}

}  // namespace

Completions pointers_at(const std::string& partial, bool with_values) {
  Completions found;
  const auto equals = partial.find('=');
  const std::string pointer = partial.substr(0, equals);
  if (!pointer.empty() && pointer.front() != '/') return found;
  const Json schema = scenario_schema();
  PointerWalk walk(schema);
  std::string name;
  std::size_t from = 1;
  for (auto to = pointer.find('/', from); to != std::string::npos; to = pointer.find('/', from = to + 1))
    walk.step(name = pointer.substr(from, to - from));
  if (equals != std::string::npos) {
    if (!with_values) return found;
    walk.step(name = pointer.substr(std::min(from, pointer.size())));
    for (const Completion& value : values_at(walk, name))
      found.words.push_back({pointer + "=" + value.word, value.meaning});
    return found;
  }
  const std::string folder = pointer.substr(0, std::min(from, pointer.size()));
  for (const auto& [field, meaning] : walk.fields()) {
    PointerWalk below = walk;
    below.step(field);
    const std::string path = (folder.empty() ? "/" : folder) + field;
    if (!below.fields().empty()) found.words.push_back({path + "/", meaning});
    if (below.takes_value()) found.words.push_back({path + "=", meaning});
  }
  return found;
}

}  // namespace stepcast
