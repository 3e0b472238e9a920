// Options that run, sweep, trace and show have in common: a study, and changes and choices on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/options.hpp"

#include "models/scenario/override.hpp"
#include "models/study/study.hpp"
#include "sim/program/scenario_words.hpp"

namespace stepcast {

struct StudyOptions {
  std::string file;  ///< "-": standard input; "": the words alone are the scenario
  WordTexts words{};
  std::vector<std::string> sets, points;
  std::string evaluator, fidelity;
  std::optional<double> tolerance;
};

/// The file as an argument, and the words (scenario_words.hpp) that replace it or change it.
void add_scenario(Command& command, StudyOptions& options, const std::string& argument, const std::string& meaning);
/// The name of the scenario's source in faults.
std::string source_of(const StudyOptions& options);

/// --set
void add_sets(Command& command, std::vector<std::string>& sets, const std::string& meaning);
void add_sets(Command& command, StudyOptions& options);
/// The changes in texts of --set.
/// @throws UsageError
std::vector<Override> overrides_of(const std::vector<std::string>& sets);
/// --point
void add_points(Command& command, StudyOptions& options);
/// --evaluator, --fidelity and --tolerance, which abbreviate --set.
void add_evaluation(Command& command, StudyOptions& options);

/// --jobs
void add_jobs(Command& command, int& jobs);

/// The study with the changes and choices of the options.
/// @param more  overrides of the subcommand's own
/// @throws UsageError for an option with a wrong value; ScenarioError
Study load(const StudyOptions& options, const std::vector<Override>& more = {});

/// Whether the scenario can be loaded again: standard input and pipes are read once.
bool can_be_read_again(const StudyOptions& options);

/// The same with all axes, but with the first point alone: enough to find a field by its name.
Study load_first(const StudyOptions& options);

/// Writes the scenario with the words and the changes of --set as a file.
/// @throws UsageError if the options name a file already
void save_scenario(const StudyOptions& options, const std::string& path);

/// For subcommands about one point.
/// @throws UsageError if there are several, with a way to choose
void require_one_point(const Study& study, std::string_view subcommand);

/// Prints the study's notes on standard error. On a cluster of machines with several NICs, a note says that --link is
/// each NIC's: a number of 10 Gb/s for the whole machine would mistake it.
void print_notes(const StudyOptions& options, const Study& study);

}  // namespace stepcast
