#include "models/study/axis_labels.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/unit/parse.hpp"

namespace stepcast {
namespace {

/// The value's name; "" if it has none.
std::string label_of(const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text.ends_with(".json") ? std::filesystem::path(text).stem().string() : text;
  }
  for (const char* pointer : {"/name", "/method/name", "/kind", "/from"})
    if (const Json::json_pointer place(pointer); value.contains(place) && value[place].is_string())
      return value[place].get<std::string>();
  return value.is_structured() ? "" : value.dump();
}

/// The numbers, texts and booleans in an object, by their pointers.
std::map<std::string, std::string> leaves_of(const Json& object) {
  std::map<std::string, std::string> leaves;
  const Json flat = object.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const std::string name = pointer.substr(pointer.rfind('/') + 1);
    const bool in_list = name.find_first_not_of("0123456789") == std::string::npos;
    if (!in_list && !value.is_structured())
      leaves[pointer] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return leaves;
}

/// "shards=8, balance=greedy": for each of several objects, the values that are not in all of them.
std::vector<std::string> differences_of(const std::vector<Json>& objects) {
  std::vector<std::map<std::string, std::string>> leaves;
  std::map<std::pair<std::string, std::string>, std::size_t> uses;
  for (const Json& object : objects)
    for (const auto& leaf : leaves.emplace_back(leaves_of(object))) ++uses[leaf];
  std::vector<std::string> texts;
  for (const auto& own : leaves) {
    std::vector<std::string> parts;
    for (const auto& leaf : own)
      if (uses[leaf] < objects.size())
        parts.push_back(fmt::format("{}={}", leaf.first.substr(leaf.first.rfind('/') + 1), leaf.second));
    texts.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return texts;
}

}  // namespace

std::vector<std::string> axis_labels(const Json& values) {
  constexpr std::size_t kLongest = 48;
  std::vector<std::string> labels;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < values.size(); ++i) alike[labels.emplace_back(label_of(values[i]))].push_back(i);
  for (const auto& [label, places] : alike) {
    if (places.size() == 1 && !label.empty()) continue;
    std::vector<Json> objects;
    for (const std::size_t i : places)
      if (values[i].is_object()) objects.push_back(values[i]);
      else if (values[i].is_string()) objects.push_back({{"from", values[i]}});  // the long form of a plain reference
    const std::vector<std::string> texts =
        objects.size() == places.size() ? differences_of(objects) : std::vector<std::string>{};
    const bool empty = label.empty() && std::find(texts.begin(), texts.end(), "") != texts.end();
    const bool serves =
        !texts.empty() && !empty && std::set<std::string>(texts.begin(), texts.end()).size() == texts.size() &&
        std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return text.size() <= kLongest; });
    for (std::size_t k = 0; k < places.size(); ++k) {
      std::string& text = labels[places[k]];
      if (!serves) text += fmt::format("{}#{}", text.empty() ? "" : " ", places[k] + 1);
      else if (text.empty()) text = texts[k];
      else if (!texts[k].empty()) text += fmt::format(" ({})", texts[k]);
    }
  }
  return labels;
}

Json label_json(const std::string& label) {
  std::int64_t count = 0;
  const char* const end = label.data() + label.size();
  if (const auto [rest, error] = std::from_chars(label.data(), end, count); error == std::errc{} && rest == end)
    return count;
  if (const std::optional<double> number = parse_number(label)) return *number;
  return label;
}

}  // namespace stepcast
