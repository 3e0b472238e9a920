#include "models/study/schema.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/fields.hpp"
#include "models/scenario/part_json.hpp"
#include "models/study/range_lists.hpp"
#include "models/study/suite.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

constexpr const char* kDraft = "http://json-schema.org/draft-07/schema#";

/// The place of a schema in the scenario, and whether lists are axes there.
struct Place {
  std::string path;   ///< "cluster.link"
  Json* definitions;  ///< definitions for repeated schemas; null if there are no axes

  [[nodiscard]] bool with_axes() const { return definitions != nullptr; }
  [[nodiscard]] Place below(std::string_view name) const {
    return {path.empty() ? std::string(name) : fmt::format("{}.{}", path, name), definitions};
  }
  [[nodiscard]] Place without_axes() const { return {path, nullptr}; }
};

/// @param by_default  a part's fields have their defaults in it
template <class T>
Json schema_of(const Limits& limits, const Place& place, const T& by_default = T{});

Json list_of(Json items) { return Json{{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}}; }

/// One value, or a list of values that forms an axis of a study.
Json or_axis(Json one, const Place& place) {
  if (!place.with_axes()) return one;
  if (one.contains("anyOf") || one.contains("properties") || one.contains("items")) {
    (*place.definitions)[place.path] = std::move(one);
    one = Json{{"$ref", "#/definitions/" + place.path}};
  }
  const std::string type = one.value("type", "");
  const bool is_numeric = type == "integer" || type == "number" || one.contains("pattern");
  Json item = one;
  item.erase("enumDescriptions");  // the single value already has them
  Json choices = Json::array({one, list_of(item)});
  if (is_numeric) {
    (*place.definitions)["range"] = range_schema();
    choices.push_back({{"$ref", "#/definitions/range"}});
  }
  return Json{{"anyOf", std::move(choices)}};
}

class ObjectSchema {
 public:
  explicit ObjectSchema(Place place, bool is_study = false) : place_(std::move(place)), is_study_(is_study) {}

  template <class T>
  void required(const char* name, T& x, const char* meaning, Limits limits = {}) {
    add<T>(name, x, meaning, limits, false);
    required_.push_back(name);
  }
  template <class T>
  void optional(const char* name, T& x, const char* meaning, Limits limits = {}) {
    add<T>(name, x, meaning, limits, true);
  }

  /// The kind. As an axis, a list of kinds that contains this one.
  void kind(std::string_view value) {
    const Json one{{"const", value}};
    properties_["kind"] =
        place_.with_axes() ? Json{{"anyOf", Json::array({one, Json{{"type", "array"}, {"contains", one}}})}} : one;
    required_.push_back("kind");
  }

  [[nodiscard]] Json object() const {
    Json schema{{"type", "object"}, {"properties", properties_}, {"additionalProperties", false}};
    if (!required_.empty()) schema["required"] = required_;
    return schema;
  }

 private:
  template <class T>
  void add(const char* name, T& x, const char* meaning, const Limits& limits, bool has_default) {
    const Place place = place_.below(name);
    Json schema = schema_of<T>(limits, is_study_ && kOfStudy<T> ? place.without_axes() : place, x);
    schema["description"] = meaning;
    if constexpr (!std::is_same_v<T, JsonValue>)
      if (has_default) schema["default"] = write_default(x);
    properties_[name] = std::move(schema);
  }
  template <class T>
  static Json write_default(const T& x) {
    return write_value(x);
  }
  template <class T>
  static Json write_default(const Part<T>& x) {
    return write_value(x.value);
  }
  template <class T>
  static Json write_default(const std::optional<Part<T>>&) {
    return nullptr;
  }

  Place place_;
  bool is_study_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

Json quantity_schema(std::span<const Unit> all, const Limits& limits) {
  std::string units;
  for (const Unit& unit : all) units += fmt::format("{}{}", units.empty() ? "" : "|", unit.suffix);
  return Json{{"type", "string"},
              {"pattern", fmt::format("^{}([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)? ?({})$",
                                      limits.min.value_or(-1) < 0 ? "-?" : "", units)}};
}

Json number_schema(bool integral, const Limits& limits) {
  Json schema{{"type", integral ? "integer" : "number"}};
  if (limits.min) schema[limits.exclusive ? "exclusiveMinimum" : "minimum"] = *limits.min;
  if (limits.max) schema["maximum"] = *limits.max;
  return schema;
}

Json names_schema(const std::vector<std::string_view>& names, const std::vector<std::string_view>& meanings,
                  const Place& place) {
  return or_axis({{"enum", names}, {"enumDescriptions", meanings}}, place);
}

/// Any of two schemas.
Json either(Json one, Json other) { return Json{{"anyOf", Json::array({std::move(one), std::move(other)})}}; }
Json or_null(Json one) { return either(std::move(one), Json{{"type", "null"}}); }
Json list_schema(Json element, const Place& place) {
  return or_axis({{"type", "array"}, {"items", std::move(element)}}, place);
}

/// @param x  has the defaults of its fields: all-reduce's exchange is bucketed, a server's whole-model
template <class T>
Json object_of(const Place& place, [[maybe_unused]] T x = {}) {
  if constexpr (IsVariant<T>::value) {
    Json choices = Json::array();
    for_each_part(static_cast<const T*>(nullptr), [&]<class Alternative>(std::in_place_type_t<Alternative>) {
      ObjectSchema object(place.below(Alternative::kind));
      Alternative alternative;
      object.kind(Alternative::kind);
      Alternative::describe(object, alternative);
      Json schema = object.object();
      schema["description"] = Alternative::meaning;
      choices.push_back(std::move(schema));
    });
    return Json{{"anyOf", choices}};
  } else {
    ObjectSchema object(place);
    T::describe(object, x);
    return object.object();
  }
}

/// Adds the key with which an editor finds a file's schema. A part pasted from its file still contains it.
Json with_schema_key(Json object) {
  const auto admit = [](Json& one) { one["properties"]["$schema"] = Json{{"type", "string"}}; };
  if (object.contains("anyOf"))
    for (Json& choice : object["anyOf"]) admit(choice);
  else admit(object);
  return object;
}

/// A part: a name or path, the part itself, or a reference with some keys merged into it.
template <class T>
Json part_choice(const Place& place) {
  const Json name{
      {"type", "string"},
      {"description",
       IsVariant<T>::value
           ? "the name of a kind, which has its defaults then, or of a file in the library, or a JSON file's path"
           : "a name from the library, or the path of a JSON file"}};
  const Json one{{"type", "string"}}, several{{"type", "array"}, {"items", one}, {"minItems", 1}};
  // Lists are for parts of a scenario, not for parts of a workload.
  constexpr bool lists = std::is_same_v<T, WorkloadTable> || std::is_same_v<T, Cluster> || IsVariant<T>::value;
  const Json from = lists ? Json{{"anyOf", Json::array({one, several})}} : one;
  const Json laid_over{{"type", "object"}, {"properties", {{"from", from}}}, {"required", {"from"}}};
  Json inline_part = object_of<T>(place);
  if constexpr (!std::is_same_v<T, WorkloadVariant>) inline_part = with_schema_key(std::move(inline_part));
  return or_axis({{"anyOf", Json::array({name, std::move(inline_part), laid_over})}}, place);
}

template <class T>
Json schema_of(const Limits& limits, const Place& place, const T& by_default) {
  if constexpr (std::is_same_v<T, bool>) {
    return or_axis({{"type", "boolean"}}, place);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return or_axis(number_schema(std::is_integral_v<T>, limits), place);
  } else if constexpr (IsQuantity<T>::value) {
    return or_axis(quantity_schema(units_of<T>(), limits), place);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return or_axis({{"type", "string"}}, place);
  } else if constexpr (std::is_same_v<T, JsonValue>) {
    return Json{{"type", "object"}};
  } else if constexpr (Named<T>) {
    std::vector<std::string_view> names, meanings;
    for (const auto& choice : Choices<T>::table) {
      names.push_back(choice.name);
      meanings.push_back(choice.meaning);
    }
    return names_schema(names, meanings, place);
  } else if constexpr (std::is_same_v<T, Part<Compressor>>) {
    return part_choice<Compressor>({"compressor", place.definitions});  // inner_compressor has the same definition
  } else if constexpr (kIsPart<T>) {
    return part_choice<decltype(T::value)>(place);
  } else if constexpr (std::is_same_v<T, DeviceProfile> || std::is_same_v<T, WorkloadVariant>) {
    return part_choice<T>(place);
  } else if constexpr (std::is_same_v<T, Compressor>) {
    return part_choice<T>({"compressor", place.definitions});  // the definition of the scenario's
  } else if constexpr (WithoutAxes<T>) {
    return object_of<T>(place.without_axes(), by_default);
  } else if constexpr (IsOptional<T>::value) {
    // A part may contain axes and be one of a list. For other values, the list may contain null.
    using Inner = typename T::value_type;
    if constexpr (WithoutAxes<Inner>) return schema_of<Inner>(limits, place);
    else if constexpr (kIsPart<Inner>) return or_null(schema_of<Inner>(limits, place));
    else return or_axis(or_null(schema_of<Inner>(limits, place.without_axes())), place);
  } else if constexpr (IsOrAuto<T>::value) {
    using Inner = typename decltype(T::value)::value_type;
    return or_axis(either(schema_of<Inner>(limits, place.without_axes()), Json{{"const", "auto"}}), place);
  } else if constexpr (IsMap<T>::value) {
    return Json{{"type", "object"},
                {"additionalProperties", schema_of<typename T::mapped_type>(limits, place.below("value"))}};
  } else if constexpr (std::is_same_v<T, Formula>) {
    return either({{"type", "string"}}, {{"type", "number"}});
  } else if constexpr (IsVector<T>::value) {
    return list_schema(schema_of<typename T::value_type>(limits, place.below("element")), place);
  } else {
    return or_axis(object_of<T>(place, by_default), place);
  }
}

Json with_title(Json schema, std::string_view title) {
  Json titled{{"$schema", kDraft}, {"title", title}};
  for (auto& [key, value] : schema.items()) titled[key] = value;
  return titled;
}

template <class T>
Json part_file(std::string_view title) {
  return with_title(with_schema_key(object_of<T>(Place{})), title);
}

/// The schema of a suite's file. Its study is a scenario that needs no name, or the name or path of a scenario.
Json suite_schema() {
  Json study = scenario_schema();
  Json definitions = std::move(study["definitions"]);
  for (const char* of_files : {"$schema", "title", "definitions"}) study.erase(of_files);
  Json& needed = study["anyOf"][0]["required"];
  needed.erase(std::find(needed.begin(), needed.end(), "name"));
  Json schema = part_file<SuiteFields>("stepcast suite");
  Json& place = schema["properties"]["study"];
  place =
      Json{{"anyOf", Json::array({std::move(study), Json{{"type", "string"}}})}, {"description", place["description"]}};
  schema["definitions"] = std::move(definitions);
  return schema;
}

/// The types ("number", "integer", ...) that are allowed at the place of these JSON pointer tokens.
std::set<std::string> types_at(const Json& schema, const Json& definitions, std::span<const std::string> tokens) {
  std::set<std::string> types;
  const auto add = [&](const Json& below, std::span<const std::string> rest) {
    types.merge(types_at(below, definitions, rest));
  };
  constexpr std::string_view kDefinitions = "#/definitions/";
  if (schema.contains("$ref"))
    add(definitions.at(schema["$ref"].get<std::string>().substr(kDefinitions.size())), tokens);
  if (schema.contains("anyOf"))
    for (const Json& choice : schema["anyOf"]) add(choice, tokens);
  if (tokens.empty()) {
    if (schema.contains("type")) types.insert(schema["type"].get<std::string>());
    return types;
  }
  if (schema.contains("properties") && schema["properties"].contains(tokens[0]))
    add(schema["properties"][tokens[0]], tokens.subspan(1));
  if (schema.contains("items")) add(schema["items"], tokens.subspan(1));
  if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
    add(schema["additionalProperties"], tokens.subspan(1));
  return types;
}

}  // namespace

Json scenario_schema() {
  Json definitions = Json::object();
  ObjectSchema object({"", &definitions}, true);
  ScenarioFields fields;
  ScenarioFields::describe(object, fields);
  Json schema = object.object();
  schema["properties"]["from"] =
      Json{{"type", "string"}, {"description", "path of a scenario that this one is laid over"}};
  schema["anyOf"] = Json::array({Json{{"required", schema["required"]}}, Json{{"required", {"from"}}}});
  schema.erase("required");
  schema["definitions"] = std::move(definitions);
  return with_title(std::move(schema), "stepcast scenario");
}

Json part_schema(std::string_view part) {
  if (part == "workload") return part_file<WorkloadTable>("stepcast workload");
  if (part == "profile") return part_file<DeviceProfile>("stepcast device profile");
  if (part == "cluster") return part_file<Cluster>("stepcast cluster");
  if (part == "stack") return part_file<Stack>("stepcast stack");
  if (part == "strategy") return part_file<Strategy>("stepcast strategy");
  if (part == "compressor") return part_file<Compressor>("stepcast compressor");
  if (part == "suite") return suite_schema();
  throw std::invalid_argument(fmt::format(
      "no part is called \"{}\"; there are workload, profile, cluster, stack, strategy, compressor and suite", part));
}

bool takes_fractions(const std::string& pointer) {
  const auto tokens = tokens_of(pointer);
  if (!tokens) return false;
  const Json schema = scenario_schema();
  const std::set<std::string> types = types_at(schema, schema["definitions"], *tokens);
  return types.contains("number") && !types.contains("integer");
}

}  // namespace stepcast
