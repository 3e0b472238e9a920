// --along and --grid, of subcommands that search one field.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/document.hpp"
#include "sim/program/study_options.hpp"
#include "sim/study/field_points.hpp"

namespace stepcast {

struct AlongOptions {
  StudyOptions study;
  std::string along, csv, json;
  std::optional<std::size_t> grid;
  int jobs = 1;
};

/// The study, --along, --grid, --set, --point, --evaluator, --csv, --json and --jobs.
void add_along(CLI::App& command, AlongOptions& options, const std::string& study_help);

CLI::ValidationError refused(const char* option, const std::string& why);

/// The field and its ends; an axis is looked up in the study.
/// @throws CLI::ValidationError, also where --point is of the same axis; ScenarioError
Field read_along(const AlongOptions& options);

/// The values that are evaluated first.
std::vector<double> first_values(const AlongOptions& options, const Field& field);

/// The study at these values, and its points.
struct FieldStudy {
  Study at_first;  ///< at the first value alone, for the manifest: all other points differ from these in the field alone
  FieldPoints points;
};

/// Loads the study at the grid's values; prints its notes.
/// @throws CLI::ValidationError, ScenarioError
FieldStudy load_along(const AlongOptions& options, const Field& field, const std::vector<double>& grid, bool baselines);

/// What is wrong at many values, or in many points, is told of the first.
/// @param values  of the field that were tried
ScenarioError told_once(const ScenarioError& error, const Field& field, std::size_t values);

}  // namespace stepcast
