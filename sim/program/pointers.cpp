#include "sim/program/pointers.hpp"

#include <map>

#include "models/scenario/library.hpp"
#include "models/study/schema.hpp"
#include "sim/program/catalogue.hpp"

namespace stepcast {
namespace {

using Nodes = std::vector<const Json*>;

/// A scenario's schema, walked along a pointer. Lists are axes of what stands beside them, and are left out.
class Walk {
 public:
  explicit Walk(const Json& schema) : definitions_(&schema["definitions"]) { add(schema, at_); }

  void step(const std::string& name) {
    Nodes below;
    for (const Json* node : at_)
      if (const auto found = field(*node, name)) add(*found, below);
    at_ = std::move(below);
  }

  /// Fields here, each with its description.
  [[nodiscard]] std::map<std::string, std::string> fields() const {
    std::map<std::string, std::string> all;
    for (const Json* node : at_) {
      const auto properties = node->find("properties");
      if (properties == node->end()) continue;
      for (const auto& [name, below] : properties->items())
        if (name != "$schema" && name != "from") all.try_emplace(name, below.value("description", ""));
    }
    return all;
  }

  /// Fixed values here, each with its meaning.
  [[nodiscard]] std::vector<Candidate> values() const {
    std::vector<Candidate> all;
    for (const Json* node : at_) {
      if (node->contains("const")) all.push_back({text_of((*node)["const"]), ""});
      if (node->value("type", "") == "boolean") all.insert(all.end(), {{"true", ""}, {"false", ""}});
      const Json names = node->value("enum", Json::array()), meanings = node->value("enumDescriptions", Json::array());
      for (std::size_t i = 0; i < names.size(); ++i)
        all.push_back({text_of(names[i]), i < meanings.size() ? text_of(meanings[i]) : ""});
    }
    return all;
  }

  /// Whether a value may stand here that is no object.
  [[nodiscard]] bool takes_value() const {
    for (const Json* node : at_)
      if (node->value("type", "") != "object") return true;
    return false;
  }

 private:
  static std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

  static const Json* field(const Json& node, const std::string& name) {
    const auto properties = node.find("properties");
    if (properties == node.end() || !properties->contains(name)) return nullptr;
    return &(*properties)[name];
  }

  /// References are followed, alternatives taken one by one.
  void add(const Json& node, Nodes& to) const {
    constexpr std::string_view kDefinitions = "#/definitions/";
    if (const auto reference = node.find("$ref"); reference != node.end())
      return add(definitions_->at(reference->get<std::string>().substr(kDefinitions.size())), to);
    if (const auto choices = node.find("anyOf"); choices != node.end())
      for (const Json& choice : *choices) add(choice, to);
    if (node.contains("properties") || node.contains("const") || node.contains("enum") ||
        (node.contains("type") && node["type"] != "array"))
      to.push_back(&node);
  }

  const Json* definitions_;
  Nodes at_;
};

/// The shelf whose names a field takes: that of "workload" is "workloads".
std::string shelf_of_field(const std::string& name) {
  for (const std::string& shelf : catalogue_shelves())
    if (is_of_file(shelf) && singular_of(shelf) == name) return shelf;
  return "";
}

std::vector<Candidate> values_of(const Walk& walk, const std::string& name) {
  std::vector<Candidate> values = walk.values();
  const std::string shelf = shelf_of_field(name);
  if (shelf.empty() || shelf == "scenarios" || shelf == "suites") return values;
  for (const CatalogueEntry& entry : catalogue(default_library()))
    if (entry.shelf == shelf) values.push_back({entry.name, entry.meaning});
  return values;
}

}  // namespace

Candidates pointers_at(const std::string& partial, bool with_values) {
  Candidates found;
  const auto equals = partial.find('=');
  const std::string pointer = partial.substr(0, equals);
  if (!pointer.empty() && pointer.front() != '/') return found;
  const Json schema = scenario_schema();
  Walk walk(schema);
  std::string name;
  std::size_t from = 1;
  for (auto to = pointer.find('/', from); to != std::string::npos; to = pointer.find('/', from = to + 1))
    walk.step(name = pointer.substr(from, to - from));
  if (equals != std::string::npos) {
    if (!with_values) return found;
    walk.step(name = pointer.substr(std::min(from, pointer.size())));
    for (const Candidate& value : values_of(walk, name))
      found.words.push_back({pointer + "=" + value.word, value.meaning});
    return found;
  }
  const std::string folder = pointer.substr(0, std::min(from, pointer.size()));
  for (const auto& [field, meaning] : walk.fields()) {
    Walk below = walk;
    below.step(field);
    const std::string path = (folder.empty() ? "/" : folder) + field;
    if (!below.fields().empty()) found.words.push_back({path + "/", meaning});
    if (below.takes_value()) found.words.push_back({path + "=", meaning});
  }
  return found;
}

}  // namespace stepcast
