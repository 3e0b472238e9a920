// stepcast validate: compares predictions with published measurements.
#include <algorithm>
#include <memory>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/suite.hpp"
#include "models/validation/changed_suite.hpp"
#include "models/validation/validation_writers.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/suite_files.hpp"
#include "sim/replay/processes.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

struct ValidateOptions {
  std::vector<std::string> suites;
  std::vector<std::string> sets;
  std::string csv, json;
  int jobs = available_cores();
};

/// The suite after the changes of --set. Prints notes on them on standard error.
Suite changed(Suite suite, const std::vector<Override>& changes) {
  if (changes.empty()) return suite;
  const std::vector<std::string> known = suite.study.notes;
  Suite other = changed_suite(std::move(suite), changes, default_library(), inspect_platform);
  for (const std::string& note : other.study.notes)
    if (std::find(known.begin(), known.end(), note) == known.end()) tell("stepcast: note: {}\n", note);
  return other;
}

int run(const ValidateOptions& options, const Invocation& invocation) {
  const std::vector<Override> changes = overrides_of(options.sets);
  const std::vector<std::filesystem::path> files = suite_files(options.suites);
  check_outputs({files.begin(), files.end()}, {options.csv, options.json});
  std::vector<Suite> suites;
  for (const auto& file : files)
    suites.push_back(changed(load_suite(file, default_library(), inspect_platform), changes));
  std::vector<Validation> validations;
  for (const Suite& suite : suites)
    validations.push_back(validate(suite, answer_whole_study(suite.study, options.jobs, shown_progress())));

  if (options.csv != "-" && options.json != "-") {
    std::string text;
    for (const Validation& validation : validations) text += to_table(validation) + "\n";
    text += summary_table(validations);
    if (validations.size() > 1) text += "\n" + workers_table(validations);
    write_output("-", text);
  }
  if (!options.csv.empty()) write_output(options.csv, to_csv(validations));
  if (!options.json.empty()) {
    std::vector<Json> manifests;
    for (const Suite& suite : suites) manifests.push_back(make_manifest(suite.study, invocation.arguments));
    write_output(options.json, json_text(validation_document(validations, manifests)));
  }
  int verdict = kOk;
  for (const Validation& validation : validations)
    for (const std::string& missed : missed_limits(validation)) {
      tell("stepcast: {}\n", missed);
      verdict = kThresholdMissed;
    }
  return verdict;
}

}  // namespace

void add_validate(Command& program, Invocation& invocation) {
  Command command =
      program.add_subcommand("validate", "Validate: predictions beside published measurements, with their errors");
  auto options = std::make_shared<ValidateOptions>();
  command.add_option(
      "suite", options->suites,
      "suites: names that `stepcast list suites` prints, or files (.json); all shipped ones without any");
  add_sets(command, options->sets,
           "change a field of the suites' scenarios that have it: /json/pointer=value (repeatable)");
  command.add_option("--csv", options->csv, "write CSV; - is standard output, instead of the tables").type_name("PATH");
  command
      .add_option("--json", options->json, "write JSON with its manifests; - is standard output, instead of the tables")
      .type_name("PATH");
  add_jobs(command, options->jobs);
  command.footer(
      "Examples: stepcast validate hkbu-10gbe --csv errors.csv\n          stepcast validate hkbu-10gbe --set /stack/host_cost=0.1ns/B");
  command.callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

}  // namespace stepcast
