#include "sim/program/field_help.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/study/schema.hpp"
#include "sim/program/schema_nodes.hpp"

namespace stepcast {
namespace {

/// A field of the schema, and where it is.
struct SchemaField {
  std::string pointer;
  std::string kind;  ///< of the part that has it, such as "all-reduce"; "" if all kinds do
  const Json* schema;
};
using Visit = std::function<void(const SchemaField&)>;

/// Deeper fields repeat the parts: variants set whole scenarios.
constexpr int kMostLevels = 8;

/// The kind that an object is of: {"properties": {"kind": {"anyOf": [{"const": "star"}, ...]}}}; "" without one.
std::string kind_of(const Json& node) {
  for (const auto& [name, schema] : fields_of(node)) {
    if (name != "kind") continue;
    const Json& value = schema->contains("anyOf") ? (*schema)["anyOf"].front() : *schema;
    return value.contains("const") ? plain_text(value["const"]) : "";
  }
  return "";
}

class FieldWalk {
 public:
  explicit FieldWalk(const Json& schema) : definitions_(schema["definitions"]) {}

  [[nodiscard]] SchemaNodes alternatives(const Json& schema) const { return alternatives_of(schema, definitions_); }

  void visit(const Json& schema, const std::string& pointer, const Visit& field, const std::string& around = "",
             int levels = kMostLevels) const {
    if (levels == 0) return;
    for (const Json* one : alternatives(schema)) {
      if (one->value("type", "") == "array") visit((*one)["items"], pointer + "/0", field, around, levels - 1);
      const std::string own = kind_of(*one), &kind = own.empty() ? around : own;
      for (const auto& [name, below] : fields_of(*one)) {
        const std::string inside = fmt::format("{}/{}", pointer, name);
        field({inside, kind, below});
        visit(*below, inside, field, kind, levels - 1);
      }
    }
  }

 private:
  const Json& definitions_;
};

/// The units that a pattern ends with: "B, kB, MB".
std::string units_in(const std::string& pattern) {
  const auto open = pattern.rfind('('), close = pattern.rfind(')');
  if (open == std::string::npos || close < open || !pattern.ends_with(")$")) return "";
  std::string units = pattern.substr(open + 1, close - open - 1);
  for (auto at = units.find('|'); at != std::string::npos; at = units.find('|', at)) units.replace(at, 1, ", ");
  return units;
}

std::string range_of(const Json& one) {
  const auto bound = [&](const char* name) { return fmt::format("{:.15g}", one[name].get<double>()); };
  std::string text = one["type"] == "integer" ? "a whole number" : "a number";
  if (one.contains("exclusiveMinimum")) text += " above " + bound("exclusiveMinimum");
  if (one.contains("minimum")) text += " from " + bound("minimum");
  if (one.contains("maximum")) text += " to " + bound("maximum");
  return text;
}

/// The values and the fields that a field takes.
void add_values(Json& help, const FieldWalk& walk, const Json& schema) {
  Json values = Json::object(), fields = Json::object();
  for (const Json* one : walk.alternatives(schema)) {
    const std::string type = one->value("type", "");
    for (const auto& [value, meaning] : values_of(*one)) values[value] = meaning;
    if (type == "integer" || type == "number") help["value"] = range_of(*one);
    if (const std::string units = units_in(one->value("pattern", "")); !units.empty())
      help["unit"] = "a number with one of " + units;
    if (const std::string kind = kind_of(*one); !kind.empty()) values[kind] = one->value("description", "");
    else
      for (const auto& [name, below] : fields_of(*one)) fields[name] = below->value("description", "");
  }
  if (!values.empty()) help["values"] = std::move(values);
  if (!fields.empty()) help["fields"] = std::move(fields);
}

Json help_of(const SchemaField& field, const FieldWalk& walk) {
  Json help{{"field", field.pointer}, {"meaning", field.schema->value("description", "")}};
  if (field.schema->contains("default")) help["default"] = (*field.schema)["default"];
  add_values(help, walk, *field.schema);
  return help;
}

}  // namespace

std::vector<Json> field_help(const std::string& name) {
  const Json schema = scenario_schema();
  const FieldWalk walk(schema);
  struct Found {
    Json help;
    std::vector<std::string> kinds;
  };
  std::vector<Found> found;
  walk.visit(schema, "", [&](const SchemaField& field) {
    const bool is_asked = name.starts_with('/') ? field.pointer == name : field.pointer.ends_with("/" + name);
    if (!is_asked) return;
    Json help = help_of(field, walk);
    auto same = std::find_if(found.begin(), found.end(), [&](const Found& one) { return one.help == help; });
    if (same == found.end()) same = found.insert(found.end(), {std::move(help), {}});
    if (!field.kind.empty() && std::find(same->kinds.begin(), same->kinds.end(), field.kind) == same->kinds.end())
      same->kinds.push_back(field.kind);
  });
  std::vector<Json> all;
  for (Found& one : found) {
    Json help{{"field", one.help["field"]}};
    if (!one.kinds.empty()) help["of kind"] = fmt::format("{}", fmt::join(one.kinds, ", "));
    help.update(one.help);
    all.push_back(std::move(help));
  }
  return all;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Json schema = scenario_schema();
  FieldWalk(schema).visit(schema, "", [&](const SchemaField& field) {
    std::string name = field.pointer.substr(field.pointer.rfind('/') + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

}  // namespace stepcast
