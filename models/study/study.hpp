// Converts a scenario file to the points to evaluate.
//
// A study is a scenario with lists in fields that take one value, with named variants, or with both. The lists form a
// cross product in document order; the last list varies fastest. A scenario with neither is a study of one point.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/document.hpp"
#include "models/scenario/platform_facts.hpp"
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

struct StudyPoint {
  std::vector<Coordinate> coordinates;
  Scenario scenario;
  std::vector<Scenario> phases;  ///< the run's phases, in order
  Shared<Scenario> baseline;     ///< the scenario that this point's speedup refers to
  std::vector<Scenario> baseline_phases;
  std::vector<std::string> notes;  ///< notes on values in its document without effect
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

inline constexpr std::size_t kMaxPoints = 1000000;
inline constexpr std::size_t kMaxAxes = 64;

/// Reads the file, applies overrides, resolves references, expands axes and checks the points. An override is applied
/// before the variants, and again after each variant that sets a value around it. So it also changes a field inside an
/// object that a variant sets. An override that all variants undo is a fault. If only some undo it, a note tells so.
/// @param library  folder with workloads/, clusters/, ... for parts given by bare name
/// @param wanted   unwanted points are neither read, checked nor counted. If no point is left, `axes` has all axes
///                 found so far. Empty: all points are wanted
/// @throws ScenarioError with every fault of every point, each once (the first kMaxFaults)
Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides,
                 const std::filesystem::path& library, std::size_t max_points = kMaxPoints, PointFilter wanted = {});

/// The same for text without a file. `name` stands for the file in faults, and references are relative to it.
Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides,
                  const std::filesystem::path& library, std::size_t max_points = kMaxPoints);

/// The same for a document, for example one inside another file. References are relative to the file that contains
/// them.
/// @param inspect  called once for each platform file; without it, no file is inspected
Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library,
                   std::size_t max_points = kMaxPoints, PointFilter wanted = {}, PlatformInspector inspect = {});

}  // namespace stepcast
