#include "models/study/study.hpp"

#include <algorithm>

namespace stepcast {

std::string value_on(const std::vector<Coordinate>& coordinates, std::string_view axis) {
  const auto found =
      std::find_if(coordinates.begin(), coordinates.end(), [&](const Coordinate& c) { return c.axis == axis; });
  return found == coordinates.end() ? "" : found->value;
}

std::vector<Coordinate> without_axis(std::vector<Coordinate> coordinates, std::string_view axis) {
  std::erase_if(coordinates, [&](const Coordinate& c) { return c.axis == axis; });
  return coordinates;
}

std::optional<std::size_t> axis_at(const Study& study, std::string_view pointer) {
  const auto found = std::find(study.axis_pointers.begin(), study.axis_pointers.end(), pointer);
  if (found == study.axis_pointers.end()) return {};
  return static_cast<std::size_t>(found - study.axis_pointers.begin());
}

std::vector<const Scenario*> questions_of(const StudyPoint& point) {
  std::vector<const Scenario*> all{&point.scenario};
  for (const Scenario& phase : point.phases) all.push_back(&phase);
  if (point.baselines)
    for (const Scenario& baseline : *point.baselines) all.push_back(&baseline);
  return all;
}

}  // namespace stepcast
