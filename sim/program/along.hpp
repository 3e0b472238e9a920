// Subcommands that search one field: --along, --grid, and the output of the search.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/answer/field_points.hpp"
#include "sim/program/command.hpp"
#include "sim/program/study_options.hpp"

namespace stepcast {

struct AlongOptions {
  StudyOptions study;
  std::string along, csv, json;
  std::optional<std::size_t> grid;
  int jobs = 1;
};

/// The study, --along, --grid, --set, --point, --evaluator, --csv, --json and --jobs.
void add_along(Command& command, AlongOptions& options, const std::string& study_help);

/// The output of a search.
struct SearchResult {
  std::string table, csv;
  std::function<Json(const Json& manifest)> document;
};

/// Searches the points of a study along a field. The values of the grid are evaluated first.
/// @param study  at the first value; its notes are printed
using SearchAlong = std::function<SearchResult(const Study& study, FieldPoints points, const Field& field,
                                               const std::vector<double>& grid)>;

/// Searches along the field of the options, and writes the result to their outputs.
/// @returns the exit code
/// @throws UsageError, also if --point chooses on the field's axis; ScenarioError, with one fault for many
/// values or points
int search_along(const AlongOptions& options, const Invocation& invocation, Baselines baselines,
                 const SearchAlong& search);

}  // namespace stepcast
