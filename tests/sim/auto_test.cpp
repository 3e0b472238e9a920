// Evaluator "auto": who answers, and that the answer is the replay's to the stated 1 %.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/equation/evaluate.hpp"
#include "models/equation/exactness.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/asked.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/answer/replay_messages.hpp"
#include "sim/replay/processes.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Cluster cluster_on(const Topology& topology, int p) {
  Cluster cluster = star(p);
  cluster.topology = topology;
  return cluster;
}

Scenario benchmark(const Cluster& cluster, Operation operation, const CollectiveChoice& choice, Bytes size) {
  Scenario scenario = collective_of(cluster, operation, Algorithm::automatic, size);
  std::get<CollectiveBenchmark>(scenario.strategy).collective = choice;
  scenario.evaluation.fidelity = Fidelity::automatic;
  return scenario;
}

/// "equations" or "replay".
std::string who_answers(const Scenario& scenario) {
  const Asked asked = AskedEvaluators().of(scenario);
  INFO(asked.refusal);
  CHECK(asked.refusal.empty());
  CHECK(asked.evaluators.equations != asked.evaluators.replay);
  return asked.evaluators.equations ? "equations" : "replay";
}

/// Steps by the equations where auto takes them, beside the replay's: every case is asked in a process of its own.
/// @return how many were the equations'
int check_within(const std::vector<Case>& cases, double share) {
  const auto results = run_in_processes(cases.size(), available_cores(), [&](std::size_t i) {
    const Scenario& scenario = cases[i].scenario;
    const CachedPrices prices(scenario.cluster);
    const StepGraph graph = build_step_graph(scenario, make_workload(scenario), prices);
    const Exactness exactness = exactness_of(scenario, graph, prices);
    const bool taken = evaluators_of(scenario, graph, prices).equations;
    const double step = evaluate(graph, prices).step.si();
    const StepForecast replayed = combine({answer(ReplayJob{&scenario, &graph, 0})});
    return Json{{"taken", taken},
                {"ratio", step > 0 ? replayed.step.si() / step : 1.0},
                {"least", exactness.least},
                {"most", exactness.most}};
  });
  int taken = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].what << ": " << results[i].error);
    REQUIRE(results[i].error.empty());
    const Json& found = results[i].value;
    const double ratio = found.at("ratio").get<double>();
    INFO("the replay takes " << ratio << " times as long, of " << found.at("least") << " to " << found.at("most"));
    CHECK(ratio >= found.at("least").get<double>() * (1 - 1e-7));
    CHECK(ratio <= found.at("most").get<double>() * (1 + 1e-7));
    if (!found.at("taken").get<bool>()) continue;
    ++taken;
    CHECK(std::abs(ratio - 1) <= share);
  }
  return taken;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int between(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }
  double real(double low, double high) { return std::uniform_real_distribution(low, high)(engine_); }
  double factor(double low, double high) { return std::exp(real(std::log(low), std::log(high))); }

 private:
  std::mt19937 engine_;
};

/// p workers on any topology.
Cluster any_cluster(Random& random, int p) {
  Cluster cluster = star(p);
  cluster.link = {BytesPerSecond(random.factor(1e8, 1e11)), Seconds(random.factor(1e-7, 1e-4))};
  const Link inner{BytesPerSecond(random.factor(1e9, 1e12)), Seconds(random.factor(1e-7, 1e-5))};
  switch (random.between(0, 7)) {
    case 0: cluster.topology = Nodes{4, inner, random.between(1, 4)}; break;
    case 1: cluster.topology = Nodes{2, inner, 1, NodeRacks{random.between(1, 3), random.real(1, 5), 3_us}}; break;
    case 2: cluster.topology = Racks{random.between(2, p), random.real(1, 8), 2_us}; break;
    case 3: cluster.topology = FatTree{{4, (p + 3) / 4}, {1, random.between(1, 3)}, {1, random.between(1, 2)}}; break;
    case 4: cluster.topology = Torus{{4, (p + 3) / 4}}; break;
    case 5: cluster.topology = Dragonfly{2, 1, 2, 1, std::max(2, (p + 7) / 8), 1, 2}; break;
    case 6: cluster.groups = {{random.between(1, p - 1), 1.0, BytesPerSecond(random.factor(1e8, 1e11)), 40_us}}; break;
    default: break;
  }
  if (random.between(0, 1) > 0) cluster.in_network_factor = random.real(0.1, 1);
  return cluster;
}

}  // namespace

TEST_CASE("auto takes equations where they are exact and the replay elsewhere, without trying it") {
  const Scenario on_star = scenario_of(star(8), AllReduceStrategy{});
  CHECK(who_answers(on_star) == "equations");
  CHECK(who_answers(scenario_of(cluster_on(Torus{{4, 4}}, 16), AllReduceStrategy{})) == "equations");
  CHECK(who_answers(scenario_of(cluster_on(Racks{4, 4.0, 2_us}, 10), PipelinedStrategy{})) == "equations");
  CHECK(who_answers(scenario_of(star(8), GossipStrategy{})) == "equations");

  Scenario servers = scenario_of(star(8), ParameterServerStrategy{});
  CHECK(who_answers(servers) == "equations");
  servers.cluster.groups = {{1, 0.5, {}, {}}};  // a slow worker pushes later than the others
  CHECK(who_answers(servers) == "replay");
  servers.cluster.groups.clear();
  std::get<ParameterServerStrategy>(servers.strategy).consistency = Consistency::asynchronous;
  CHECK(who_answers(servers) == "replay");

  Scenario other = on_star;
  other.cluster.jitter = {JitterDistribution::lognormal, 0.1};
  CHECK(who_answers(other) == "replay");
  other = on_star;
  other.cluster.transport = TcpTransport{};
  CHECK(who_answers(other) == "replay");

  // An evaluator asked for by name answers.
  servers.evaluation.evaluator = Evaluator::replay;
  CHECK(who_answers(servers) == "replay");
  other = on_star;
  other.evaluation.evaluator = Evaluator::both;
  const Asked both = AskedEvaluators().of(other);
  CHECK((both.evaluators.equations && both.evaluators.replay));
}

TEST_CASE("auto starts no replay of very many messages, and says so before it starts") {
  // 4096 workers push to 16 dedicated servers and pull, 200 steps: 2·4096·16·200 = 26 million messages. 4 times the
  // workers and twice the shards make 210 million.
  ParameterServerStrategy strategy;
  strategy.consistency = Consistency::asynchronous;
  strategy.shards = 16;
  CHECK(who_answers(scenario_of(star(4096), strategy)) == "replay");
  strategy.shards = 32;
  const Asked asked = AskedEvaluators().of(scenario_of(star(16384), strategy));
  INFO(asked.refusal);
  CHECK(asked.refusal.find("about 2.1e+02 million messages, more than the 100 million") != std::string::npos);
  CHECK(asked.refusal.find("--evaluator replay starts it anyway") != std::string::npos);
  // All-to-all of 65,536 workers sends 65,535 messages from each in rounds that are all unlike: 4.3 billion.
  const Scenario all_to_all = benchmark(cluster_on(Torus{{64, 32, 32}}, 65536), Operation::all_to_all, {}, 1_GB);
  CHECK_THROWS_AS(evaluate(build_step_graph(all_to_all, {}), all_to_all.cluster), ModelError);
  // On a star no two are on one link.
  CHECK(who_answers(benchmark(star(65536), Operation::all_to_all, {}, 1_GB)) == "equations");
}

TEST_CASE("the default answer of collectives is the full replay's on every topology") {
  Random random(20260722);
  std::vector<Case> cases;
  for (int i = 0; i < 150; ++i) {
    const int p = random.between(1, 4) == 1 ? random.between(33, 64) : random.between(2, 24);
    Cluster cluster = any_cluster(random, p);
    if (std::holds_alternative<Nodes>(cluster.topology)) cluster.workers = (p + 3) / 4 * 4;
    const auto algorithms = collective_algorithms();
    const CollectiveAlgorithm& entry = algorithms[random.between(0, static_cast<int>(algorithms.size()) - 1)];
    CollectiveChoice choice;
    if (random.between(0, 2) > 0) choice.algorithm = entry.algorithm;
    if (choice.algorithm == Algorithm::hierarchical)
      choice.group_size.value = cluster.workers % 4 == 0 ? 4 : cluster.workers;
    Scenario scenario = benchmark(cluster, entry.operation, choice, Bytes(random.factor(100, 1e9)));
    scenario.evaluation.fidelity = Fidelity::full;
    cases.push_back({fmt::format("case {}: {} by {} among {}, topology {}", i, name_of(entry.operation),
                                 name_of(choice.algorithm), cluster.workers, cluster.topology.index()),
                     std::move(scenario)});
  }
  CHECK(check_within(cases, 1e-7) == 150);
}

namespace {

/// Two sizes of all-reduces and an all-gather on each topology.
void check_folded(const std::vector<Topology>& topologies, int p) {
  std::vector<Case> cases;
  const auto add = [&](const Topology& topology, Operation operation, Algorithm algorithm) {
    CollectiveChoice choice;
    choice.algorithm = algorithm;
    for (const Bytes size : {2_kB, 100_MB})
      cases.push_back({fmt::format("{} by {} among {}, {} B, topology {}", name_of(operation), name_of(algorithm), p,
                                   size.si(), topology.index()),
                       benchmark(cluster_on(topology, p), operation, choice, size)});
  };
  for (const Topology& topology : topologies) {
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::recursive_doubling,
                                      Algorithm::halving_doubling, Algorithm::binary_tree}) {
      // There, nearly all messages of trees are unlike, and auto takes trees: a folded replay takes minutes.
      const bool unlike = std::holds_alternative<Dragonfly>(topology) || std::holds_alternative<Torus>(topology);
      const bool is_tree = algorithm == Algorithm::binary_tree || algorithm == Algorithm::automatic;
      if (is_tree && unlike && p > 4096) continue;
      add(topology, Operation::all_reduce, algorithm);
    }
    add(topology, Operation::all_gather, Algorithm::bruck);
  }
  check_within(cases, kAutoWithin);
}

}  // namespace

TEST_CASE("the default answer of thousands of workers is the folded replay's") {
  check_folded({Nodes{8, Link{200_GBps, 1_us}, 4}, Racks{32, 4.0, 2_us}, FatTree{{16, 16, 8}, {1, 8, 8}, {1, 1, 1}},
                Torus{{16, 16, 8}}, Dragonfly{16, 1, 4, 1, 16, 1, 2}},
               2048);
}

TEST_CASE("the default answer of 65,536 workers is the folded replay's", "[.long]") {
  check_folded({Nodes{8, Link{200_GBps, 1_us}, 4}, Racks{32, 4.0, 2_us}, FatTree{{64, 32, 32}, {1, 16, 16}, {1, 1, 1}},
                Torus{{64, 32, 32}}, Dragonfly{32, 1, 16, 1, 32, 1, 4}},
               65536);
}

TEST_CASE("the default answer of 4,096 workers' all-to-all and nccl-tree is the replay's", "[.long]") {
  std::vector<Case> cases;
  const Nodes machines{8, Link{200_GBps, 1_us}, 8};
  for (const Topology& topology :
       std::initializer_list<Topology>{machines, Racks{32, 4.0, 2_us}, FatTree{{16, 16, 16}, {1, 8, 8}, {1, 1, 1}}})
    for (const Bytes size : {4_MB, 100_MB}) {
      CollectiveChoice pairwise;
      pairwise.algorithm = Algorithm::pairwise;
      cases.push_back({fmt::format("all-to-all of {} B, topology {}", size.si(), topology.index()),
                       benchmark(cluster_on(topology, 4096), Operation::all_to_all, pairwise, size)});
    }
  for (const Bytes size : {1_MB, 100_MB}) {
    CollectiveChoice trees;
    trees.algorithm = Algorithm::nccl_tree;
    cases.push_back({fmt::format("nccl-tree of {} B", size.si()),
                     benchmark(cluster_on(machines, 4096), Operation::all_reduce, trees, size)});
  }
  check_within(cases, kAutoWithin);
}

TEST_CASE("under TCP auto takes an algorithm that no other beats by 2 %") {
  // ideal_equivalent has TCP's factors and windows, but not how flows of unlike latencies share a link: hence 2 %. Without
  // it, the algorithm of ideal links takes up to twice as long as the best one (racks, 100 MB, windows of 4 MiB).
  constexpr std::array kAlgorithms = {Algorithm::automatic,          Algorithm::ring,
                                      Algorithm::recursive_doubling, Algorithm::halving_doubling,
                                      Algorithm::binary_tree,        Algorithm::double_binary_tree};
  Random random(20261123);
  std::vector<Scenario> scenarios;
  for (int i = 0; i < 24; ++i) {
    Cluster cluster = star(4 * random.between(1, 4));
    cluster.link = {BytesPerSecond(random.factor(1e8, 4e9)), Seconds(random.factor(1e-5, 1e-3))};
    if (i % 3 == 1) cluster.topology = Nodes{4, Link{100_GBps, 1_us}};
    if (i % 3 == 2) cluster.topology = Racks{4, 2.0, 5_us};
    TcpTransport tcp;
    if (i % 2 == 1) tcp.latency_factor = 1;
    cluster.transport = tcp;
    const Bytes size(random.factor(1e4, 1e8));
    for (const Algorithm algorithm : kAlgorithms) {
      CollectiveChoice choice;
      choice.algorithm = algorithm;
      scenarios.push_back(benchmark(cluster, Operation::all_reduce, choice, size));
    }
  }
  const auto steps = run_in_processes(scenarios.size(), available_cores(), [&](std::size_t i) {
    const CachedPrices prices(scenarios[i].cluster);
    const StepGraph graph = build_step_graph(scenarios[i], make_workload(scenarios[i]), prices);
    return Json(combine({answer(ReplayJob{&scenarios[i], &graph, 0})}).step.si());
  });
  for (std::size_t i = 0; i < steps.size(); i += kAlgorithms.size()) {
    std::vector<double> times;
    for (std::size_t j = 0; j < kAlgorithms.size(); ++j) times.push_back(steps[i + j].value.get<double>());
    const double best = *std::min_element(times.begin(), times.end());
    INFO("case " << i / kAlgorithms.size() << ": " << times.front() << " s for the best's " << best << " s");
    CHECK(times.front() <= 1.02 * best);
  }
}

TEST_CASE("averages in flight beside islands are in the range that is stated with them") {
  Random random(20261127);
  std::vector<Case> cases;
  for (int i = 0; i < 100; ++i) {
    const int g = random.between(1, 2) * 2, p = g * random.between(2, 4), steps = random.between(1, 6);
    LocalSgdStrategy local{
        .steps = steps,
        .fragments = random.between(1, std::min(2, steps)),
        .averaging_steps = random.between(1, steps),
        .islands =
            Islands{.size = g, .grouping = random.between(0, 1) == 1 ? Grouping::per_tensor : Grouping::whole_model}};
    if (random.between(0, 1) == 1) local.islands->sharding = static_cast<ShardingStage>(random.between(0, 2));
    Scenario scenario = scenario_of(any_cluster(random, p), local);
    if (i % 2 == 0) {
      scenario.cluster = star(p);
      scenario.cluster.link.bandwidth = BytesPerSecond(random.factor(1e9, 1e10));
      scenario.cluster.stack.host_cost = scenario.cluster.stack.inner_host_cost = {};
      scenario.cluster.topology = Nodes{g * random.between(1, 2), {BytesPerSecond(random.factor(1e10, 1e12)), 1_us}, g};
    }
    scenario.workload = std::make_shared<const WorkloadTable>(small_workload(random.factor(0.01, 3)));
    cases.push_back({fmt::format("case {}: topology {}", i, scenario.cluster.topology.index()), std::move(scenario)});
  }
  const int taken = check_within(cases, kAutoWithin);
  CHECK(taken > 10);
  CHECK(taken < 90);
}

TEST_CASE("estimates of servers and gossip are in the range that is stated with them") {
  constexpr NeighbourGraph kGraphs[] = {NeighbourGraph::ring,        NeighbourGraph::torus,
                                        NeighbourGraph::exponential, NeighbourGraph::complete,
                                        NeighbourGraph::edges,       NeighbourGraph::one_peer_exponential};
  Random random(20260723);
  std::vector<Case> cases;
  for (int i = 0; i < 120; ++i) {
    const int p = 4 * random.between(1, 5);
    GossipStrategy gossip;
    gossip.graph = kGraphs[random.between(0, 5)];
    if (gossip.graph == NeighbourGraph::edges)  // a star of edges, and a path
      for (int rank = 1; rank < p; ++rank) gossip.edges.push_back({random.between(0, 1) == 1 ? 0 : rank - 1, rank});
    Scenario scenario = scenario_of(any_cluster(random, p), gossip);
    const double pace = random.factor(0.01, 3);
    scenario.workload = std::make_shared<const WorkloadTable>(small_workload(pace));
    if (random.between(0, 4) > 0) {
      ParameterServerStrategy servers;
      servers.placement = ServerPlacement::co_located;
      servers.shards = random.between(1, 3);
      if (random.between(0, 1) == 1) servers.balance = ShardBalance::greedy;
      servers.exchange.grouping = random.between(0, 1) == 1 ? Grouping::per_tensor : Grouping::whole_model;
      if (random.between(0, 1) == 1) {
        servers.exchange.partition = 3_MB;
        servers.exchange.priority = servers.exchange.grouping == Grouping::per_tensor && random.between(0, 1) == 1;
      }
      scenario.strategy = servers;
    }
    if (random.between(0, 2) == 0 && scenario.cluster.groups.empty())
      scenario.cluster.groups = {{1, random.real(0.5, 2), {}, {}}};
    cases.push_back({fmt::format("case {}: topology {}", i, scenario.cluster.topology.index()), std::move(scenario)});
  }
  const int taken = check_within(cases, kAutoWithin);
  CHECK(taken > 5);
  CHECK(taken < 110);
}
