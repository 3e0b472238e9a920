#include "models/study/alternatives.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/origins.hpp"
#include "models/study/axis_labels.hpp"
#include "models/study/choose_points.hpp"

namespace stepcast {
namespace {

std::vector<Coordinate> on_axes(const std::vector<Coordinate>& coordinates, const std::vector<std::string>& axes) {
  std::vector<Coordinate> some;
  for (const std::string& axis : axes)
    if (std::string value = value_on(coordinates, axis); !value.empty()) some.push_back({axis, std::move(value)});
  return some;
}

/// Whether a point with the coordinates `some` is in a situation: all its coordinates agree with the situation's.
bool stands_in(const std::vector<Coordinate>& some, const std::vector<Coordinate>& situation) {
  return std::all_of(some.begin(), some.end(),
                     [&](const Coordinate& c) { return value_on(situation, c.axis) == c.value; });
}

template <class T>
std::size_t index_in(std::vector<T>& list, const T& value) {
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

}  // namespace

std::vector<std::string> usual_alternatives(const Study& study) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    for (const char* place : {"variant", "/strategy", "/compressor", "/other_compressors", "/inner_compressor",
                              "/codec", "/workload/variant"})
      if (is_at_or_below(study.axis_pointers[i], place)) axes.push_back(study.axes[i]);
  return axes;
}

Arrangement arrange(const Study& study, const std::vector<StudyPoint>& points,
                    const std::vector<std::string>& alternative_axes, const std::string& left_out) {
  Arrangement a;
  for (const std::string& axis : study.axes) {
    if (axis == left_out) continue;
    const bool alternative =
        std::find(alternative_axes.begin(), alternative_axes.end(), axis) != alternative_axes.end();
    (alternative ? a.alternative_axes : a.situation_axes).push_back(axis);
  }
  std::vector<std::vector<Coordinate>> own;  // each point's coordinates on the axes of situations
  for (const StudyPoint& point : points) {
    own.push_back(on_axes(point.coordinates, a.situation_axes));
    index_in(a.situations, own.back());
  }
  // A situation that agrees with another one but has fewer coordinates is not a separate situation.
  const auto all = a.situations;
  std::erase_if(a.situations, [&](const auto& one) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& other) { return other.size() > one.size() && stands_in(one, other); });
  });
  for (std::size_t p = 0; p < points.size(); ++p) {
    const std::size_t alternative = index_in(a.alternatives, on_axes(points[p].coordinates, a.alternative_axes));
    for (std::size_t s = 0; s < a.situations.size(); ++s)
      if (stands_in(own[p], a.situations[s])) a.contests.push_back({s, alternative, p});
  }
  return a;
}

std::size_t find_alternative(const Arrangement& a, const std::vector<std::string>& choices) {
  std::vector<Coordinate> wanted;
  for (const std::string& choice : choices) {
    const auto equals = choice.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(fmt::format("\"{}\" is not AXIS=VALUE", choice));
    const std::string axis = choice.substr(0, equals), value = choice.substr(equals + 1);
    if (std::find(a.alternative_axes.begin(), a.alternative_axes.end(), axis) == a.alternative_axes.end())
      throw std::invalid_argument(
          fmt::format("{}: no axis of the alternatives; theirs: {}", axis, fmt::join(a.alternative_axes, ", ")));
    std::vector<std::string> values;
    for (const auto& alternative : a.alternatives)
      if (const std::string has = value_on(alternative, axis); !has.empty()) index_in(values, has);
    if (std::find(values.begin(), values.end(), value) == values.end())
      throw std::invalid_argument(no_such_value(axis, value, values));
    wanted.push_back({axis, value});
  }
  const auto found = std::find_if(a.alternatives.begin(), a.alternatives.end(),
                                  [&](const auto& one) { return stands_in(wanted, one); });
  if (found == a.alternatives.end())
    throw std::invalid_argument(fmt::format("no alternative has all of {}", fmt::join(choices, ", ")));
  return static_cast<std::size_t>(found - a.alternatives.begin());
}

std::string label(const std::vector<Coordinate>& coordinates) {
  std::vector<std::string> values;
  for (const Coordinate& c : coordinates)
    values.push_back(c.axis == "variant" ? c.value : fmt::format("{} {}", c.axis, c.value));
  return values.empty() ? "the unchanged scenario" : fmt::format("{}", fmt::join(values, ", "));
}

Json coordinates_json(const std::vector<Coordinate>& coordinates) {
  Json json = Json::object();
  for (const Coordinate& one : coordinates) json[one.axis] = label_json(one.value);
  return json;
}

}  // namespace stepcast
