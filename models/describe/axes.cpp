#include "models/describe/axes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stepcast::detail {

std::vector<std::string> AxisFinder::axes() && {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Found& a, const Found& b) { return a.position < b.position; });
  std::vector<std::string> pointers;
  for (Found& found : found_) pointers.push_back(std::move(found.pointer));
  return pointers;
}

void AxisFinder::visit(const char* name, Find& find) {
  const auto found = object_.find(name);
  if (found == object_.end()) return;
  const auto position = std::distance(object_.begin(), found);
  for (std::string& axis : find(*found, pointer_to(pointer_, name))) found_.push_back({position, std::move(axis)});
}

std::vector<std::string> find_axes_of_value(const Json& json, const std::string& pointer) {
  if (json.is_array()) return {pointer};
  return {};
}

std::vector<std::string> find_axes_of_list(const Json& json, const std::string& pointer,
                                           std::vector<std::string> (*of_element)(const Json&, const std::string&)) {
  const auto is_list = [](const Json& element) { return element.is_array(); };
  if (json.is_array() && !json.empty() && std::all_of(json.begin(), json.end(), is_list)) return {pointer};
  std::vector<std::string> axes;
  if (!json.is_array()) return axes;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto inside = of_element(json[i], pointer_to(pointer, i));
    std::move(inside.begin(), inside.end(), std::back_inserter(axes));
  }
  return axes;
}

}  // namespace stepcast::detail
