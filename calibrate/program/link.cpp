// stepcast-calibrate link: a cluster's link from benchmarks of collectives.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "calibrate/link/link_fit.hpp"
#include "calibrate/program/command.hpp"
#include "calibrate/program/json_file.hpp"
#include "models/part/writer.hpp"

namespace stepcast::calibrate {
namespace {

struct LinkOptions {
  std::vector<std::string> from;
  std::string output, name, collective, algorithm;
  int ranks = 0, segments = 1;
  bool in_place = false;
};

template <Named E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& choice : Choices<E>::table) names.emplace_back(choice.name);
  return names;
}

template <Named E>
E value_of(const std::string& name) {
  for (const auto& choice : Choices<E>::table)
    if (choice.name == name) return choice.value;
  throw CLI::ValidationError(name);  // CLI11 has checked it
}

void fit_link(const LinkOptions& options) {
  ReadOptions reading{std::nullopt, options.ranks, options.in_place};
  if (!options.collective.empty()) reading.operation = value_of<Operation>(options.collective);
  FitOptions fitting;
  if (!options.algorithm.empty()) fitting.algorithm = value_of<Algorithm>(options.algorithm);
  fitting.segments = options.segments;
  std::vector<BenchmarkFit> fits;
  try {
    for (const std::string& file : options.from) fits.push_back(fit_benchmark(read_benchmark(file, reading), fitting));
    const Cluster cluster = make_cluster(options.name.empty() ? std::filesystem::path(options.from.front()).stem().string() : options.name, fits);
    if (!options.output.empty()) JsonFile(options.output).write(write_value(cluster));
    fmt::print("{}", link_table(cluster, fits));
  } catch (const std::invalid_argument& error) {
    throw BadInput(options.from.at(std::min(fits.size(), options.from.size() - 1)), 0, "what no link can be fitted to", "times that grow with size, and a closed form for them", error.what());
  }
}

}  // namespace

void add_link(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("link", "Fit a link's latency and bandwidth to nccl-tests or OSU micro-benchmarks, and write a cluster");
  auto options = std::make_shared<LinkOptions>();
  command->add_option("--from", options->from, "text or JSON of nccl-tests, text of osu_latency, osu_bw or an OSU collective; several times for several")->required()->type_name("FILE");
  command->add_option("-o,--output", options->output, "cluster file to write")->type_name("PATH");
  command->add_option("--name", options->name, "name of the cluster; by default that of the first file")->type_name("NAME");
  command->add_option("--collective", options->collective, "which it was, where the file does not say")->check(CLI::IsMember(names_of<Operation>()));
  command->add_option("--ranks", options->ranks, "how many took part, where the file does not say")->check(CLI::Range(2, 1 << 24))->type_name("N");
  command->add_option("--algorithm", options->algorithm, "by which the collective was carried out (NCCL_ALGO); by default ring")->check(CLI::IsMember(names_of<Algorithm>()));
  command->add_option("--segments", options->segments, "of double-binary-tree")->check(CLI::Range(1, 65536))->capture_default_str();
  command->add_flag("--in-place", options->in_place, "nccl-tests: its times in place");
  command->footer("Example: stepcast-calibrate link --from all_reduce_perf.txt --algorithm ring -o cluster.json");
  command->callback([options, &exit_code] {
    fit_link(*options);
    exit_code = kOk;
  });
}

}  // namespace stepcast::calibrate
