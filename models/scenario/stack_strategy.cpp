#include "models/scenario/stack_strategy.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/strategy.hpp"

namespace stepcast {
namespace {

/// A field's text; "" if there is none.
std::string text_of(const Json& object, const char* field) {
  if (!object.is_object() || !object.contains(field) || !object.at(field).is_string()) return "";
  return object.at(field).get<std::string>();
}

/// Writes the given values over others, nulls included.
void lay_over(Json& own, const Json& given) {
  if (!own.is_object() || !given.is_object()) {
    own = given;
    return;
  }
  for (const auto& [key, value] : given.items()) lay_over(own[key], value);
}

bool gives_exchange(const Json& strategy, const char* field) {
  return strategy.contains("exchange") && strategy.at("exchange").is_object() &&
         strategy.at("exchange").contains(field);
}

Json with_defaults(Json defaults, const Json& given) {
  if (gives_exchange(given, "bucket_cap") && gives_exchange(defaults, "first_bucket"))
    defaults.at("exchange").erase("first_bucket");
  lay_over(defaults, given);
  return defaults;
}

}  // namespace

std::optional<Json> with_strategy_of_stack(const Document& document, std::vector<Fault>& impossible) {
  const Json& json = document.json;
  const Json::json_pointer list("/stack/strategies");
  if (!json.is_object() || !json.contains(list) || !json.at(list).is_array()) return {};
  std::vector<std::string> kinds;
  for (const Json& one : json.at(list))
    if (const std::string kind = text_of(one, "kind"); !kind.empty()) kinds.push_back(kind);
    else return {};  // reading it tells the fault
  if (kinds.empty()) return {};
  Json given = json.contains("strategy") ? json.at("strategy") : Json::object();
  if (!given.is_object()) return {};
  if (document.strategy_is_assumed) given.erase("kind");
  const std::string kind = given.contains("kind") ? text_of(given, "kind") : kinds.front();
  const auto own = std::find(kinds.begin(), kinds.end(), kind);
  if (own != kinds.end()) {
    Json merged = json;
    merged["strategy"] = with_defaults(json.at(list).at(static_cast<std::size_t>(own - kinds.begin())), given);
    return merged;
  }
  if (kind.empty() || kind == CollectiveBenchmark::kind) return {};
  const std::string name = text_of(json.at("stack"), "name");
  impossible.push_back({"", "/strategy/kind",
                        fmt::format("\"{}\" with stack {}", kind, name.empty() ? "in place" : name),
                        fmt::format("{}, which the stack can carry out", fmt::join(kinds, ", ")),
                        "choose another stack; \"ideal\" has every strategy"});
  return {};
}

}  // namespace stepcast
