#include "models/study/find_field.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/describe/other_words.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {
namespace {

/// The pointers of all fields below `value`.
void add_pointers(const Json& value, const std::string& here, std::vector<std::string>& all) {
  if (!value.is_object()) return;
  for (const auto& [key, below] : value.items()) {
    const std::string pointer = pointer_to(here, key);
    all.push_back(pointer);
    add_pointers(below, pointer, all);
  }
}

std::string last_part(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

}  // namespace

std::string find_field(const Study& study, const std::string& name) {
  const auto axis = std::find(study.axes.begin(), study.axes.end(), name);
  if (axis != study.axes.end() && *axis != "variant") return study.axis_pointers[axis - study.axes.begin()];
  std::vector<std::string> fields, alike, names;
  add_pointers(to_json(study.points.front().scenario), "", fields);
  for (const std::string& field : fields) {
    names.push_back(last_part(field));
    if (names.back() == name) alike.push_back(field);
  }
  if (alike.size() == 1) return alike.front();
  if (!alike.empty())
    throw std::invalid_argument(
        fmt::format("{}: {} fields end so; give the pointer of one: {}", name, alike.size(), fmt::join(alike, ", ")));
  std::string hint = words_here(name);
  if (const std::string near = nearest(name, names); hint.empty() && !near.empty())
    hint = fmt::format("did you mean {}?", near);
  throw std::invalid_argument(
      fmt::format("{}: no field of the scenario ends so; give a JSON pointer, such as /cluster/link/bandwidth{}{}",
                  name, hint.empty() ? "" : "; ", hint));
}

}  // namespace stepcast
