// Converts a scenario file to the points to evaluate.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/document.hpp"
#include "models/scenario/override.hpp"
#include "models/scenario/part_files.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario_reader.hpp"
#include "models/study/study.hpp"

namespace stepcast {

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

/// The points that are read. The axes of all points are found.
enum class ReadPoints { all, first };

/// The same for a document, for example one inside another file. References are relative to the file that contains
/// them.
/// @param inspect  called once for each platform file; without it, no file is inspected
Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library,
                   std::size_t max_points = kMaxPoints, PointFilter wanted = {}, PlatformInspector inspect = {},
                   ReadPoints read = ReadPoints::all);

/// Expands documents one after another that share most of their parts. Each part is read once.
class Expander {
 public:
  /// @param file  contains the documents
  Expander(std::string file, const std::filesystem::path& library);
  /// @throws ScenarioError like expand_study
  Study expand(Document document, const std::vector<Override>& overrides);
  /// The points of a document without lists and variants at some values of one field outside its workload: those that
  /// expand() gives for a list of them, without coordinates and notes.
  /// @param values  each an override of that field by one value
  /// @returns nothing if any of them has a fault or is left out; expand() tells
  std::optional<std::vector<StudyPoint>> at_values(const Document& document, const std::vector<Override>& values);

 private:
  std::string file_;
  PartFiles files_;
  ScenarioReader reader_;
};

}  // namespace stepcast
