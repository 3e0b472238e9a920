// Replay equals the closed form of every collective on the ideal star.
//
// Derivation: on a star with like links all flows of a round have the same latency α and, in every algorithm of
// the table, the same rate on their busiest link, so a round takes α + wire·β; then every host copies (h) and
// adds (γ). Rounds follow each other, so the sum over rounds is the closed form, plus S at the start.
#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/strategy/prices.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr int kWorkers[] = {1, 2, 3, 4, 5, 8, 16, 31, 64};

/// The algorithm with every group size (or number of segments) worth trying.
std::vector<CollectiveChoice> choices(Algorithm algorithm, int p) {
  std::vector<CollectiveChoice> all;
  if (algorithm == Algorithm::hierarchical) {
    for (const int g : {1, 2, 4, 31})
      if (p % g == 0) all.push_back({algorithm, {g}, {}});
  } else if (algorithm == Algorithm::double_binary_tree) {
    for (const int s : {1, 2, 7}) all.push_back({algorithm, {}, {s}});
    all.push_back({algorithm, {}, {}});
  } else {
    all.push_back({algorithm, {}, {}});
  }
  return all;
}

}  // namespace

TEST_CASE("replay of a collective equals its closed form") {
  const Bytes size = 10000019_B;  // a prime: no chunk is whole
  std::vector<Case> cases;
  std::vector<Seconds> expected;
  for (const CollectiveAlgorithm& entry : collective_algorithms())
    for (const int p : kWorkers)
      for (const CollectiveChoice& choice : choices(entry.algorithm, p)) {
        Scenario scenario = collective_of(star(p), entry.operation, entry.algorithm, size);
        std::get<CollectiveBenchmark>(scenario.strategy).collective = choice;
        const Prices prices = collective_prices(scenario.cluster);
        const CollectiveCall call = decide(entry.operation, choice, size, p, prices, 1);
        cases.push_back({fmt::format("{} {} p={} g={} s={}", name_of(entry.operation), name_of(entry.algorithm), p, call.parameters.group_size, call.parameters.segments), scenario});
        expected.push_back(price(entry.cost(size, p, call.parameters), prices).total());
      }
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    require_close(expected[i], answers[i].replay.step, 1e-9, answers[i].what);
    require_same(answers[i], 1e-9);
  }
}

TEST_CASE("a ring on nodes and racks costs what its one flow per uplink costs") {
  // 16 workers, 8 to a node: the slowest message of a round crosses two inner links (3 us in all), the NICs and
  // the switch (25 us in all) at the NIC's 10 Gb/s: 2·15·(28 us + n/16·0.8 ns/B).
  // Racks of 4 at 8:1: an uplink has 4/8 of a link, 5 Gb/s: 2·15·(25 us + 2 us + n/16·1.6 ns/B).
  const Bytes n = 160_MB;
  Cluster nodes = star(16);
  nodes.reduction_cost = nodes.host_cost = {};
  nodes.collective_cost = {};
  Cluster racks = nodes;
  nodes.topology = Nodes{8, Link{100_GBps, 3_us}, 1};
  racks.topology = Racks{4, 8.0, 2_us};
  const auto answers = evaluate_both({{"nodes", collective_of(nodes, Operation::all_reduce, Algorithm::ring, n)},
                                      {"racks", collective_of(racks, Operation::all_reduce, Algorithm::ring, n)}});
  require_close(30.0 * (28_us + 10_MB / 10_Gbps), answers[0].replay.step, 1e-9, "ring on nodes");
  require_close(30.0 * (27_us + 10_MB / 5_Gbps), answers[1].replay.step, 1e-9, "ring on racks");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("a hierarchical all-reduce shares its NICs") {
  // 2 nodes of 4, 2 NICs: inside 2·3 rounds of n/4 over 100 GB/s and 3 us; between 2·1 rounds of n/8 each from
  // all 4 GPUs over 2 NICs of 10 Gb/s, that is n/4 through each, and 28 us.
  const Bytes n = 80_MB;
  Cluster cluster = star(8);
  cluster.reduction_cost = cluster.host_cost = {};
  cluster.collective_cost = {};
  cluster.topology = Nodes{4, Link{100_GBps, 3_us}, 2};
  const auto answers = evaluate_both({{"hierarchical", collective_of(cluster, Operation::all_reduce, Algorithm::hierarchical, n)}});
  require_close(6.0 * (3_us + 20_MB / 100_GBps) + 2.0 * (28_us + 20_MB / 10_Gbps), answers[0].replay.step, 1e-9, "hierarchical, 2 NICs");
  require_same(answers[0], 1e-9);
}

TEST_CASE("replay of a collective equals its price by routes, on every topology") {
  // Rounds of unlike latencies, contention inside fabrics, unlike links: for every algorithm, and numbers of workers that are
  // no power of two. The equations walk the same routes and share links by the same max-min fairness.
  std::vector<std::pair<std::string, Cluster>> clusters;
  const auto on = [&](const std::string& name, int p, const Topology& topology) -> Cluster& {
    clusters.emplace_back(name, star(p));
    clusters.back().second.topology = topology;
    return clusters.back().second;
  };
  on("nodes", 16, Nodes{8, Link{100_GBps, 3_us}, 3});
  on("nodes, the last not full", 14, Nodes{4, Link{1_GBps, 3_us}, 2});
  on("racks", 18, Racks{4, 6.0, 2_us});
  on("fat tree", 16, FatTree{{4, 4}, {1, 2}, {1, 1}});
  on("fat tree of three levels", 24, FatTree{{4, 3, 2}, {1, 2, 3}, {1, 2, 1}});
  on("torus", 12, Torus{{3, 4}});
  on("torus of three dimensions", 32, Torus{{4, 4, 2}});
  on("dragonfly", 32, Dragonfly{2, 1, 2, 1, 4, 1, 2});
  on("dragonfly with cables", 18, Dragonfly{3, 2, 1, 1, 3, 1, 2});
  on("unlike links", 9, Star{}).groups = {{2, 1.0, 4_Gbps, 60_us}, {1, 0.5, 25_Gbps, 2_us}};
  on("racks of unlike links", 10, Racks{4, 3.0, 2_us}).groups = {{3, 1.0, 4_Gbps, 60_us}};
  std::vector<Case> cases;
  for (const auto& [name, cluster] : clusters)
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      // Where the latency is most of a round, where neither is, and where the bytes are.
      for (const Bytes size : {Bytes(1009), Bytes(1000003), Bytes(100000007)}) {
        Scenario scenario = collective_of(cluster, entry.operation, entry.algorithm, size);
        auto& choice = std::get<CollectiveBenchmark>(scenario.strategy).collective;
        if (entry.algorithm == Algorithm::hierarchical) choice.group_size = {cluster.workers % 4 == 0 ? 4 : cluster.workers % 3 == 0 ? 3 : 2};
        cases.push_back({fmt::format("{}: {} {} {} B", name, name_of(entry.operation), name_of(entry.algorithm), size.si()), scenario});
      }
    }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}
