// stepcast validate: compares predictions with published measurements.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/suite.hpp"
#include "models/validation/changed_suite.hpp"
#include "models/validation/validation_writers.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/command.hpp"
#include "sim/program/fit_suite.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/study_options.hpp"
#include "sim/replay/inspect_platform.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct ValidateOptions {
  std::vector<std::string> suites;
  std::vector<std::string> sets, fits;
  std::string csv, json;
  int jobs = available_cores();
};

/// The files that the words name; without words, all shipped suites.
std::vector<std::filesystem::path> files_of(const std::vector<std::string>& words) {
  const auto folder = suites_folder(default_library());
  const auto shipped = json_files(folder);
  if (shipped.empty() && words.empty())  // otherwise an empty folder would pass
    throw UsageError(
        "suite",
        fmt::format(
            "there are no suites in {}; set $STEPCAST_SCENARIOS to the folder of the shipped scenarios, or name a file",
            folder.string()));
  if (words.empty()) return shipped;
  const std::vector<std::string> names = names_of_files(shipped);
  std::vector<std::filesystem::path> files;
  for (const std::string& word : words) {
    if (word.ends_with(".json") || word == "-") {
      files.emplace_back(word);
      continue;
    }
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      const std::string near = meant(word, names);
      throw BadInput(fmt::format("{}: no shipped suite, and no path ending in .json; there are {}{}{}", word,
                                 fmt::join(names, ", "), near.empty() ? "" : "; ", near));
    }
    files.push_back(folder / (word + ".json"));
  }
  return files;
}

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
  const std::vector<Field> fields = fitted_fields(options.fits);
  const std::vector<std::filesystem::path> files = files_of(options.suites);
  check_outputs({files.begin(), files.end()}, {options.csv, options.json});
  std::vector<Suite> suites;
  std::string fits;
  std::vector<Json> found;
  for (const auto& file : files) {
    Suite suite = load_suite(file, default_library(), inspect_platform);
    if (fields.empty()) {
      suites.push_back(changed(std::move(suite), changes));
    } else {
      FittedSuite one = fit_suite(suite, changes, fields, options.jobs);
      suites.push_back(std::move(one.suite));
      fits += one.text;
      found.push_back(std::move(one.found));
    }
  }
  std::vector<Validation> validations;
  for (const Suite& suite : suites)
    validations.push_back(validate(suite, answer_whole_study(suite.study, options.jobs, shown_progress())));

  if (options.csv != "-" && options.json != "-") {
    std::string text;
    for (const Validation& validation : validations) text += to_table(validation) + "\n";
    text += summary_table(validations);
    if (validations.size() > 1) text += "\n" + workers_table(validations);
    write_output("-", text + fits);
  }
  if (!options.csv.empty()) write_output(options.csv, to_csv(validations));
  if (!options.json.empty()) {
    std::vector<Json> manifests;
    for (const Suite& suite : suites) manifests.push_back(make_manifest(suite.study, invocation.arguments));
    Json document = validation_document(validations, manifests);
    for (std::size_t i = 0; i < found.size(); ++i) document["suites"][i]["fit"] = found[i];
    write_output(options.json, json_text(document));
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
  command
      .add_option("--fit", options->fits,
                  "find the value of a field between two ends at which the median |error| is the least (repeatable), "
                  "and show the suite with it")
      .type_name("POINTER=FROM..TO")
      .one_value_a_time();
  command.add_option("--csv", options->csv, "write CSV; - is standard output, instead of the tables").type_name("PATH");
  command
      .add_option("--json", options->json, "write JSON with its manifests; - is standard output, instead of the tables")
      .type_name("PATH");
  add_jobs(command, options->jobs);
  command.footer(
      "Examples: stepcast validate hkbu-10gbe --csv errors.csv\n          stepcast validate hkbu-10gbe --set /stack/host_cost=0.1ns/B\n          stepcast validate hkbu-10gbe --fit /stack/backward_slowdown=1..2");
  command.callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

}  // namespace stepcast
