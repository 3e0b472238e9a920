#include "models/study/choose_points.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/study/find_axis.hpp"

namespace stepcast {
namespace {

const std::string* value_on(const StudyPoint& point, const std::string& axis) {
  const auto found = std::find_if(point.coordinates.begin(), point.coordinates.end(),
                                  [&](const Coordinate& c) { return c.axis == axis; });
  return found == point.coordinates.end() ? nullptr : &found->value;
}

/// Splits "AXIS=VALUE". Returns nothing for another text.
std::optional<std::pair<std::string, std::string>> split(const std::string& choice) {
  const auto equals = choice.find('=');
  if (equals == std::string::npos) return {};
  return std::pair(choice.substr(0, equals), choice.substr(equals + 1));
}

}  // namespace

std::string nearest_coordinate(const std::string& name, const std::vector<std::string>& known) {
  return name.size() > 2 ? nearest(name, known) : "";
}

std::string no_such_value(const std::string& axis, const std::string& value, const std::vector<std::string>& values) {
  const std::string near = nearest_coordinate(value, values);
  return fmt::format("\"{}\" is no value of {}; it has {}{}", value, axis, fmt::join(values, "; "),
                     near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
}

PointFilter filter_of(const std::vector<std::string>& choices) {
  std::map<std::string, std::set<std::string>> chosen;
  for (const std::string& choice : choices)
    if (const auto parts = split(choice)) chosen[parts->first].insert(parts->second);
  return [chosen](const std::vector<Coordinate>& some) {
    return std::all_of(some.begin(), some.end(), [&](const Coordinate& c) {
      bool named = false;
      for (const std::string& name : std::set{c.axis, c.axis.substr(c.axis.rfind('/') + 1)})
        if (const auto values = chosen.find(name); values != chosen.end()) {
          if (values->second.contains(c.value)) return true;
          named = true;
        }
      return !named;
    });
  };
}

void choose_points(Study& study, const std::vector<std::string>& choices) {
  std::map<std::string, std::set<std::string>> chosen;
  for (const std::string& choice : choices) {
    const auto parts = split(choice);
    if (!parts) throw std::invalid_argument(fmt::format("\"{}\" is not AXIS=VALUE", choice));
    const std::size_t axis = find_axis(study, parts->first);
    const std::vector<std::string>& values = study.axis_values[axis];
    if (std::find(values.begin(), values.end(), parts->second) == values.end())
      throw std::invalid_argument(no_such_value(study.axes[axis], parts->second, values));
    chosen[study.axes[axis]].insert(parts->second);
  }
  std::erase_if(study.points, [&](const StudyPoint& point) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const auto& one) {
      const std::string* value = value_on(point, one.first);
      return !value || !one.second.contains(*value);
    });
  });
  if (study.points.empty())
    throw std::invalid_argument(fmt::format("no point has all of {}", fmt::join(choices, ", ")));
}

}  // namespace stepcast
