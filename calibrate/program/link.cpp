// stepcast-calibrate link: a cluster's link from benchmarks of collectives.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "calibrate/link/fitted_times.hpp"
#include "calibrate/link/link_fit.hpp"
#include "calibrate/program/calibrate_commands.hpp"
#include "calibrate/program/result_file.hpp"
#include "models/scenario/part_json.hpp"
#include "models/unit/parse.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {
namespace {

struct LinkOptions {
  std::vector<std::string> from;
  std::string output, csv, name, collective, algorithm, min_size, max_size;
  int ranks = 0, nics = 1, most_protocols = kMostProtocols;
  std::optional<int> segments;
  bool in_place = false;
};

/// NCCL's names of algorithms that are called otherwise here.
constexpr std::pair<const char*, Algorithm> kNcclNames[] = {{"tree", Algorithm::nccl_tree}};
/// Whichever of them NCCL would choose.
constexpr const char* kNccl = "nccl";

/// Or the program of nccl-tests that measures it.
std::vector<std::string> operations() {
  std::vector<std::string> names;
  for (const auto& choice : Choices<Operation>::table) names.emplace_back(choice.name);
  for (const auto& [program, operation] : kNcclPrograms) names.emplace_back(program);
  return names;
}

/// The algorithms of all collectives; the fit refuses those that its own collective lacks.
std::vector<std::string> algorithms() {
  std::vector<std::string> names;
  for (const auto& operation : Choices<Operation>::table)
    for (const Algorithm one : algorithms_to_fit(operation.value))
      if (const std::string name(name_of(one)); std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  for (const auto& [name, algorithm] : kNcclNames) names.emplace_back(name);
  names.emplace_back(kNccl);
  return names;
}

template <Named E>
E value_of(const std::string& name) {
  for (const auto& choice : Choices<E>::table)
    if (choice.name == name) return choice.value;
  throw UsageError(name);  // CLI11 has checked it
}

Algorithm algorithm_named(const std::string& name) {
  for (const auto& [of_nccl, algorithm] : kNcclNames)
    if (name == of_nccl) return algorithm;
  return value_of<Algorithm>(name);
}

Operation operation_named(const std::string& name) {
  for (const auto& [program, operation] : kNcclPrograms)
    if (name == program) return operation;
  return value_of<Operation>(name);
}

ReadOptions reading_of(const LinkOptions& options) {
  ReadOptions reading{std::nullopt, options.ranks, options.in_place};
  if (!options.collective.empty()) reading.operation = operation_named(options.collective);
  if (!options.min_size.empty()) reading.min_size = parse_quantity<Bytes>(options.min_size).si();
  if (!options.max_size.empty()) reading.max_size = parse_quantity<Bytes>(options.max_size).si();
  return reading;
}

/// --collective and --ranks are about those of several files that do not say; where all do, none may say otherwise.
std::vector<Benchmark> read_all(const std::vector<std::string>& files, ReadOptions reading) {
  reading.for_several = files.size() > 1;
  std::vector<std::string> texts;
  std::vector<Benchmark> all;
  for (const std::string& file : files)
    all.push_back(parse_benchmark(texts.emplace_back(content_of(file)), file, reading));
  if (!reading.for_several) return all;
  reading.for_several = false;
  const auto some = [&](bool Benchmark::*took) {
    return std::any_of(all.begin(), all.end(), [&](const Benchmark& one) { return one.*took; });
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    ReadOptions of_this = reading;
    if (some(&Benchmark::took_operation) && !all[i].took_operation) of_this.operation.reset();
    if (some(&Benchmark::took_ranks) && !all[i].took_ranks) of_this.ranks = 0;
    parse_benchmark(texts[i], files[i], of_this);
  }
  return all;
}

std::string is_size(const std::string& text) {
  try {
    parse_quantity<Bytes>(text);
  } catch (const UnitError& error) {
    return error.what();
  }
  return "";
}

void warn(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) tell("stepcast-calibrate: {}\n", line);
}

/// All of them or none.
void write_results(const LinkOptions& options, const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  const bool prints_csv = options.csv == "-";
  std::optional<ResultFile> output, csv;
  if (!options.output.empty()) output.emplace(options.output);
  if (!options.csv.empty() && !prints_csv) csv.emplace(options.csv);
  if (output) output->write(write_value(cluster, QuantityText::brief));
  if (csv) csv->write(fitted_times_csv(cluster, fits));
  print_result(prints_csv ? fitted_times_csv(cluster, fits) : link_table(cluster, fits));
}

void fit_link(const LinkOptions& options) {
  if (!options.csv.empty() && options.csv == options.output)
    throw UsageError(fmt::format("--csv and -o are both {}: give each a different path", options.csv));
  check_result_path("-o", options.output);
  check_result_path("--csv", options.csv);
  FitOptions fitting;
  if (options.algorithm == kNccl) fitting.as_nccl_chooses = true;
  else if (!options.algorithm.empty()) fitting.algorithm = algorithm_named(options.algorithm);
  fitting.segments = options.segments;
  fitting.nics = options.nics;
  if (options.nics > 1 && !fitting.as_nccl_chooses && fitting.algorithm != Algorithm::nccl_tree)
    throw UsageError(fmt::format(
        "--nics {}: only NCCL's trees and NCCL's choice distinguish a host's NICs: add --algorithm nccl or tree; "
        "otherwise they count as one",
        options.nics));
  const std::vector<Benchmark> benchmarks = read_all(options.from, reading_of(options));
  for (const Benchmark& benchmark : benchmarks) warn(benchmark.doubts);
  if ((!options.min_size.empty() || !options.max_size.empty()) &&
      std::none_of(benchmarks.begin(), benchmarks.end(),
                   [](const Benchmark& one) { return one.kind == Benchmark::Kind::collective; }))
    throw BadInput(options.from.front(), 0, "messages alone", "collectives with --min-size and --max-size",
                   "these are about buffers of collectives");
  std::vector<BenchmarkFit> fits;
  try {
    for (const Benchmark& benchmark : benchmarks) fits.push_back(fit_benchmark(benchmark, fitting));
    const Cluster cluster =
        make_cluster(options.name.empty() ? std::filesystem::path(options.from.front()).stem().string() : options.name,
                     fits, options.most_protocols);
    write_results(options, cluster, fits);
    warn(doubts(cluster, fits, options.most_protocols));
    warn(bad_fits(cluster, fits));
  } catch (const std::invalid_argument& error) {
    throw BadInput(options.from.at(std::min(fits.size(), options.from.size() - 1)), 0,
                   "input that no link can be "
                   "fitted to",
                   "times that grow with size, and a closed form for them", error.what());
  }
}

}  // namespace

void add_link(Command& program, int& exit_code) {
  Command command = program.add_subcommand(
      "link", "Fit a link's latency and bandwidth to nccl-tests or OSU micro-benchmarks, and write a cluster");
  auto options = std::make_shared<LinkOptions>();
  command
      .add_option(
          "--from", options->from,
          "text or JSON of nccl-tests, text of osu_latency, osu_bw or an OSU collective; several times for several")
      .required()
      .type_name("FILE");
  command.add_option("-o,--output", options->output, "cluster file to write").type_name("PATH");
  command.add_option("--csv", options->csv, "each size's measured and fitted time; -: instead of the table")
      .type_name("PATH");
  command.add_option("--name", options->name, "name of the cluster; by default the first file's").type_name("NAME");
  command.add_option("--collective", options->collective, "the collective, for files that do not name it")
      .one_of(operations());
  command.add_option("--ranks", options->ranks, "how many took part, for the files that do not say")
      .between(2, 1 << 24)
      .type_name("N");
  command
      .add_option(
          "--algorithm", options->algorithm,
          "by which the collective was carried out, or NCCL's name of it (NCCL_ALGO: Ring, Tree); nccl: an all-reduce "
          "by ring or nccl-tree, whichever is the quicker, others by ring; by default ring")
      .one_of_any_case(algorithms());
  command
      .add_option("--segments", options->segments,
                  "segments of double-binary-tree or nccl-tree; by default the cheapest number for each size, like "
                  "pipeline_segments auto in a scenario")
      .between(1, 65536);
  command
      .add_option("--nics", options->nics,
                  "NICs of a host, each with a ring or a pair of trees: --algorithm nccl or tree; by default they "
                  "count as one")
      .between(1, 1024)
      .type_name("N");
  command.add_option("--min-size", options->min_size, "fit collectives' buffers of this size or more: 1MiB")
      .check(is_size)
      .type_name("SIZE");
  command.add_option("--max-size", options->max_size, "fit collectives' buffers of this size or less")
      .check(is_size)
      .type_name("SIZE");
  command
      .add_option("--most-protocols", options->most_protocols,
                  "largest number of the library's protocols, found by bends of the time over the size; by default "
                  "3; 1: one link for all sizes")
      .between(1, kMostProtocols)
      .type_name("N");
  command.add_flag("--in-place", options->in_place, "nccl-tests: its times in place");
  command.footer(
      "Several files are fitted together; those on several hosts must use equal machines and one algorithm.\n"
      "Give nccl-tests on one host and on several: together they separate inner links from NICs.\n"
      "Example: stepcast-calibrate link --from all_reduce_perf.txt --algorithm ring -o cluster.json\n"
      "         stepcast-calibrate link --from 1_host.txt --from 2_hosts.txt --from 8_hosts.txt -o cluster.json");
  command.callback([options, &exit_code] {
    fit_link(*options);
    exit_code = kOk;
  });
}

}  // namespace stepcast::calibrate
