// stepcast validate: predictions beside published measurements.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/library.hpp"
#include "models/scenario/suite.hpp"
#include "models/validation/writers.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/refused.hpp"
#include "sim/replay/processes.hpp"
#include "sim/study/evaluate_study.hpp"

namespace stepcast {
namespace {

struct ValidateOptions {
  std::vector<std::string> suites;
  std::string csv, json;
  int jobs = available_cores();
};

/// The files that the words name; all shipped ones without any.
std::vector<std::filesystem::path> files_of(const std::vector<std::string>& words) {
  const auto folder = suites_folder(default_library());
  const auto shipped = json_files(folder);
  if (shipped.empty() && words.empty())  // else nothing would be validated, and nothing amiss
    throw refused(
        "suite",
        fmt::format(
            "there are no suites in {}; set $STEPCAST_SCENARIOS to the folder of the shipped scenarios, or name a file",
            folder.string()));
  if (words.empty()) return shipped;
  std::vector<std::string> names;
  for (const auto& file : shipped) names.push_back(file.stem().string());
  std::vector<std::filesystem::path> files;
  for (const std::string& word : words) {
    if (word.ends_with(".json") || word == "-") {
      files.emplace_back(word);
      continue;
    }
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      const std::string near = nearest(word, names);
      throw refused(word,
                    fmt::format("no shipped suite, and no path ending in .json; there are {}{}", fmt::join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    files.push_back(folder / (word + ".json"));
  }
  return files;
}

int run(const ValidateOptions& options, const Invocation& invocation) {
  const std::vector<std::filesystem::path> files = files_of(options.suites);
  check_outputs({files.begin(), files.end()}, {options.csv, options.json});
  std::vector<Suite> suites;
  for (const auto& file : files) suites.push_back(load_suite(file, default_library()));
  std::vector<Validation> validations;
  for (const Suite& suite : suites) validations.push_back(validate(suite, evaluate_study(suite.study, options.jobs)));

  if (options.csv != "-" && options.json != "-") {
    std::string text;
    for (const Validation& validation : validations) text += to_table(validation) + "\n";
    for (const Validation& validation : validations) text += summary_line(validation);
    write_output("-", text);
  }
  if (!options.csv.empty()) write_output(options.csv, to_csv(validations));
  if (!options.json.empty()) {
    std::vector<Json> manifests;
    for (const Suite& suite : suites) manifests.push_back(make_manifest(suite.study, invocation.arguments));
    write_output(options.json, validation_document(validations, manifests).dump(1) + "\n");
  }
  int verdict = kOk;
  for (const Validation& validation : validations)
    for (const std::string& missed : missed_limits(validation)) {
      fmt::print(stderr, "stepcast: {}\n", missed);
      verdict = kThresholdMissed;
    }
  return verdict;
}

}  // namespace

void add_validate(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("validate", "Validate: predictions beside published measurements, with their errors");
  auto options = std::make_shared<ValidateOptions>();
  command->add_option(
      "suite", options->suites,
      "suites: names that `stepcast list suites` prints, or files (.json); all shipped ones without any");
  command->add_option("--csv", options->csv, "write CSV; - is standard output, instead of the tables")
      ->type_name("PATH");
  command
      ->add_option("--json", options->json,
                   "write JSON with its manifests; - is standard output, instead of the tables")
      ->type_name("PATH");
  command->add_option("--jobs", options->jobs, "replay processes at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->footer("Example: stepcast validate hkbu-10gbe --csv errors.csv");
  command->callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

}  // namespace stepcast
