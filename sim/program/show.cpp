// stepcast show: explains a name or a field, or says what a scenario is.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/describe/other_words.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/part_file.hpp"
#include "program/options.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/command.hpp"
#include "sim/program/field_help.hpp"
#include "sim/program/layer_table.hpp"
#include "sim/program/output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/study_summary.hpp"

namespace stepcast {
namespace {

/// "key: value" lines, nested keys indented.
std::string as_text(const Json& json, int indent = 0) {
  std::string text;
  const std::string pad(indent, ' ');
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) text += fmt::format("{}{}:\n{}", pad, key, as_text(value, indent + 2));
    else text += fmt::format("{}{}: {}\n", pad, key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

/// The shelf that "workload" or "workloads" names; "" for "".
std::string shelf_of(const std::string& text) {
  if (text.empty()) return "";
  std::vector<std::string> singular;
  for (const std::string& shelf : catalogue_shelves()) {
    singular.push_back(singular_of(shelf));
    if (text == shelf || text == singular.back()) return shelf;
  }
  throw UsageError(text, fmt::format("an unknown kind; allowed: {}", fmt::join(singular, ", ")));
}

BadInput unknown(const std::string& name, const std::vector<std::string>& names) {
  const std::string here = words_here(name), near = here.empty() ? meant(name, names) : here;
  return BadInput(fmt::format("{}: an unknown name; see stepcast list{}{}", name, near.empty() ? "" : "; ", near));
}

Json entry_json(const CatalogueEntry& entry) {
  Json object{{"shelf", entry.shelf}, {"name", entry.name}, {"meaning", entry.meaning}};
  for (const auto& [key, value] : entry.details.items())
    if (!object.contains(key) && value != object["meaning"]) object[key] = value;
  return object;
}

/// @param shelf  the shelf to search; "": all
std::vector<CatalogueEntry> find(const std::string& name, const std::string& shelf) {
  std::vector<CatalogueEntry> found;
  std::vector<std::string> names;
  for (CatalogueEntry& entry : catalogue(default_library())) {
    if (!shelf.empty() && entry.shelf != shelf) continue;
    names.push_back(entry.name.substr(entry.name.find('/') + 1));  // an algorithm's name without its operation
    const bool algorithm = entry.shelf == "algorithms" && entry.name.ends_with("/" + name);
    if (entry.name != name && !algorithm) continue;
    if (!entry.folder.empty()) {
      const std::string file = fmt::format("{}/{}.json", entry.folder, name);
      entry = own_entry(entry.shelf, read_json(file), file, default_library());
    }
    found.push_back(std::move(entry));
  }
  if (found.empty() && !shelf.empty()) throw unknown(name, names);
  return found;
}

/// The entries of a name on all shelves, and the fields of that name or pointer.
std::vector<Json> help_of(const std::string& name, const std::string& shelf) {
  std::vector<Json> all;
  for (const CatalogueEntry& entry : find(name, shelf)) all.push_back(entry_json(entry));
  if (!shelf.empty()) return all;
  for (Json& help : field_help(name)) all.push_back(std::move(help));
  if (!all.empty()) return all;
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue(default_library()))
    names.push_back(entry.name.substr(entry.name.find('/') + 1));
  throw unknown(name, meant(name, names).empty() ? field_names() : names);
}

/// The canonical document of every point, defaults written out.
Json resolved(const Study& study) {
  if (study.points.size() == 1) return to_json(study.points.front().scenario);
  Json all = Json::array();
  for (const StudyPoint& point : study.points) all.push_back(to_json(point.scenario));
  return all;
}

/// Changes to a workload before it is shown.
struct WorkloadOptions {
  std::string variant, profile, dtype;
  int batch = 0;

  [[nodiscard]] bool any() const { return !variant.empty() || !profile.empty() || !dtype.empty() || batch > 0; }
  [[nodiscard]] Json over() const {
    Json json = Json::object();
    if (!variant.empty()) json["variant"] = variant;
    if (!profile.empty()) json["profile"] = profile;
    if (!dtype.empty()) json["dtype"] = json["compute_dtype"] = dtype;
    if (batch > 0) json["batch"] = batch;
    return json;
  }
};

/// The table of a network that is given by shapes.
/// @param own  the content of the file of that name; null for a name on a shelf
/// @returns whether the name is a network's
bool write_layer_table(const std::string& shelf, const std::string& name, const Json& own,
                       const WorkloadOptions& options, const std::string& target, bool as_json) {
  const bool may_be = shelf.empty() || shelf == "workloads", is_path = !own.is_null();
  const auto file = !may_be   ? std::nullopt
                    : is_path ? std::optional<std::filesystem::path>(name)
                              : file_on_shelf("workloads", name, default_library());
  if (!file && options.any())
    throw UsageError(name, "--variant, --profile, --batch and --dtype are for workloads; see stepcast list workloads");
  if (!file) return false;
  const WorkloadTable table =
      resolve_workload_file(is_path ? own : read_json(*file), *file, options.over(), default_library());
  if (gives_shapes(table)) {
    write_output(target, as_json ? json_text(layer_table_json(table)) : layer_table_text(table));
    return true;
  }
  if (options.any())
    throw UsageError(
        name, "--variant, --profile, --batch and --dtype are for layer tables with shapes; this one gives times");
  return false;
}

void write_entries(const std::vector<Json>& entries, const std::string& target, bool as_json) {
  std::string text;
  for (const Json& entry : entries) {
    if (!text.empty()) text += '\n';
    text += as_text(entry);
  }
  write_output(target, as_json ? json_text(Json(entries)) : text);
}

}  // namespace

void add_show(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("show", "Explain a name or a field, or say what a scenario is");
  auto words = std::make_shared<std::vector<std::string>>();
  auto study = std::make_shared<StudyOptions>();
  auto json = std::make_shared<std::string>();
  command
      .add_option(
          "name", *words,
          "a name that `stepcast list` prints, a field of scenarios (bucket_cap, /strategy/exchange), or the file (.json) of "
          "a scenario or a part; optionally with its shelf before it: workload resnet50")
      .required()
      .count_of_words(1, 2);
  add_sets(command, *study);
  add_points(command, *study);
  auto options = std::make_shared<WorkloadOptions>();
  command.add_option("--variant", options->variant, "network: one of its variants").type_name("NAME");
  command.add_option("--profile", options->profile, "network: the device whose layer times to show").type_name("NAME");
  command.add_option("--batch", options->batch, "network: samples per worker and step")
      .type_name("N")
      .between(1, 1 << 30);
  command.add_option("--dtype", options->dtype, "network: type of the operands and gradients").type_name("NAME");
  auto full = std::make_shared<bool>(false);
  command.add_flag("--full", *full, "scenario: every field of every point, as JSON");
  command.add_option("--json", *json, "write JSON instead of text; - is standard output").type_name("PATH");
  command.footer(
      "Examples: stepcast show ring\n          stepcast show bucket_cap\n          stepcast show workload resnet50 --variant pufferfish --profile v100\n          stepcast show vgg16-v100 --json -\n          stepcast show study.json --set /cluster/workers=8\n          stepcast show my-network.json --profile a100-datasheet");
  command.callback([words, study, json, full, options, &invocation] {
    const std::string& name = words->back();
    const bool is_file = name.ends_with(".json") || name == "-";
    std::string shelf = words->size() == 2 ? shelf_of(words->front()) : "";
    if (is_file && shelf.empty()) shelf = name == "-" ? "scenarios" : shelf_of(part_of_file(read_json(name)));
    const bool is_scenario = is_file && shelf == "scenarios";
    if (is_file && !is_of_file(shelf))
      throw UsageError(name, fmt::format("{} are no files; name one that stepcast list {} prints", shelf, shelf));
    const std::string target = json->empty() ? "-" : *json;
    check_outputs(is_file ? std::vector{name} : std::vector<std::string>{}, {target});
    if (!is_scenario && !study->sets.empty()) throw UsageError("--set", "only a scenario file has fields to change");
    if (!is_scenario && !study->points.empty())
      throw UsageError("--point", "only a scenario file has points to choose from");
    const std::string file = name == "-" ? "standard input" : name;
    const Json own = is_file && !is_scenario ? read_json(name) : Json();
    if (!write_layer_table(shelf, file, own, *options, target, !json->empty())) {
      if (is_scenario) {
        study->file = name;
        const Study loaded = load(*study);
        print_notes({}, loaded);
        write_output(target, *full || !json->empty() ? json_text(resolved(loaded)) : summary_of(loaded));
      } else {
        write_entries(
            is_file ? std::vector{entry_json(own_entry(shelf, own, file, default_library()))} : help_of(name, shelf),
            target, !json->empty());
      }
    }
    invocation.exit_code = kOk;
  });
}

}  // namespace stepcast
