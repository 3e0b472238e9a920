// stepcast new: writes a commented scenario to start from.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// How templates name the schema. Each names it by a path that is right in its own folder.
constexpr std::string_view kSchemaOfTemplates = "../scenario.schema.json";

fs::path templates() { return default_library() / "templates"; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The template with the path of the schema that this program has.
std::string starting_file(const std::string& kind) {
  std::string text = text_of(templates() / (kind + ".json"));
  const auto at = text.find(kSchemaOfTemplates);
  const std::string schema = Json((default_library() / "scenario.schema.json").string()).dump();
  return text.replace(at, kSchemaOfTemplates.size(), schema.substr(1, schema.size() - 2));
}

int write_new(const std::string& kind, std::string path) {
  if (path.empty()) path = kind + ".json";
  std::error_code error;
  if (path != "-" && fs::exists(path, error))
    throw UsageError("--output", fmt::format("{} exists and stays as it is; give another path with -o", path));
  check_outputs({}, {path});
  write_output(path, starting_file(kind));
  if (path != "-") tell("stepcast: wrote {}; next: stepcast run {}\n", path, path);
  return kOk;
}

}  // namespace

void add_new(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("new", "Write a commented scenario to start from");
  auto kind = std::make_shared<std::string>();
  auto path = std::make_shared<std::string>();
  command
      .add_option(
          "kind", *kind,
          "ddp: all-reduce in buckets; compress: compressors side by side; servers: parameter servers; pipeline: "
          "stale gradients; llm: a language model by FSDP; own-model: a layer table in place")
      .required()
      .one_of({"ddp", "compress", "servers", "pipeline", "llm", "own-model"});
  command.add_option("-o,--output", *path, "the file (default: KIND.json); - is standard output").type_name("PATH");
  command.footer("Examples: stepcast new ddp\n          stepcast new own-model -o mine.json");
  command.callback([kind, path, &invocation] { invocation.exit_code = write_new(*kind, *path); });
}

}  // namespace stepcast
