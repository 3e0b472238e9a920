// From a scenario file to the points to evaluate.
//
// A study is a scenario with lists where fields want one value (their cross product, in document order, the
// last list varying fastest) and, or, with named variants. A scenario without either is a study of one point.
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

/// One coordinate of a point: the axis' name and its value as text.
struct Coordinate {
  std::string axis;
  std::string value;
  bool operator==(const Coordinate&) const = default;
};

/// The value on that axis; "" where there is no such axis.
std::string value_on(const std::vector<Coordinate>& coordinates, std::string_view axis);

struct StudyPoint {
  std::vector<Coordinate> coordinates;
  Scenario scenario;
  std::vector<Scenario> phases;      ///< of the scenario's run, in order
  Shared<Scenario> baseline;        ///< the scenario that this point's speedup is against
  std::vector<Scenario> baseline_phases;
  std::vector<std::string> notes;  ///< on what its document writes without effect
};

/// Whether points that have these coordinates among theirs, whose axes are pointers, may be wanted.
using PointFilter = std::function<bool(const std::vector<Coordinate>& some)>;

/// Every scenario that has to be answered for the point's report: its own, its phases, its baseline, that one's phases.
std::vector<const Scenario*> questions_of(const StudyPoint& point);

struct Study {
  std::string name;
  std::string description;
  Output output;
  std::vector<std::string> axes;           ///< names, in order; "variant" first if there are variants
  std::vector<std::string> axis_pointers;  ///< where each axis stands in the document; "variant" for the variants
  std::vector<std::vector<std::string>> axis_values;  ///< of each axis, also those that no point is left of
  std::string source;              ///< all that it was made from (document, overrides, part files): tells studies apart
  std::vector<std::string> notes;  ///< what whoever gave the overrides should know
  std::vector<StudyPoint> points;
};

inline constexpr std::size_t kMaxPoints = 1000000;
inline constexpr std::size_t kMaxAxes = 64;

/// Reads, overrides, resolves, expands and checks. An override is applied before the variants, and again after each
/// that sets a value around it: so it changes a field of what variants set as a whole. One of which no variant leaves
/// anything is a fault; where only some undo it, a note says so.
/// @param library  folder with workloads/, clusters/, ... for parts given by bare name
/// @param wanted   points that are not are neither read, checked nor counted; where none is left, the axes are all that
///                 were come upon. Empty: all are wanted
/// @throws ScenarioError with every fault of every point, each once (the first kMaxFaults)
Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides,
                 const std::filesystem::path& library, std::size_t max_points = kMaxPoints, PointFilter wanted = {});

/// The same from text that is not in a file; `name` stands for it in faults, and references are relative to it.
Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides,
                  const std::filesystem::path& library, std::size_t max_points = kMaxPoints);

/// The same from a document, such as one that stands inside another file; references are relative to the file that
/// wrote it.
/// @param inspect  asked once for each platform file; without it none is looked into
Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library,
                   std::size_t max_points = kMaxPoints, PointFilter wanted = {}, PlatformInspector inspect = {});

}  // namespace stepcast
