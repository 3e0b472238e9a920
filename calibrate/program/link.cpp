// stepcast-calibrate link: a cluster's link from benchmarks of collectives.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

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

/// NCCL's names of algorithms that are called otherwise here.
constexpr std::pair<const char*, Algorithm> kNcclNames[] = {{"tree", Algorithm::double_binary_tree}};

std::vector<std::string> operations() {
  std::vector<std::string> names;
  for (const auto& choice : Choices<Operation>::table) names.emplace_back(choice.name);
  return names;
}

/// Of any collective; the fit refuses what its own has not.
std::vector<std::string> algorithms() {
  std::vector<std::string> names;
  for (const auto& operation : Choices<Operation>::table)
    for (const Algorithm one : algorithms_to_fit(operation.value))
      if (const std::string name(name_of(one)); std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  for (const auto& [name, algorithm] : kNcclNames) names.emplace_back(name);
  return names;
}

template <Named E>
E value_of(const std::string& name) {
  for (const auto& choice : Choices<E>::table)
    if (choice.name == name) return choice.value;
  throw CLI::ValidationError(name);  // CLI11 has checked it
}

Algorithm algorithm_named(const std::string& name) {
  for (const auto& [of_nccl, algorithm] : kNcclNames)
    if (name == of_nccl) return algorithm;
  return value_of<Algorithm>(name);
}

void fit_link(const LinkOptions& options) {
  ReadOptions reading{std::nullopt, options.ranks, options.in_place};
  if (!options.collective.empty()) reading.operation = value_of<Operation>(options.collective);
  FitOptions fitting;
  if (!options.algorithm.empty()) fitting.algorithm = algorithm_named(options.algorithm);
  fitting.segments = options.segments;
  std::vector<BenchmarkFit> fits;
  try {
    for (const std::string& file : options.from) fits.push_back(fit_benchmark(read_benchmark(file, reading), fitting));
    const Cluster cluster = make_cluster(
        options.name.empty() ? std::filesystem::path(options.from.front()).stem().string() : options.name, fits);
    if (!options.output.empty()) JsonFile(options.output).write(write_value(cluster));
    fmt::print("{}", link_table(cluster, fits));
    for (const std::string& line : bad_fits(cluster, fits)) fmt::print(stderr, "stepcast-calibrate: {}\n", line);
  } catch (const std::invalid_argument& error) {
    throw BadInput(options.from.at(std::min(fits.size(), options.from.size() - 1)), 0, "what no link can be fitted to",
                   "times that grow with size, and a closed form for them", error.what());
  }
}

}  // namespace

void add_link(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "link", "Fit a link's latency and bandwidth to nccl-tests or OSU micro-benchmarks, and write a cluster");
  auto options = std::make_shared<LinkOptions>();
  command
      ->add_option(
          "--from", options->from,
          "text or JSON of nccl-tests, text of osu_latency, osu_bw or an OSU collective; several times for several")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "cluster file to write")->type_name("PATH");
  command->add_option("--name", options->name, "name of the cluster; by default that of the first file")
      ->type_name("NAME");
  command->add_option("--collective", options->collective, "which it was, where the file does not say")
      ->check(CLI::IsMember(operations()));
  command->add_option("--ranks", options->ranks, "how many took part, where no file says")
      ->check(CLI::Range(2, 1 << 24))
      ->type_name("N");
  command
      ->add_option(
          "--algorithm", options->algorithm,
          "by which the collective was carried out, or NCCL's name of it (NCCL_ALGO: Ring, Tree); by default ring")
      ->transform(CLI::IsMember(algorithms(), CLI::ignore_case));
  command->add_option("--segments", options->segments, "of double-binary-tree")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command->add_flag("--in-place", options->in_place, "nccl-tests: its times in place");
  command->footer(
      "Of nccl-tests on one host and on several, the cluster has inner links and NICs; give both: they tell each other apart.\n"
      "Example: stepcast-calibrate link --from all_reduce_perf.txt --algorithm ring -o cluster.json\n"
      "         stepcast-calibrate link --from 8_hosts.txt --from 1_host.txt -o cluster.json");
  command->callback([options, &exit_code] {
    fit_link(*options);
    exit_code = kOk;
  });
}

}  // namespace stepcast::calibrate
