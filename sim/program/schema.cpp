// stepcast schema: the JSON Schema of scenarios and their parts.
#include <memory>

#include "models/describe/json.hpp"
#include "models/study/schema.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"

namespace stepcast {

void add_schema(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("schema", "Print the JSON Schema (draft-07) of scenarios or of one part");
  auto part = std::make_shared<std::string>("scenario");
  command.add_option("part", *part, "scenario, workload, profile, cluster, stack, strategy, compressor or suite")
      .one_of({"scenario", "workload", "profile", "cluster", "stack", "strategy", "compressor", "suite"})
      .show_default();
  command.footer("Example: stepcast schema workload > workload.schema.json");
  command.callback([part, &invocation] {
    write_output("-", json_text(*part == "scenario" ? scenario_schema() : part_schema(*part)));
    invocation.exit_code = kOk;
  });
}

}  // namespace stepcast
