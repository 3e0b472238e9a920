#include "sim/program/schema_nodes.hpp"

#include <string_view>

#include "models/describe/json.hpp"

namespace stepcast {

SchemaNodes alternatives_of(const Json& schema, const Json& definitions) {
  constexpr std::string_view kDefinitions = "#/definitions/";
  if (const auto reference = schema.find("$ref"); reference != schema.end())
    return alternatives_of(definitions.at(reference->get<std::string>().substr(kDefinitions.size())), definitions);
  const auto choices = schema.find("anyOf");
  if (choices == schema.end()) return {&schema};
  SchemaNodes all;
  for (const Json& choice : *choices)
    for (const Json* one : alternatives_of(choice, definitions))
      if (one->value("type", "") != "array") all.push_back(one);
  if (schema.contains("properties")) all.push_back(&schema);
  return all;
}

std::vector<std::pair<std::string, const Json*>> fields_of(const Json& node) {
  std::vector<std::pair<std::string, const Json*>> fields;
  if (const auto properties = node.find("properties"); properties != node.end())
    for (const auto& [name, below] : properties->items())
      if (name != "$schema" && name != "from") fields.emplace_back(name, &below);
  return fields;
}

std::vector<std::pair<std::string, std::string>> values_of(const Json& node) {
  std::vector<std::pair<std::string, std::string>> all;
  if (node.contains("const")) all.emplace_back(plain_text(node["const"]), node.value("description", ""));
  if (node.value("type", "") == "boolean") all.insert(all.end(), {{"true", ""}, {"false", ""}});
  const Json names = node.value("enum", Json::array()), meanings = node.value("enumDescriptions", Json::array());
  for (std::size_t i = 0; i < names.size(); ++i)
    all.emplace_back(plain_text(names[i]), i < meanings.size() ? plain_text(meanings[i]) : "");
  return all;
}

std::string plain_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace stepcast
