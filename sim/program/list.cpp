// stepcast list: shows every name that scenarios can use.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/study.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"

namespace stepcast {
namespace {

std::string as_table(const std::vector<CatalogueEntry>& entries) {
  std::size_t width = 0;
  for (const CatalogueEntry& entry : entries) width = std::max(width, entry.name.size());
  std::string text, shelf;
  for (const CatalogueEntry& entry : entries) {
    if (entry.shelf != shelf) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", shelf = entry.shelf);
    text += fmt::format("  {:<{}}  {}{}\n", entry.name, width,
                        entry.folder.empty() ? "" : fmt::format("({}) ", entry.folder), entry.meaning);
  }
  return text;
}

Json as_json(const std::vector<CatalogueEntry>& entries) {
  Json json = Json::object();
  for (const CatalogueEntry& entry : entries) {
    Json one{{"name", entry.name}, {"meaning", entry.meaning}};
    if (!entry.folder.empty()) one["folder"] = entry.folder;
    json[entry.shelf].push_back(std::move(one));
  }
  return json;
}

}  // namespace

void add_list(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand(
      "list",
      "List workloads, profiles, layer kinds, clusters, stacks, strategies, compressors, algorithms, topologies, transports, scenarios, suites, notes");
  auto shelf = std::make_shared<std::string>();
  auto json = std::make_shared<std::string>();
  command.add_option("shelf", *shelf, "only these").one_of(catalogue_shelves());
  command.add_option("--json", *json, "write JSON instead of the table; - is standard output").type_name("PATH");
  command.footer(
      "Files of the working folder's workloads/, profiles/, clusters/, stacks/, strategies/ and compressors/ are listed first.\n"
      "Example: stepcast list algorithms --json -");
  command.callback([shelf, json, &invocation] {
    if (!json->empty()) check_outputs({}, {*json});
    auto entries = catalogue(default_library());
    if (!shelf->empty()) std::erase_if(entries, [&](const CatalogueEntry& e) { return e.shelf != *shelf; });
    if (json->empty()) write_output("-", as_table(entries));
    else write_output(*json, json_text(as_json(entries)));
    invocation.exit_code = kOk;
  });
}

}  // namespace stepcast
