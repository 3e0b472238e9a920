#include "models/study/repeated_values.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"

namespace stepcast {

std::vector<Fault> repeated_values(const Document& document, const std::string& axis, const Json& values) {
  std::vector<Fault> faults;
  constexpr const char* allowed = "each value of an axis once";
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [first, is_new] = seen.emplace(values[i].dump(), i);
    if (is_new) continue;
    const std::string own = pointer_to(axis, i), other = pointer_to(axis, first->second);
    auto changes = document.origins.changes_below(own, axis);
    if (changes.empty()) changes = document.origins.changes_below(other, axis);
    if (changes.empty()) {
      faults.push_back(document.origins.locate({"", own, describe_value(values[i]) + " a second time", allowed, ""}));
      continue;
    }
    // The list's author wrote different values; the changes make them equal.
    std::vector<std::string> others;
    for (std::size_t k = 1; k < changes.size(); ++k)
      others.push_back(fmt::format("{}: {}", changes[k].file, changes[k].place));
    const std::string& changed = changes.front().pointer;
    const Json::json_pointer field(changed.substr(changed.find('/', axis.size() + 1)));
    faults.push_back(
        {changes.front().file, changes.front().place,
         fmt::format("{}{}, which makes {} equal to {}",
                     describe_value(values[i].contains(field) ? values[i][field] : Json()),
                     others.empty() ? "" : fmt::format(", beside {}", fmt::join(others, ", ")), own, other),
         allowed, "leave one of the two out, or let them differ in another field"});
  }
  return faults;
}

}  // namespace stepcast
