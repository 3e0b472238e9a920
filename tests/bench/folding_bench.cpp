// Folded replay, without and with jitter: time and memory against the number of workers, and exactness up to 512 workers.
// Full replay is measured beside a plain SimGrid loop over the same messages.
//
//     folding_bench RESULT.json [--quick]        notebooks/plot_growth.py draws it
//
// Every measurement runs in a forked process. Its seconds go from the step graph to the answer, with the platform. Its
// memory is the largest resident set.
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <sys/resource.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/processes.hpp"

namespace {

using namespace stepcast;
namespace s4u = simgrid::s4u;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double resident_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

Scenario parse(const std::string& strategy, int workers, const std::string& topology, Fidelity fidelity) {
  const std::string text = fmt::format(
      R"({{"name": "bench", "workload": "resnet50-v100", "cluster": {{"workers": {}, "link": {{"bandwidth": "100Gbps", "latency": "5us"}}, "topology": {}}},
                                          "strategy": {}, "evaluation": {{"evaluator": "replay"}}}})",
      workers, topology, strategy);
  Scenario scenario = parse_study(text, "bench", {}, default_library()).points.front().scenario;
  scenario.evaluation.fidelity = fidelity;
  return scenario;
}

/// Compute times vary by 10 %.
Scenario with_jitter(Scenario scenario, int steps) {
  scenario.cluster.jitter = {JitterDistribution::lognormal, 0.1};
  scenario.evaluation.max_steps = steps;
  return scenario;
}

struct Answer {
  double seconds, mebibytes;
  StepForecast forecast;
};

Answer measure(const Scenario& scenario) {
  const auto results = run_in_processes(1, 1, [&](std::size_t) {
    const Workload workload = make_workload(*scenario.workload);
    const auto start = Clock::now();
    const StepGraph graph = build_step_graph(scenario, workload);
    Json result{{"answer", answer({&scenario, &graph, 0})}};
    result["seconds"] = seconds_since(start);
    result["mebibytes"] = resident_mebibytes();
    return result;
  });
  if (!results[0].error.empty()) throw std::runtime_error(results[0].error);
  const Json& value = results[0].value;
  return {value["seconds"].get<double>(), value["mebibytes"].get<double>(), combine({value["answer"]})};
}

/// Seconds of a loop over the messages of `steps` ring all-reduces, as one would write it by hand.
double plain_loop(const Cluster& cluster, Bytes n, int steps) {
  const auto results = run_in_processes(1, 1, [&](std::size_t) {
    const auto start = Clock::now();
    int argc = 2;
    std::string program = "bench", quiet = "--log=root.thresh:critical";
    char* arguments[] = {program.data(), quiet.data(), nullptr};
    s4u::Engine engine(&argc, arguments);
    configure_network(cluster.transport);
    const Platform platform = build_platform(engine, cluster, 0);
    const auto& hosts = platform.workers;
    const auto p = hosts.size();
    const auto bytes = static_cast<std::uint64_t>(std::llround(n.si() / static_cast<double>(p) * kUnitsPerByte));
    sg::add_actor(engine, "loop", hosts[0], [&] {
      for (std::size_t round = 0; round < static_cast<std::size_t>(steps) * 2 * (p - 1); ++round) {
        s4u::this_actor::sleep_for(cluster.link.latency.si());
        std::vector<s4u::CommPtr> messages;
        for (std::size_t i = 0; i < p; ++i)
          messages.push_back(s4u::Comm::sendto_async(hosts[i], hosts[(i + 1) % p], bytes));
        for (const auto& message : messages) message->wait();
      }
    });
    engine.run();
    return Json(seconds_since(start));
  });
  if (!results[0].error.empty()) throw std::runtime_error(results[0].error);
  return results[0].value.get<double>();
}

const std::string kStar = R"({"kind": "star"})";
std::string ring_of(const char* algorithm) {
  return fmt::format(R"({{"kind": "collective", "size": "100MiB", "collective": {{"algorithm": "{}"}}}})", algorithm);
}
const std::string kBucketed = R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed"}})";
const std::string kServers = R"({"kind": "parameter-server", "shards": 64, "exchange": {"grouping": "bucketed"}})";

const std::string kAllToAll = R"({"kind": "collective", "operation": "all-to-all", "size": "100MiB"})";
/// Machines of 8 GPUs and 8 NICs.
const std::string kMachines =
    R"({"kind": "nodes", "gpus_per_node": 8, "nics": 8, "inner": {"bandwidth": "300GB/s", "latency": "1us"}})";

const std::string kAsynchronous = R"({"kind": "parameter-server", "shards": 16, "consistency": "asynchronous"})";

/// A fat tree (torus, dragonfly) of n·n·m hosts.
std::string fat_tree(int n, int m) {
  return fmt::format(R"({{"kind": "fat-tree", "down": [{0}, {0}, {2}], "up": [1, {1}, {1}], "parallel": [1, 1, 1]}})",
                     n, std::max(1, n / 2), m);
}
std::string fat_tree(int n) { return fat_tree(n, n); }
std::string torus(int n, int m) { return fmt::format(R"({{"kind": "torus", "dimensions": [{0}, {0}, {1}]}})", n, m); }
std::string torus(int n) { return torus(n, n); }
std::string dragonfly(int n, int m) {
  return fmt::format(R"({{"kind": "dragonfly", "groups": {0}, "chassis": {1}, "routers": {0}, "hosts": {0}}})", n,
                     m / n);
}

Json growth(bool quick) {
  Json rows = Json::array();
  const auto add_row = [&](const char* what, int workers, const Scenario& scenario) {
    const Answer a = measure(scenario);
    std::cout << fmt::format("{:28} {:>8} workers {:8.3f} s {:8.1f} MiB  step {:.6g} s, {}\n", what, workers, a.seconds,
                             a.mebibytes, a.forecast.step.si(), a.forecast.fidelity)
              << std::flush;
    rows.push_back({{"case", what},
                    {"workers", workers},
                    {"seconds", a.seconds},
                    {"mebibytes", a.mebibytes},
                    {"step_s", a.forecast.step.si()},
                    {"fidelity", a.forecast.fidelity}});
  };
  const auto add = [&](const char* what, const std::string& strategy, int workers, const std::string& topology) {
    add_row(what, workers, parse(strategy, workers, topology, Fidelity::folded));
  };
  for (const int p : {64, 1024, 4096, 65536}) {
    if (quick && p > 4096) break;
    const int steps = p > 4096 ? 50 : 200;
    add_row("jitter, ResNet-50 step, star", p, with_jitter(parse(kBucketed, p, kStar, Fidelity::folded), steps));
  }
  for (const int p : {64, 256, 1024}) {
    if (quick && p > 256) break;
    add_row("16 asynchronous servers, star", p, with_jitter(parse(kAsynchronous, p, kStar, Fidelity::folded), 20));
  }
  for (const int p : {64, 1024, 4096, 65536, 1048576}) {
    if (quick && p > 4096) break;
    add("ring, star", ring_of("ring"), p, kStar);
    add("halving-doubling, star", ring_of("halving-doubling"), p, kStar);
    add("ResNet-50 step, star", kBucketed, p, kStar);
    add("64 servers, star", kServers, p, kStar);
  }
  for (const auto& [n, m] : {std::pair{8, 8}, {16, 16}, {32, 32}, {32, 64}}) {
    if (quick && n > 16) break;
    for (const char* algorithm : {"ring", "halving-doubling", "double-binary-tree"}) {
      add(fmt::format("{}, fat tree", algorithm).c_str(), ring_of(algorithm), n * n * m, fat_tree(n, m));
      add(fmt::format("{}, torus", algorithm).c_str(), ring_of(algorithm), n * n * m, torus(n, m));
    }
    add("halving-doubling, dragonfly", ring_of("halving-doubling"), n * n * m, dragonfly(n, m));
  }
  for (const int p : {64, 1024, 4096, 16384}) {
    if (quick && p > 4096) break;
    add("NCCL's tree, 8 NICs", ring_of("nccl-tree"), p, kMachines);
    if (p <= 4096) add("all-to-all, star", kAllToAll, p, kStar);
    Scenario groups = with_jitter(parse(kBucketed, p, kStar, Fidelity::folded), 200);
    for (int i = 0; i < 16; ++i)
      groups.cluster.groups.push_back({p / 16, 1 - 0.01 * i, groups.cluster.link.bandwidth * (1 - 0.01 * i), {}});
    if (p <= 4096) add_row("16 groups, ResNet-50 step", p, groups);
  }
  return rows;
}

Json exactness(bool quick) {
  Json rows = Json::array();
  const auto add_row = [&](const char* what, int workers, Scenario scenario) {
    scenario.evaluation.fidelity = Fidelity::full;
    const Answer full = measure(scenario);
    scenario.evaluation.fidelity = Fidelity::folded;
    const Answer folded = measure(scenario);
    const double difference = folded.forecast.step / full.forecast.step - 1.0;
    std::cout << fmt::format("{:28} {:>8} workers full {:8.3f} s, folded {:8.3f} s, difference {:.1e}\n", what, workers,
                             full.seconds, folded.seconds, difference)
              << std::flush;
    rows.push_back({{"case", what},
                    {"workers", workers},
                    {"full_seconds", full.seconds},
                    {"folded_seconds", folded.seconds},
                    {"difference", difference}});
  };
  const auto add = [&](const char* what, const std::string& strategy, int workers, const std::string& topology) {
    add_row(what, workers, parse(strategy, workers, topology, Fidelity::full));
  };
  for (const int workers : {16, 64})
    add_row("jitter, ResNet-50 step, star", workers, with_jitter(parse(kBucketed, workers, kStar, Fidelity::full), 20));
  for (const int workers : {16, 64})
    add_row("16 asynchronous servers, star", workers,
            with_jitter(parse(kAsynchronous, workers, kStar, Fidelity::full), 20));
  const int p = quick ? 64 : 512, n = quick ? 4 : 8;
  for (const char* algorithm :
       {"ring", "halving-doubling", "recursive-doubling", "double-binary-tree", "binary-tree", "reduce-broadcast"}) {
    add(fmt::format("{}, star", algorithm).c_str(), ring_of(algorithm), p, kStar);
    add(fmt::format("{}, fat tree", algorithm).c_str(), ring_of(algorithm), p, fat_tree(n));
    add(fmt::format("{}, torus", algorithm).c_str(), ring_of(algorithm), p, torus(n));
  }
  add("NCCL's tree, 8 NICs", ring_of("nccl-tree"), p, kMachines);
  add("all-to-all, star", kAllToAll, p / 4, kStar);
  add("ResNet-50 step, star", kBucketed, p, kStar);
  add("gossip, torus", R"({"kind": "gossip"})", p, torus(n));
  add("4 servers, star", R"({"kind": "parameter-server", "shards": 4, "exchange": {"grouping": "bucketed"}})", p / 2,
      kStar);
  return rows;
}

Json beside_plain_loop(bool quick) {
  Json rows = Json::array();
  for (const int p : {64, 128, 256, 512}) {
    if (quick && p > 128) break;
    const Scenario scenario = parse(ring_of("ring"), p, kStar, Fidelity::full);
    const int repetitions = p <= 128 ? 5 : 2;
    double ours = INFINITY, plain = INFINITY;  // the fastest of some, taken in turn
    for (int i = 0; i < repetitions; ++i) {
      const Answer full = measure(scenario);
      ours = std::min(ours, full.seconds);
      plain = std::min(plain, plain_loop(scenario.cluster, std::get<CollectiveBenchmark>(scenario.strategy).size,
                                         full.forecast.steps));
    }
    std::cout << fmt::format(
                     "full ring, star              {:>8} workers {:8.3f} s, plain loop {:8.3f} s, ratio {:.3f}\n", p,
                     ours, plain, ours / plain)
              << std::flush;
    rows.push_back({{"workers", p}, {"seconds", ours}, {"plain_seconds", plain}, {"ratio", ours / plain}});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && std::strcmp(argv[2], "--quick") != 0)) {
    std::cerr << "usage: folding_bench RESULT.json [--quick]\n";
    return 2;
  }
  const bool quick = argc == 3;
  try {
    Json result = Json::object();
    result["simgrid"] = SIMGRID_VERSION;
    result["plain_loop"] = beside_plain_loop(quick);
    result["growth"] = growth(quick);
    result["exactness"] = exactness(quick);
    std::ofstream(argv[1]) << result.dump(1) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "folding_bench: " << error.what() << "\n";
    return 1;
  }
}
