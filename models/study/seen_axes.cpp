#include "models/study/seen_axes.hpp"

#include <algorithm>
#include <map>

namespace stepcast {

void SeenAxes::see(const std::string& axis, const std::string& value) {
  auto found = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.pointer == axis; });
  if (found == seen_.end()) found = seen_.insert(seen_.end(), {axis, {}, {}});
  if (found->known.insert(value).second) found->values.push_back(value);
}

void SeenAxes::name_axes(Study& study, bool all) const {
  std::vector<std::string> pointers;
  for (const StudyPoint& point : study.points)
    for (const Coordinate& c : point.coordinates)
      if (std::find(pointers.begin(), pointers.end(), c.axis) == pointers.end()) pointers.push_back(c.axis);
  if (all || study.points.empty())
    for (const Seen& axis : seen_)
      if (std::find(pointers.begin(), pointers.end(), axis.pointer) == pointers.end()) pointers.push_back(axis.pointer);
  const auto short_name = [](const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); };
  std::map<std::string, std::string> names;
  for (const std::string& pointer : pointers) {
    const auto alike = std::count_if(pointers.begin(), pointers.end(), [&](const std::string& other) {
      return short_name(other) == short_name(pointer);
    });
    names[pointer] = alike > 1 ? pointer : short_name(pointer);
    study.axes.push_back(names[pointer]);
    study.axis_pointers.push_back(pointer);
    const auto seen = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.pointer == pointer; });
    study.axis_values.push_back(seen->values);
  }
  for (StudyPoint& point : study.points)
    for (Coordinate& c : point.coordinates) c.axis = names[c.axis];
}

}  // namespace stepcast
