// The points to evaluate.
//
// A study is a scenario with lists in fields that take one value, with named variants, or with both. The lists form a
// cross product in document order; the last list varies fastest. A scenario with neither is a study of one point.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// One coordinate of a point: the axis's name and its value as text.
struct Coordinate {
  std::string axis;
  std::string value;
  bool operator==(const Coordinate&) const = default;
};

/// The value on that axis; "" if there is no such axis.
std::string value_on(const std::vector<Coordinate>& coordinates, std::string_view axis);
/// The coordinates on all other axes.
std::vector<Coordinate> without_axis(std::vector<Coordinate> coordinates, std::string_view axis);

struct StudyPoint {
  std::vector<Coordinate> coordinates;
  Scenario scenario;
  std::vector<Scenario> phases;             ///< the run's phases, in order
  Shared<std::vector<Scenario>> baselines;  ///< the scenario that this point's speedup refers to, and its run's phases
  std::vector<std::string> notes;           ///< notes on values in its document without effect

  /// Null: one worker computing alone.
  [[nodiscard]] const Scenario* baseline() const { return baselines ? &baselines->front() : nullptr; }
  [[nodiscard]] std::span<const Scenario> phases_of_baseline() const {
    return baselines ? std::span(*baselines).subspan(1) : std::span<const Scenario>{};
  }
};

/// Whether points with these coordinates (axes given as pointers) may be wanted.
using PointFilter = std::function<bool(const std::vector<Coordinate>& some)>;

/// All scenarios that the point's report needs: its own, its phases, its baseline and the baseline's phases.
std::vector<const Scenario*> questions_of(const StudyPoint& point);

struct Study {
  std::string name;
  std::string description;
  Output output;
  std::vector<std::string> axes;           ///< names, in order; "variant" first if there are variants
  std::vector<std::string> axis_pointers;  ///< the pointer of each axis in the document; "variant" for the variants
  std::vector<std::vector<std::string>> axis_values;  ///< the values of each axis, even those without a remaining point
  std::string source;              ///< the whole input (document, overrides, part files); identifies the study
  std::vector<std::string> notes;  ///< notes for the author of the overrides
  std::vector<StudyPoint> points;
};

/// The number of the axis with that pointer; nothing if there is no such axis.
std::optional<std::size_t> axis_at(const Study& study, std::string_view pointer);

inline constexpr std::size_t kMaxPoints = 1000000;
inline constexpr std::size_t kMaxAxes = 64;

}  // namespace stepcast
