// Replay equals the closed form of every collective on the ideal star.
//
// Derivation: on a star with like links, all flows of a round have the same latency α. In every algorithm of the table,
// they also have the same rate on their busiest link. A round therefore takes α + wire·β. Every host then copies (h)
// and adds (γ). Rounds follow each other, so the sum over rounds is the closed form, plus S at the start.
#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/price/path_prices.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr int kWorkers[] = {1, 2, 3, 4, 5, 8, 16, 31, 64};

/// The algorithm with every group size, number of segments or rings and choice between groups worth trying.
std::vector<CollectiveChoice> choices(Operation operation, Algorithm algorithm, int p) {
  std::vector<CollectiveChoice> all;
  if (algorithm == Algorithm::hierarchical) {
    for (const int g : {1, 2, 4, 31})
      for (const Algorithm between : algorithms_between(operation))
        if (p % g == 0) all.push_back({algorithm, {g}, {}, {}, between});
  } else if (algorithm == Algorithm::multi_ring) {
    for (const int g : {2, 3, 8})
      for (const int rings : {2, 3})
        if (g <= p && rings <= g) all.push_back({algorithm, {g}, {}, {rings}});
    all.push_back({algorithm, {}, {}});
  } else if (algorithm == Algorithm::nccl_tree) {
    for (const int g : {1, 2, 3, 8})
      for (const int pairs : {1, 3})
        for (const int s : {1, 7})
          if (g <= p && pairs <= g) all.push_back({algorithm, {g}, {s}, {pairs}});
    all.push_back({algorithm, {}, {}});
  } else if (algorithm == Algorithm::double_binary_tree) {
    for (const int s : {1, 2, 7}) all.push_back({algorithm, {}, {s}});
    all.push_back({algorithm, {}, {}});
  } else {
    all.push_back({algorithm, {}, {}});
  }
  return all;
}

using Clusters = std::vector<std::pair<std::string, Cluster>>;

/// Rounds of unlike latencies, contention inside fabrics, unlike links, and numbers of workers that are no power of two.
Clusters clusters_of_all_topologies() {
  Clusters clusters;
  const auto on = [&](const std::string& name, int p, const Topology& topology) -> Cluster& {
    clusters.emplace_back(name, star(p));
    clusters.back().second.topology = topology;
    return clusters.back().second;
  };
  on("nodes", 16, Nodes{8, Link{100_GBps, 3_us}, 3});
  on("nodes, the last not full", 14, Nodes{4, Link{1_GBps, 3_us}, 2});
  on("nodes whose neighbours share NICs", 16, Nodes{8, Link{100_GBps, 3_us}, 3, {}, NicOfGpu::neighbours});
  on("nodes whose neighbours share NICs, the last not full", 17,
     Nodes{7, Link{1_GBps, 3_us}, 5, {}, NicOfGpu::neighbours});
  on("racks", 18, Racks{4, 6.0, 2_us});
  on("nodes in racks", 24, Nodes{4, Link{100_GBps, 3_us}, 2, NodeRacks{2, 5.0, 7_us}});
  on("nodes in racks, the last not full", 12, Nodes{2, Link{1_GBps, 3_us}, 1, NodeRacks{4, 2.0, 0_us}});
  on("fat tree", 16, FatTree{{4, 4}, {1, 2}, {1, 1}});
  on("fat tree of three levels", 24, FatTree{{4, 3, 2}, {1, 2, 3}, {1, 2, 1}});
  on("torus", 12, Torus{{3, 4}});
  on("torus of three dimensions", 32, Torus{{4, 4, 2}});
  on("dragonfly", 32, Dragonfly{2, 1, 2, 1, 4, 1, 2});
  on("dragonfly with cables", 18, Dragonfly{3, 2, 1, 1, 3, 1, 2});
  on("unlike links", 9, Star{}).groups = {{2, 1.0, 4_Gbps, 60_us}, {1, 0.5, 25_Gbps, 2_us}};
  on("racks of unlike links", 10, Racks{4, 3.0, 2_us}).groups = {{3, 1.0, 4_Gbps, 60_us}};
  return clusters;
}

/// A cluster of 4 workers with 2 NICs each, where adding and copying are free.
Cluster two_nodes() {
  Cluster cluster = star(8);
  cluster.reduction_cost = cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
  cluster.collective_cost = {};
  cluster.topology = Nodes{4, Link{100_GBps, 3_us}, 2};
  return cluster;
}

}  // namespace

TEST_CASE("replay of a collective equals its closed form") {
  const Bytes size = 10000019_B;  // a prime: no chunk is whole
  std::vector<Case> cases;
  std::vector<Seconds> expected;
  for (const CollectiveAlgorithm& entry : collective_algorithms())
    for (const int p : kWorkers)
      for (const CollectiveChoice& choice : choices(entry.operation, entry.algorithm, p)) {
        Scenario scenario = collective_of(star(p), entry.operation, entry.algorithm, size);
        std::get<CollectiveBenchmark>(scenario.strategy).collective = choice;
        const Prices prices = collective_prices(scenario.cluster);
        const CollectiveCall call = decide(entry.operation, choice, size, p, prices, {1});
        cases.push_back({fmt::format("{} {} p={} g={} s={} c={} {}", name_of(entry.operation), name_of(entry.algorithm),
                                     p, call.parameters.group_size, call.parameters.segments, call.parameters.rings,
                                     name_of(call.parameters.between_groups)),
                         scenario});
        expected.push_back(price(entry.cost(size, p, call.parameters), prices).total());
      }
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    require_close(expected[i], answers[i].replay.step, 1e-9, answers[i].what);
    require_same(answers[i], 1e-9);
  }
}

TEST_CASE("a ring on nodes and racks costs as much as its one flow per uplink") {
  // 16 workers, 8 to a node. A message crosses two inner links, 3 us in all. Two of a round's 16 also cross the NICs
  // and the switch, 25 us in all, at the NIC's 10 Gb/s: 2·15·(3 us + 25 us/8 + n/16·0.8 ns/B). With racks of 4 at 8:1,
  // four messages share an uplink of 4/8 of a link, 5 Gb/s: 2·15·(25 us + 2 us/4 + n/16·1.6 ns/B).
  const Bytes n = 160_MB;
  Cluster nodes = star(16);
  nodes.reduction_cost = nodes.stack.host_cost = nodes.stack.inner_host_cost = {};
  nodes.collective_cost = {};
  Cluster racks = nodes;
  nodes.topology = Nodes{8, Link{100_GBps, 3_us}, 1};
  racks.topology = Racks{4, 8.0, 2_us};
  const auto answers = evaluate_both({{"nodes", collective_of(nodes, Operation::all_reduce, Algorithm::ring, n)},
                                      {"racks", collective_of(racks, Operation::all_reduce, Algorithm::ring, n)}});
  require_close(30.0 * (3_us + 25_us / 8.0 + 10_MB / 10_Gbps), answers[0].replay.step, 1e-9, "ring on nodes");
  require_close(30.0 * (25.5_us + 10_MB / 5_Gbps), answers[1].replay.step, 1e-9, "ring on racks");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("a hierarchical all-reduce shares its NICs") {
  // 2 nodes of 4, 2 NICs. Inside, there are 2·3 rounds of n/4 over 100 GB/s and 3 us. Between, there are 2·1 rounds of
  // n/8 each from all 4 GPUs over 2 NICs of 10 Gb/s. Each NIC carries n/4, and this takes 28 us.
  const Bytes n = 80_MB;
  const Cluster cluster = two_nodes();
  // Recursive doubling between two machines is one round of n/4 each, n/2 through each NIC.
  std::vector<Case> cases;
  for (const Algorithm between : {Algorithm::ring, Algorithm::recursive_doubling}) {
    Scenario& scenario =
        cases
            .emplace_back(Case{std::string(name_of(between)),
                               collective_of(cluster, Operation::all_reduce, Algorithm::hierarchical, n)})
            .scenario;
    std::get<CollectiveBenchmark>(scenario.strategy).collective.between_groups = between;
  }
  const auto answers = evaluate_both(cases);
  const Seconds inside = 6.0 * (3_us + 20_MB / 100_GBps);
  require_close(inside + 2.0 * (28_us + 20_MB / 10_Gbps), answers[0].replay.step, 1e-9, "ring between, 2 NICs");
  require_close(inside + 28_us + 40_MB / 10_Gbps, answers[1].replay.step, 1e-9, "recursive doubling between, 2 NICs");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("several rings use all NICs") {
  // 2 nodes of 4, 2 NICs, 2 rings. In each of 2·7 rounds, each ring moves n/16 = 5 MB from rank to rank, over a
  // separate NIC out of either node. A round takes 3 us, 25 us more for two of its 8 messages, + 5 MB / 10 Gb/s =
  // 4.00925 ms. Inside, workers send 10 MB at 100 GB/s. One ring has 10 MB over one NIC; four have 2.5 MB each, two on
  // a NIC.
  const Bytes n = 80_MB;
  const Cluster cluster = two_nodes();
  const auto with_rings = [&](const OrAuto<int>& rings, const Topology& topology) {
    Cluster other = cluster;
    other.topology = topology;
    Scenario scenario = collective_of(other, Operation::all_reduce, Algorithm::multi_ring, n);
    std::get<CollectiveBenchmark>(scenario.strategy).collective.rings = rings;
    return scenario;
  };
  const Topology two = cluster.topology, three = Nodes{4, Link{100_GBps, 3_us}, 3},
                 slow = Nodes{4, Link{2_GBps, 3_us}, 2},
                 pairs = Nodes{4, Link{100_GBps, 3_us}, 2, {}, NicOfGpu::neighbours},
                 pairs_of_three = Nodes{4, Link{100_GBps, 3_us}, 3, {}, NicOfGpu::neighbours};
  const auto answers = evaluate_both({{"auto", with_rings({}, two)},
                                      {"1", with_rings({1}, two)},
                                      {"4", with_rings({4}, two)},
                                      {"auto of 3 NICs", with_rings({}, three)},
                                      {"inside is slower", with_rings({}, slow)},
                                      {"auto, neighbours", with_rings({}, pairs)},
                                      {"auto of 3 NICs, neighbours", with_rings({}, pairs_of_three)}});
  require_close(14.0 * (9.25_us + 5_MB / 10_Gbps), answers[0].replay.step, 1e-9, "2 rings");
  require_close(14.0 * (9.25_us + 10_MB / 10_Gbps), answers[1].replay.step, 1e-9, "1 ring");
  require_close(14.0 * (9.25_us + 5_MB / 10_Gbps), answers[2].replay.step, 1e-9, "4 rings on 2 NICs");
  require_close(14.0 * (9.25_us + 10_MB / 3.0 / 10_Gbps), answers[3].replay.step, 1e-9,
                "3 rings on 3 NICs of 4 workers");
  // Whether neighbours share a NIC or workers have them in turn, each ring leaves by one of its own.
  require_close(14.0 * (9.25_us + 5_MB / 10_Gbps), answers[5].replay.step, 1e-9, "neighbours share 2 NICs");
  require_close(14.0 * (9.25_us + 10_MB / 3.0 / 10_Gbps), answers[6].replay.step, 1e-9, "neighbours share 3 NICs");
  // At 2 GB/s a worker's link is the bound: both messages have half of it.
  require_close(14.0 * (9.25_us + 5_MB / 1_GBps), answers[4].replay.step, 1e-9, "slow inside");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("GPUs that share a NIC decide the time of two rings of every other rank") {
  // 2 nodes of 4, 2 NICs, groups of 2. Between groups, rings of the ranks 0, 2, 4, 6 and 1, 3, 5, 7 have 2·3 rounds of
  // n/8 = 10 MB. Ranks 2 and 3 leave a machine. They have NICs 0 and 1 if taken in turn, and share NIC 1 if neighbours
  // share. Inside groups, there are 2·1 rounds of 3 us + n/2 at 100 GB/s. Between them, a round's latencies are 3 us +
  // 25 us/2.
  const Bytes n = 80_MB;
  std::vector<Case> cases;
  for (const NicOfGpu rule : {NicOfGpu::in_turn, NicOfGpu::neighbours}) {
    Cluster cluster = two_nodes();
    std::get<Nodes>(cluster.topology).nic_of_gpu = rule;
    cases.push_back(
        {std::string(name_of(rule)), collective_of(cluster, Operation::all_reduce, Algorithm::hierarchical, n)});
    auto& choice = std::get<CollectiveBenchmark>(cases.back().scenario.strategy).collective;
    choice.group_size = {2};
    choice.between_groups = Algorithm::ring;
  }
  const auto answers = evaluate_both(cases);
  const Seconds inside = 2.0 * (3_us + 40_MB / 100_GBps);
  require_close(inside + 6.0 * (15.5_us + 10_MB / 10_Gbps), answers[0].replay.step, 1e-9, "in turn");
  require_close(inside + 6.0 * (15.5_us + 20_MB / 10_Gbps), answers[1].replay.step, 1e-9, "neighbours");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("NCCL's tree uses all NICs, and a message up and one down at once") {
  // 2 nodes of 4, 2 NICs, 2 pairs of trees: blocks of n/4s. A machine is the root of one tree of each pair, and below
  // the other's root. In each round between, each NIC has up to a block up in one tree and one down in the other,
  // either way. With s segments, there are 2 + s - 1 rounds of 28 us. The first and the last have one message each way,
  // others two.
  //
  // Before and after, there are 2·3 rounds of 3 us inside, while the chains fill or empty: 2 to 4 blocks at 100 GB/s.
  // In the rounds between, inner links take no longer than the NICs.
  const Bytes n = 80_MB;
  const Cluster cluster = two_nodes();
  std::vector<Case> cases;
  for (const int s : {1, 4}) {
    cases.push_back(
        {fmt::format("{} segments", s), collective_of(cluster, Operation::all_reduce, Algorithm::nccl_tree, n)});
    std::get<CollectiveBenchmark>(cases.back().scenario.strategy).collective.pipeline_segments = {s};
  }
  const auto answers = evaluate_both(cases);
  // One segment: 20 MB a message; a place after another. Both trees of a pair pass the same edge of its chain, the two
  // pairs' edges are of other workers, so 40 MB inside.
  require_close(6.0 * (3_us + 40_MB / 100_GBps) + 2.0 * (28_us + 20_MB / 10_Gbps), answers[0].replay.step, 1e-9,
                "s = 1");
  // Four: 5 MB. Inside alone, rounds 0, 1, 2 have 1, 2 and 3 places. Worker 0 is pair 0's head, and has the tail of
  // pair 1's chain 2 -> 3 -> 0 -> 1 ahead of it. Nobody is at more than one edge of either chain on either side. A
  // round has 10 MB from or to a worker until both chains are at it: 20 MB from the second round on.
  const Seconds inside = 2.0 * (9_us + (10_MB + 20_MB + 20_MB) / 100_GBps);
  require_close(inside + 5.0 * 28_us + (5_MB + 10_MB + 10_MB + 10_MB + 5_MB) / 10_Gbps, answers[1].replay.step, 1e-9,
                "s = 4");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("replay of a collective equals its price by routes, on every topology") {
  // The equations walk the same routes and share links by the same max-min fairness.
  std::vector<Case> cases;
  for (const auto& [name, cluster] : clusters_of_all_topologies())
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      // For a latency that is most of a round, for a mixture, and for bytes that are most of it.
      for (const Bytes size : {Bytes(1009), Bytes(1000003), Bytes(100000007)}) {
        Scenario scenario = collective_of(cluster, entry.operation, entry.algorithm, size);
        auto& choice = std::get<CollectiveBenchmark>(scenario.strategy).collective;
        const int group = cluster.workers % 4 == 0   ? 4
                          : cluster.workers % 3 == 0 ? 3
                          : cluster.workers % 2 == 0 ? 2
                                                     : 1;
        if (entry.algorithm == Algorithm::hierarchical) choice.group_size = {group};
        const auto add = [&, where = name](const std::string& with) {
          cases.push_back({fmt::format("{}: {} {}{} {} B", where, name_of(entry.operation), name_of(entry.algorithm),
                                       with, size.si()),
                           scenario});
        };
        if (entry.algorithm == Algorithm::hierarchical) {
          for (const Algorithm between : algorithms_between(entry.operation)) {
            choice.between_groups = between;
            add(fmt::format(", {} between", name_of(between)));
          }
        } else if (entry.algorithm == Algorithm::multi_ring || entry.algorithm == Algorithm::nccl_tree) {
          add("");
          choice.group_size = {4};
          choice.rings = {3};
          add(" of 3");
        } else {
          add("");
        }
      }
    }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("switches that add up take each worker's bytes once, up to their root and down again") {
  const Bytes n = 80_MB;
  const auto on = [&](const Topology& topology, int p, double factor, CollectiveChoice choice = {}) {
    Cluster cluster = star(p);
    cluster.link = {10_Gbps, 25_us};
    cluster.topology = topology;
    cluster.reduction_cost = 0.5_ns_per_B;
    cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
    cluster.collective_cost = 20_us;
    cluster.in_network_factor = factor;
    Scenario scenario = collective_of(cluster, Operation::all_reduce, Algorithm::in_network, n);
    if (choice.algorithm != Algorithm::automatic) std::get<CollectiveBenchmark>(scenario.strategy).collective = choice;
    return scenario;
  };
  CollectiveChoice groups;
  groups.algorithm = Algorithm::hierarchical;
  groups.between_groups = Algorithm::in_network;
  const Topology machines = Nodes{4, Link{100_GBps, 3_us}, 2};
  struct Expected {
    std::string name;
    Scenario scenario;
    double seconds;
  };
  const std::vector<Expected> all = {
      // S + 25 us + 80 MB at 1.25 GB/s, whatever p
      {"star of 4", on(Star{}, 4, 1), 20e-6 + 25e-6 + 64e-3},
      {"star of 64", on(Star{}, 64, 1), 20e-6 + 25e-6 + 64e-3},
      {"at 80 % of line rate", on(Star{}, 64, 0.8), 20e-6 + 25e-6 + 80e-3},
      // The uplink of 4 hosts at 8 to 1 has half a link's bandwidth, and 2 us more. One sum passes it, not four.
      {"racks", on(Racks{4, 8.0, 2_us}, 16, 1), 20e-6 + 27e-6 + 128e-3},
      {"racks at 80 %", on(Racks{4, 8.0, 2_us}, 16, 0.8), 20e-6 + 27e-6 + 160e-3},
      // Two switches above each of four leaves; a link has half of 25 us, and a message passes four.
      {"fat tree", on(FatTree{{4, 4}, {1, 2}, {1, 1}}, 16, 1), 20e-6 + 50e-6 + 64e-3},
      // Two phases of 3 rounds inside, each 3 us and 20 MB at 100 GB/s; the first adds 60 MB. Between machines each GPU
      // has 20 MB, and two share a NIC: 28 us and 40 MB at 1.25 GB/s, for 80 % of line rate a quarter longer.
      {"between machines", on(machines, 16, 0.8, groups), 20e-6 + 6 * (3e-6 + 0.2e-3) + 30e-3 + 28e-6 + 40e-3}};
  std::vector<Case> cases;
  for (const Expected& one : all) cases.push_back({one.name, one.scenario});
  const std::vector<Comparison> answers = evaluate_both(cases);
  for (std::size_t i = 0; i < all.size(); ++i) {
    require_close(all[i].seconds, answers[i].equations.step.si(), 1e-9, all[i].name);
    require_same(answers[i], 1e-9);
  }
}

TEST_CASE("a ring that waits for its slowest hop costs the longest of its messages in every round") {
  // As above, 16 workers on nodes of 8 and racks of 4. It is 28 us instead of the mean of 3 us and 25/8 us, and 27 us
  // instead of 25.5 us. On a star with one link of 60 us, two messages have (60 + 25)/2 = 42.5 us.
  const Bytes n = 160_MB;
  const auto on = [](const Topology& topology) {
    Cluster cluster = star(16);
    cluster.topology = topology;
    cluster.reduction_cost = cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
    cluster.collective_cost = {};
    cluster.ring_latency = RingLatency::slowest;
    return cluster;
  };
  const Cluster nodes = on(Nodes{8, Link{100_GBps, 3_us}, 1}), racks = on(Racks{4, 8.0, 2_us});
  Cluster unlike = on(Star{});
  unlike.groups = {{1, 1.0, {}, 60_us}};
  std::vector<Case> cases;
  for (const Cluster& cluster : {nodes, racks, unlike})
    cases.push_back({"", collective_of(cluster, Operation::all_reduce, Algorithm::ring, n)});
  const auto answers = evaluate_both(cases);
  require_close(30.0 * (28_us + 10_MB / 10_Gbps), answers[0].replay.step, 1e-9, "nodes");
  require_close(30.0 * (27_us + 10_MB / 5_Gbps), answers[1].replay.step, 1e-9, "racks");
  require_close(30.0 * (42.5_us + 10_MB / 10_Gbps), answers[2].replay.step, 1e-9, "a star with one slow link");
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
}

TEST_CASE("replay of a collective equals its price even if rings wait for their slowest hops") {
  std::vector<Case> cases;
  for (auto [name, cluster] : clusters_of_all_topologies())
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::multi_ring, Algorithm::hierarchical})
      for (const Bytes size : {Bytes(1009), Bytes(1000003), Bytes(100000007)}) {
        cluster.ring_latency = RingLatency::slowest;
        Scenario scenario = collective_of(cluster, Operation::all_reduce, algorithm, size);
        if (algorithm == Algorithm::hierarchical)
          std::get<CollectiveBenchmark>(scenario.strategy).collective.group_size = {cluster.workers % 4 == 0   ? 4
                                                                                    : cluster.workers % 3 == 0 ? 3
                                                                                    : cluster.workers % 2 == 0 ? 2
                                                                                                               : 1};
        cases.push_back({fmt::format("{}: {} {} B", name, name_of(algorithm), size.si()), scenario});
      }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("with any protocol, replay of a collective equals its price") {
  // A message's latency is three times as long, or it is four times as large.
  std::vector<Case> cases;
  Clusters clusters = clusters_of_all_topologies();
  clusters.emplace_back("star", star(6));
  for (auto& [name, cluster] : clusters)
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::halving_doubling, Algorithm::nccl_tree})
      for (const Bytes size : {Bytes(1009), Bytes(1000003), Bytes(100000007)}) {
        cluster.protocols = {{"quick", 1, 0.25}, {"wide", 3, 1}};
        cases.push_back({fmt::format("{}: {} {} B", name, name_of(algorithm), size.si()),
                         collective_of(cluster, Operation::all_reduce, algorithm, size)});
      }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}
