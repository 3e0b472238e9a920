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

}  // namespace

Json with_strategy_of_stack(const Json& document, std::vector<Fault>& impossible) {
  const Json::json_pointer list("/stack/strategies");
  if (!document.is_object() || !document.contains(list) || !document.at(list).is_array() || document.at(list).empty())
    return document;
  Json merged = document;
  const Json strategies = merged.at(list);
  merged.at("/stack"_json_pointer).erase("strategies");
  Json& strategy = merged["strategy"];
  if (strategy.is_null()) {
    strategy = strategies.front();
    return merged;
  }
  const std::string kind = text_of(strategy, "kind");
  const auto own = std::find_if(strategies.begin(), strategies.end(),
                                [&](const Json& one) { return text_of(one, "kind") == kind; });
  if (own != strategies.end()) {
    Json whole = *own;
    whole.merge_patch(strategy);
    strategy = std::move(whole);
    return merged;
  }
  if (kind.empty() || kind == CollectiveBenchmark::kind) return merged;
  std::vector<std::string> kinds;
  for (const Json& one : strategies) kinds.push_back(text_of(one, "kind"));
  const std::string name = text_of(merged.at("stack"), "name");
  impossible.push_back({"", "/strategy/kind", fmt::format("\"{}\" with stack {}", kind, name.empty() ? "in place" : name),
                    fmt::format("{}, which the stack can carry out", fmt::join(kinds, ", ")),
                    "choose another stack; \"ideal\" has every strategy"});
  return merged;
}

}  // namespace stepcast
