// stepcast merge: joins the shards of a sweep into the file that one sweep would have written.
#include <memory>

#include <fmt/format.h>

#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/filled_columns.hpp"
#include "sim/program/output.hpp"
#include "sim/program/shard_file.hpp"
#include "sim/program/streamed_output.hpp"

namespace stepcast {
namespace {

struct MergeOptions {
  std::vector<std::string> shards;
  std::string csv, json_lines;
  bool wide = false;
};

int merge(MergeOptions options) {
  if (options.csv.empty() && options.json_lines.empty()) options.csv = "-";
  check_outputs(options.shards, {options.csv, options.json_lines});
  std::vector<ShardReader> shards;
  for (const std::string& file : options.shards) shards.emplace_back(file);
  arrange(shards);
  const ShardHeader& header = shards.front().header();

  std::optional<StreamedOutput> csv, json_lines;
  if (!options.csv.empty())
    csv.emplace(options.csv, options.wide ? nullptr : StreamedOutput::Filter(write_filled_columns))
        .write(csv_header(header.columns));
  if (!options.json_lines.empty()) json_lines.emplace(options.json_lines);
  std::size_t failed = 0;
  for (std::size_t point = 0; point < header.points; ++point) {
    const Row row = shards[shard_of(point, shards.size())].next(point);
    if (!std::holds_alternative<std::monostate>(row.back())) ++failed;  // the last column is the error
    if (csv) csv->write(csv_row(row));
    if (json_lines) json_lines->write(json_row(header.columns, row));
  }
  for (ShardReader& shard : shards) shard.expect_end();
  if (csv) csv->finish();
  if (json_lines) json_lines->finish();
  tell("stepcast: {} points of {} shards{}\n", header.points, shards.size(),
       failed > 0 ? fmt::format("; {} failed, see column error", failed) : "");
  return failed > 0 ? kRunFailed : kOk;
}

}  // namespace

void add_merge(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("merge", "Join the shards of a sweep");
  auto options = std::make_shared<MergeOptions>();
  command.add_option("shards", options->shards, "all files that stepcast sweep --shard wrote of one study").required();
  command.add_option("--csv", options->csv, "write CSV; - is standard output (the default without --jsonl)")
      .type_name("PATH");
  command.add_flag("--wide", options->wide, kWideCsv);
  command.add_option("--jsonl", options->json_lines, "write JSON lines; - is standard output").type_name("PATH");
  command.footer("Example: stepcast merge study.shard-*.jsonl --csv study.csv");
  command.callback([options, &invocation] { invocation.exit_code = merge(*options); });
}

}  // namespace stepcast
