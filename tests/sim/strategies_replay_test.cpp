// Replay equals equations for synchronous, sharded, parameter-server, pipelined, local SGD and gossip steps on the
// ideal star.
//
// The proof: both run the same step graph. With like workers, every participant reaches a communication task at the
// same time, so the task takes its closed form. Only the dependencies are left. The equations solve them as a timed
// event graph, and the replay runs them.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/equation/evaluate.hpp"
#include "models/price/cluster_prices.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_islands.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr int kWorkers[] = {1, 2, 3, 4, 5, 8, 16, 31, 64};

std::vector<Exchange> exchanges() {
  std::vector<Exchange> all{Exchange{}};
  for (const Grouping grouping : {Grouping::per_tensor, Grouping::bucketed})
    for (const bool overlap : {true, false}) all.push_back({grouping, 6_MB, {3_MB}, overlap});
  return all;
}

std::string describe(const Exchange& e) {
  return fmt::format("{}{}", name_of(e.grouping), e.overlap ? "" : ", not overlapped");
}

void require_all_same(const std::vector<Case>& cases) {
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Scenario& scenario = cases[i].scenario;
    const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
    const bool some_host_shards =
        server && server->placement == ServerPlacement::co_located && server->shards < scenario.cluster.workers;
    require_same(answers[i], 1e-9, !some_host_shards);
  }
}

}  // namespace

TEST_CASE("synchronous all-reduce: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const Exchange& exchange : exchanges())
      cases.push_back(
          {fmt::format("p={}, {}", p, describe(exchange)), scenario_of(star(p), AllReduceStrategy{{}, exchange})});
  require_all_same(cases);
}

TEST_CASE("synchronous all-reduce without overlap takes l_for + l_back + l_up + l_comm") {
  // Ring, p = 8, n = 4·3500010 B. l_comm = S + 14·α + 2·7/8·n(β + h) + 7/8·nγ, l_for = 10, l_back = 14, l_up = 1 ms.
  AllReduceStrategy strategy{.exchange = {.grouping = Grouping::whole_model}};
  strategy.collective.algorithm = Algorithm::ring;
  const auto answers = evaluate_both({{"ring", scenario_of(star(8), strategy)}});
  const Bytes n = 14000040_B;
  const Seconds communication =
      7_us + 14.0 * 25_us + n * 1.75 * (0.8_ns_per_B + 0.1_ns_per_B) + n * 0.875 * 0.05_ns_per_B;
  require_close(25_ms + communication, answers[0].replay.step, 1e-9, "T = l_for + l_back + l_up + l_comm");
  require_close(communication, exposed(answers[0].replay.breakdown), 1e-9, "all communication is exposed");
  require_close(n * 1.75 * 0.1_ns_per_B, answers[0].replay.breakdown.stack, 1e-9, "hosts' copies");
}

TEST_CASE("synchronous parameter server: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const int shards : {1, 2, 5})
      for (const ServerPlacement placement : {ServerPlacement::dedicated, ServerPlacement::co_located})
        for (const Exchange& exchange : exchanges()) {
          if (placement == ServerPlacement::co_located && shards > p) continue;
          ParameterServerStrategy strategy;
          strategy.shards = shards;
          strategy.placement = placement;
          strategy.exchange = exchange;
          Cluster cluster = star(p);
          // A worker beside one of several shards copies less than others, which the equations leave out.
          if (placement == ServerPlacement::co_located && shards > 1 && shards < p)
            cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
          cases.push_back({fmt::format("p={} M={} {} {}", p, shards, name_of(placement), describe(exchange)),
                           scenario_of(cluster, strategy)});
        }
  require_all_same(cases);
}

// A shard is on every worker's host, in groups of which the last may be smaller. A worker's own share never travels.
// Shares of other workers of its machine or rack do not leave that.
TEST_CASE("co-located shards in machines and racks: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : {1, 2, 3, 5, 8})
    for (const int size : {1, 2, 3})
      for (const auto& [name, topology] :
           std::map<std::string, Topology>{{"one NIC", Nodes{size, {100_GBps, 1_us}, 1}},
                                           {"NICs", Nodes{size, {100_GBps, 1_us}, 2}},
                                           {"NICs in racks", Nodes{size, {100_GBps, 1_us}, 2, NodeRacks{2, 4.0, 0_us}}},
                                           {"racks", Racks{size, 4.0 * size, 0_us}}}) {
        ParameterServerStrategy strategy;
        strategy.placement = ServerPlacement::co_located;
        strategy.shards = p;
        Scenario scenario = scenario_of(star(p), strategy);
        scenario.cluster.topology = topology;
        cases.push_back({fmt::format("p={} by {} {}", p, size, name), scenario});
      }
  for (const Comparison& c : evaluate_both(cases)) require_same(c, 1e-9, false);
}

TEST_CASE("a worker beside one of two shards copies and sends half as much as others") {
  // 4 workers, n = 14,000,040 B, h = 0.1 ns/B, 25 us, 10 Gb/s, γ = 0.05 ns/B, 24 ms of computing, 1 ms of update on two
  // shards. Workers 0 and 1 copy only the n/2 of each other's shard, 0.7 ms, out before the push and in after the pull.
  // They are 0.7 ms ahead when a step begins, and 1.4 ms ahead with their messages.
  //
  // Each shard's link is therefore busy from the moment when the others have computed (but for 25 us). A quarter of
  // n/2's 5.6 ms is over when two more messages come. 3·4.2 ms later, the first is there. The rest of two others, 1.4
  // ms each, takes 2.8 ms: 1.4 + 12.6 + 2.8 = 3·5.6 ms.
  ParameterServerStrategy strategy;
  strategy.placement = ServerPlacement::co_located;
  strategy.shards = 2;
  Scenario scenario = scenario_of(star(4), strategy);
  const auto answers = evaluate_both({{"two shards", scenario}});
  const Bytes half = 7000020_B;
  const Seconds copy = half * 0.1_ns_per_B, wire = half * 0.8_ns_per_B;
  const Seconds push = 25_us + 2.0 * copy + 3.0 * (wire - 2.0 * copy) + 2.0 * (2.0 * copy);
  // A shard adds four halves, copies three in and three out, and updates half. Then it sends three halves, and the
  // workers copy n.
  const Seconds serve = half * (4.0 * 0.05_ns_per_B + 6.0 * 0.1_ns_per_B) + 0.5_ms;
  require_close(24_ms + push + serve + 25_us + 3.0 * wire + 2.0 * copy, answers[0].replay.step, 1e-9,
                "as each worker copies its own");
  // The equations have all workers copy n first, and 3·n/2 over each link after that.
  require_close(24_ms + 2.0 * copy + 25_us + 3.0 * wire + serve + 25_us + 3.0 * wire + 2.0 * copy,
                answers[0].equations.step, 1e-9, "as if all copied n");
}

TEST_CASE("a worker beside the only shard waits while the other one exchanges") {
  // Two workers, n = 14,000,040 B, no copies. Only worker 1 has anything to send and to receive, 2·(α + nβ), while
  // worker 0 waits.
  ParameterServerStrategy strategy;
  strategy.placement = ServerPlacement::co_located;
  Cluster cluster = star(2);
  cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
  const auto answers = evaluate_both({{"one shard", scenario_of(cluster, strategy)}});
  require_same(answers[0], 1e-9, false);
  const Bytes n = 14000040_B;
  const Seconds exchange = 50_us + 2.0 * n * 0.8_ns_per_B;
  require_close(exchange, exposed(answers[0].equations.breakdown), 1e-9, "the equations charge it to both");
  require_close(0.5 * exchange, exposed(answers[0].replay.breakdown), 1e-9, "the replay to the one");
}

TEST_CASE("a parameter server's step in closed form") {
  // One dedicated shard, whole model, p = 4, n = 14000040 B, update 1 ms on the server: l_for + l_back + [copy out nh +
  // α + pnβ] + [p·n(γ + 2h) + 1 ms] + [α + pnβ + copy in nh].
  const auto answers = evaluate_both({{"one shard", scenario_of(star(4), ParameterServerStrategy{})}});
  const Bytes n = 14000040_B;
  const Seconds exchange = 2.0 * (n * 0.1_ns_per_B + 25_us + 4.0 * n / 10_Gbps);
  const Seconds serve = 4.0 * n * (0.05_ns_per_B + 0.2_ns_per_B) + 1_ms;
  require_close(24_ms + exchange + serve, answers[0].replay.step, 1e-9, "one dedicated shard");
  require_close(serve, answers[0].replay.breakdown.waiting, 1e-9, "workers wait while the server works");
}

TEST_CASE("sharded SGD: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const ShardingStage stage :
         {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
      for (const int prefetch : {0, 1, 2})
        for (const Exchange& exchange : exchanges())
          cases.push_back({fmt::format("p={} {} prefetch {} {}", p, name_of(stage), prefetch, describe(exchange)),
                           scenario_of(star(p), ShardedStrategy{stage, prefetch, {}, exchange})});
  require_all_same(cases);
}

TEST_CASE("sharded SGD in groups: replay equals equations") {
  std::vector<Case> cases;
  for (const auto& [p, group] : {std::pair{4, 2}, {6, 3}, {9, 3}, {8, 8}})
    for (const ShardingStage stage :
         {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
      for (const Exchange& exchange : exchanges()) {
        const ShardedStrategy strategy{stage, 1, {}, exchange, group};
        cases.push_back({fmt::format("p={} g={} {} {}", p, group, name_of(stage), describe(exchange)),
                         scenario_of(star(p), strategy)});
        cases.push_back({cases.back().what + " m=3", accumulating(cases.back().scenario, 3)});
      }
  require_all_same(cases);
}

TEST_CASE("sharded SGD in groups on machines, racks and fabrics: replay equals equations") {
  std::vector<Case> cases;
  const auto on = [&](const char* name, int p, const Topology& topology, const std::vector<WorkerGroup>& groups = {}) {
    Cluster cluster = star(p);
    cluster.topology = topology;
    cluster.groups = groups;
    for (const int group : {2, 4, 8, p})
      if (p % group == 0)
        cases.push_back({fmt::format("{} g={}", name, group),
                         scenario_of(cluster, ShardedStrategy{.exchange = exchanges()[1], .group_size = group})});
  };
  on("machines, one NIC", 16, Nodes{4, Link{100_GBps, 3_us}, 1});
  on("machines, three NICs", 24, Nodes{8, Link{10_GBps, 3_us}, 3});
  on("machines, a NIC each", 32, Nodes{8, Link{100_GBps, 3_us}, 8});
  on("machines, slow inside", 16, Nodes{4, Link{1_GBps, 3_us}, 2});
  on("racks", 16, Racks{4, 6.0, 2_us});
  on("machines in racks", 16, Nodes{4, Link{100_GBps, 3_us}, 2, NodeRacks{2, 4.0, 5_us}});
  on("racks that groups straddle", 24, Racks{3, 2.0, 2_us});
  on("fat tree", 16, FatTree{{4, 4}, {1, 2}, {1, 1}});
  on("torus", 12, Torus{{3, 4}});
  on("dragonfly", 32, Dragonfly{2, 1, 2, 1, 4, 1, 2});
  on("unlike workers", 8, Star{}, {{2, 0.5, 4_Gbps, 60_us}, {1, 2.0, 25_Gbps, 2_us}});
  require_all_same(cases);
}

TEST_CASE("sharding groups of any size on any topology, by any algorithm: replay equals equations") {
  std::mt19937 random(20231);
  const auto one_of = [&](const auto& all) { return all[random() % all.size()]; };
  const std::vector<Algorithm> inside = {Algorithm::automatic, Algorithm::ring, Algorithm::recursive_doubling,
                                         Algorithm::multi_ring};
  const std::vector<Algorithm> between = {Algorithm::automatic,        Algorithm::ring,
                                          Algorithm::halving_doubling, Algorithm::recursive_doubling,
                                          Algorithm::binary_tree,      Algorithm::double_binary_tree,
                                          Algorithm::reduce_broadcast};
  std::vector<Case> cases;
  while (cases.size() < 150) {
    const int p = one_of(std::vector{8, 12, 16, 24, 32, 36});
    Cluster cluster = star(p);
    const std::vector<Topology> topologies = {
        Star{},
        Nodes{4, Link{BytesPerSecond(2e9 * static_cast<double>(1 + random() % 50)), 3_us},
              static_cast<int>(1 + random() % 4)},
        Racks{5, 3.0, 2_us},
        FatTree{{4, 9}, {1, 2}, {1, 1}},
        Torus{{6, 6}},
        Dragonfly{2, 1, 3, 1, 3, 1, 2}};
    cluster.topology = one_of(topologies);
    if (std::holds_alternative<Star>(cluster.topology)) cluster.groups = {{3, 0.7, 4_Gbps, 60_us}};
    ShardedStrategy strategy{.stage = static_cast<ShardingStage>(random() % 3),
                             .exchange = one_of(exchanges()),
                             .group_size = one_of(std::vector{2, 3, 4, 6, 8, 12, 16})};
    if (p % *strategy.group_size != 0) continue;
    strategy.collective.algorithm = one_of(inside);
    strategy.all_reduce.algorithm = one_of(between);
    if (random() % 2 == 0) strategy.reduce_dtype = Dtype::bf16;
    cases.push_back(
        {fmt::format("p={} topology {} g={} {} inside, {} between", p, cluster.topology.index(), *strategy.group_size,
                     name_of(strategy.collective.algorithm), name_of(strategy.all_reduce.algorithm)),
         scenario_of(cluster, strategy)});
  }
  require_all_same(cases);
}

TEST_CASE(
    "thousands of workers in groups of a machine, some to a machine, and of several machines: folded replay equals equations") {
  // More than whose routes are priced: the equations are closed forms by path, exact here, where a round's messages are
  // alike.
  std::vector<Case> cases;
  for (const int group : {4, 8, 32})
    for (const int nics : {1, 8}) {
      ShardedStrategy strategy{.exchange = exchanges()[3], .group_size = group};
      strategy.collective.algorithm = Algorithm::ring;
      // If a machine had two groups, a ring between groups would stay on it every other time.
      strategy.all_reduce.algorithm = group == 4 ? Algorithm::hierarchical : Algorithm::halving_doubling;
      strategy.all_reduce.between_groups = Algorithm::halving_doubling;
      Cluster cluster = star(8192);
      cluster.topology = Nodes{8, Link{100_GBps, 3_us}, nics};
      cases.push_back({fmt::format("g={} {} NICs", group, nics), scenario_of(cluster, strategy)});
      cases.back().scenario.evaluation.fidelity = Fidelity::folded;
    }
  require_all_same(cases);
}

TEST_CASE("a step of groups that are machines, by hand") {
  // 2 machines of 4, 2 NICs; whole model, n = 14000040 B; stage parameters, rings; 25 ms of computation, a fourth of
  // the update. Inside 10 GB/s and 3 us: gathered in S + 3·(3 us + n/4·(0.1 + h)), reduced in the same and 3/4·nγ.
  // Between, 4 pairs sum n/4 up in 2 rounds of n/8, two over each NIC of 10 Gb/s: S + 2·(28 us + n/8·(1.6 + h)) +
  // n/8·γ.
  ShardedStrategy strategy{.exchange = Exchange{}, .group_size = 4};
  strategy.collective.algorithm = strategy.all_reduce.algorithm = Algorithm::ring;
  Cluster cluster = star(8);
  cluster.topology = Nodes{4, Link{10_GBps, 3_us}, 2};
  const auto answers = evaluate_both({{"HSDP", scenario_of(cluster, strategy)}});
  const Bytes n = 14000040_B;
  const Seconds inside = 7_us + 3.0 * (3_us + n / 4.0 * (0.1_ns_per_B + 0.1_ns_per_B)),
                between = 7_us + 2.0 * (28_us + n / 8.0 * (1.6_ns_per_B + 0.1_ns_per_B)) + n / 8.0 * 0.05_ns_per_B;
  const Seconds exchange = 2.0 * inside + n * 0.75 * 0.05_ns_per_B + between;
  for (const StepForecast* f : {&answers[0].equations, &answers[0].replay}) {
    require_close(24_ms + 1_ms / 4.0 + exchange, f->step, 1e-9, "step");
    require_close(exchange, exposed(f->breakdown), 1e-8, "all of it exposed");
  }
}

TEST_CASE("pipelined SGD: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const int width : {1, 2, 3})
      for (const int segments : {1, 3}) {
        PipelinedStrategy strategy;
        strategy.width = width;
        strategy.segments = segments;
        cases.push_back({fmt::format("p={} K={} L={}", p, width, segments), scenario_of(star(p), strategy)});
      }
  require_all_same(cases);
}

TEST_CASE("a very wide pipeline's breakdown covers the counted steps, though they were computed long before") {
  // Ring, p = 4, 5 Gb/s, n = 14000040 B: S + 6α + 1.5 n(β + h) + 0.75 nγ = 36.4 ms against 25 ms of computing. With 256
  // iterations in flight computing runs ahead for 256·36.4/(36.4 - 25) = 817 steps: no period in the 1028 allowed.
  PipelinedStrategy strategy;
  strategy.width = 256;
  strategy.collective.algorithm = Algorithm::ring;
  Scenario scenario = scenario_of(star(4), strategy);
  scenario.cluster.link.bandwidth = 5_Gbps;
  scenario.evaluation.max_steps = 1028;
  const auto answers = evaluate_both({{"K=256", scenario}});
  const Bytes n = 14000040_B;
  const Seconds exchange = 7_us + 6.0 * 25_us + n * 1.5 * (1.6_ns_per_B + 0.1_ns_per_B) + n * 0.75 * 0.05_ns_per_B;
  for (const StepForecast* f : {&answers[0].equations, &answers[0].replay}) {
    require_close(exchange, f->step, 1e-9, "the exchange bounds the step");
    require_close(10_ms, f->breakdown.forward, 1e-8, "forward");
    require_close(14_ms, f->breakdown.backward, 1e-8, "backward");
    require_close(1_ms, f->breakdown.update, 1e-8, "update");
    require_close(exchange - 25_ms, exposed(f->breakdown), 1e-8, "the rest of the exchange");
  }
  CHECK(answers[0].replay.no_period);
}

TEST_CASE("pipelined SGD with compressors and warm-up steps") {
  std::vector<Case> cases;
  for (const int warmup : {0, 1, 4}) {
    PipelinedStrategy strategy;
    strategy.segments = 2;
    strategy.warmup_steps = warmup;
    Scenario scenario = scenario_of(star(5), strategy);
    scenario.compressor = RatioCompressor{4.0, 0.03_ns_per_B, 0.05_ns_per_B};
    cases.push_back({fmt::format("warm-up {}", warmup), scenario});
  }
  require_all_same(cases);
}

TEST_CASE("gossip: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const bool overlap : {true, false})
      for (const NeighbourGraph graph : {NeighbourGraph::ring, NeighbourGraph::torus, NeighbourGraph::exponential,
                                         NeighbourGraph::complete, NeighbourGraph::one_peer_exponential})
        cases.push_back({fmt::format("p={} overlap={} {}", p, overlap, name_of(graph)),
                         scenario_of(star(p), GossipStrategy{overlap, graph})});
  require_all_same(cases);
}

TEST_CASE("local SGD: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : kWorkers)
    for (const int steps : {1, 3, 8})
      for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor, Grouping::bucketed})
        cases.push_back(
            {fmt::format("p={} H={} {}", p, steps, name_of(grouping)),
             scenario_of(star(p),
                         LocalSgdStrategy{
                             .steps = steps, .grouping = grouping, .bucket_cap = 6_MB, .outer_update_factor = 1.5})});
  require_all_same(cases);
}

TEST_CASE("local SGD in closed form") {
  // Ring, p = 8, n = 4·3500010 B, H = 4, an outer update of 2·1 ms: 25 ms + (S + 14α + 7/4·n(β + h) + 7/8·nγ + 2 ms)/4.
  LocalSgdStrategy strategy{.steps = 4, .outer_update_factor = 2};
  strategy.collective.algorithm = Algorithm::ring;
  const auto answers = evaluate_both({{"ring", scenario_of(star(8), strategy)}});
  const Bytes n = 14000040_B;
  const Seconds exchange = 7_us + 14.0 * 25_us + n * 1.75 * (0.8_ns_per_B + 0.1_ns_per_B) + n * 0.875 * 0.05_ns_per_B;
  require_close(25_ms + (exchange + 2_ms) / 4.0, answers[0].replay.step, 1e-9, "f + b + u + (T + o·u)/H");
  require_close(exchange / 4.0, exposed(answers[0].replay.breakdown), 1e-9, "all communication is exposed");
}

TEST_CASE("islands: replay equals equations") {
  std::vector<Case> cases;
  const std::optional<ShardingStage> stages[] = {std::nullopt, ShardingStage::optimizer_state, ShardingStage::gradients,
                                                 ShardingStage::parameters};
  for (const auto& [p, g] : {std::pair(4, 2), std::pair(8, 4), std::pair(9, 3)})
    for (const int steps : {1, 4})
      for (const int fragments : {1, 2})
        for (const auto& stage : stages)
          for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
            if (fragments > steps) continue;
            const Scenario plain = scenario_of(
                star(p), LocalSgdStrategy{.steps = steps,
                                          .outer_update_factor = p == 8 ? 1.5 : 0.0,
                                          .fragments = fragments,
                                          .islands = Islands{.size = g, .sharding = stage, .grouping = grouping}});
            const std::string name = fmt::format("p={} g={} H={} P={} {} {}", p, g, steps, fragments,
                                                 stage ? name_of(*stage) : "replicated", name_of(grouping));
            Scenario negotiating = plain, machines = plain;
            negotiating.cluster.stack.negotiation_cost = 2_ms;
            machines.cluster.topology = Nodes{g, {100_GBps, 3_us}, g};
            cases.push_back({name, plain});
            cases.push_back({name + " negotiating", negotiating});
            cases.push_back({name + " in machines", machines});
            cases.push_back({name + " in 3 passes", accumulating(plain, 3)});
            if (stage || steps == 1 || fragments > 1) continue;
            Scenario hierarchical = machines;
            std::get<LocalSgdStrategy>(hierarchical.strategy).islands->steps = 2;
            cases.push_back({name + " averaged inside", hierarchical});
            cases.push_back({name + " averaged inside, in 3 passes", accumulating(hierarchical, 3)});
          }
  require_all_same(cases);
}

TEST_CASE("averages in flight and in fragments: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : {1, 3, 8})
    for (const int steps : {1, 3, 8})
      for (const int fragments : {1, 2, 3})
        for (const int averaging_steps : {0, 1, 2, steps}) {
          if (fragments > steps || averaging_steps > steps) continue;
          for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
            const std::string name =
                fmt::format("p={} H={} P={} tau={} {}", p, steps, fragments, averaging_steps, name_of(grouping));
            const Scenario plain = scenario_of(star(p), LocalSgdStrategy{.steps = steps,
                                                                         .grouping = grouping,
                                                                         .outer_update_factor = p == 8 ? 1.5 : 0.0,
                                                                         .fragments = fragments,
                                                                         .averaging_steps = averaging_steps});
            Scenario negotiating = plain;
            negotiating.cluster.stack.negotiation_cost = 2_ms;
            cases.push_back({name, plain});
            cases.push_back({name + " negotiating", negotiating});
            cases.push_back({name + " in 3 passes", accumulating(plain, 3)});
          }
        }
  require_all_same(cases);
}

TEST_CASE("accumulated gradients: replay equals equations") {
  std::vector<Case> cases;
  for (const int p : {1, 2, 5, 8})
    for (const int passes : {2, 7}) {
      const auto add = [&](const char* what, const Strategy& strategy) {
        cases.push_back(
            {fmt::format("{} p={} m={}", what, p, passes), accumulating(scenario_of(star(p), strategy), passes)});
      };
      for (const Exchange& exchange : exchanges()) {
        add("all-reduce", AllReduceStrategy{{}, exchange});
        ParameterServerStrategy servers;
        servers.exchange = exchange;
        add("servers", servers);
        servers.placement = ServerPlacement::co_located;
        servers.shards = p;
        add("co-located servers", servers);
        servers.steps = 3;
        add("co-located servers every 3 steps", servers);
      }
      add("pipelined", PipelinedStrategy{2, 3, 0, {}});
      add("gossip", GossipStrategy{true});
      add("gossip, not overlapped", GossipStrategy{false});
      add("local SGD", LocalSgdStrategy{.steps = 3});
    }
  require_all_same(cases);
}

TEST_CASE("asynchronous workers push once for all passes of a step") {
  // One worker has nobody to wait for but the server's answer: three more passes take 3·(10 + 14) ms.
  ParameterServerStrategy server;
  server.consistency = Consistency::asynchronous;
  Scenario alone = scenario_of(star(1), server), stale = alone;
  std::get<ParameterServerStrategy>(stale.strategy).consistency = Consistency::stale_synchronous;
  for (Scenario* scenario : {&alone, &stale}) scenario->evaluation.evaluator = Evaluator::replay;
  const auto answers = replay_all(
      {{"m=1", alone}, {"m=4", accumulating(alone, 4)}, {"stale, m=1", stale}, {"stale, m=4", accumulating(stale, 4)}});
  require_close(answers[0].step + 72_ms, answers[1].step, 1e-9, "asynchronous");
  require_close(answers[2].step + 72_ms, answers[3].step, 1e-9, "stale-synchronous");
}

TEST_CASE("two speeds: a synchronous step waits for the slow workers") {
  // 2 of 8 workers at half speed compute 50 ms instead of 25. Nobody's exchange is hidden. Fast workers wait 24 ms in
  // front of the exchange. They wait 1 ms for the slow ones' update at the next exchange: 25 ms in all.
  Cluster cluster = star(8);
  cluster.groups = {{2, 0.5, {}, {}}};
  AllReduceStrategy strategy{.exchange = {.grouping = Grouping::whole_model}};
  strategy.collective.algorithm = Algorithm::ring;
  const auto answers = evaluate_both({{"two speeds", scenario_of(cluster, strategy)}});
  require_same(answers[0], 1e-9);
  const Bytes n = 14000040_B;
  const Seconds communication = 7_us + 14.0 * 25_us + n * 1.75 * 0.9_ns_per_B + n * 0.875 * 0.05_ns_per_B;
  require_close(50_ms + communication, answers[0].replay.step, 1e-9, "slowest worker + exchange");
  require_close(0.75 * 25_ms, answers[0].replay.breakdown.waiting, 1e-9, "six of eight workers wait 25 ms");
  for (const StepForecast* f : {&answers[0].equations, &answers[0].replay}) {
    REQUIRE(f->kinds.size() == 2);
    const auto& [fast, slow] = std::pair(f->kinds[0], f->kinds[1]);
    CHECK(fast.first == 0);
    CHECK(fast.count == 6);
    CHECK(slow.first == 6);
    CHECK(slow.count == 2);
    require_close(25_ms, fast.breakdown.waiting, 1e-9, "a fast worker waits for the slow ones");
    CHECK(slow.breakdown.waiting < 1_ns);
    require_close(20_ms, slow.breakdown.forward, 1e-9, "a slow worker's forward, twice 10 ms");
    require_close(communication, exposed(slow.breakdown), 1e-9, "a slow worker's exchange");
  }
}

TEST_CASE("property: replay equals equations on random synchronous, pipelined and local steps") {
  property(
      "replay equals equations",
      [] {
        Cluster cluster = star(integer_between(1, 12));
        cluster.link = {BytesPerSecond(positive_between(1e7, 1e11)), Seconds(positive_between(1e-7, 1e-3))};
        cluster.reduction_cost = SecondsPerByte(coin() ? positive_between(1e-12, 1e-9) : 0.0);
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-12, 1e-9) : 0.0);
        WorkloadTable table = small_workload();
        for (GradientTensor& gradient : table.gradients) {
          gradient.elements = integer_between(1, 5000000);
          gradient.gap = Seconds(positive_between(1e-6, 1e-2));
        }
        const Exchange exchange{coin() ? Grouping::per_tensor : Grouping::whole_model, 25_MiB, {1_MiB}, coin()};
        cluster.stack.backward_slowdown = real_between(1.0, 1.2);
        Scenario scenario = scenario_of(cluster, AllReduceStrategy{{}, exchange});
        if (coin()) scenario.strategy = PipelinedStrategy{integer_between(1, 4), integer_between(1, 4), 0, {}};
        if (coin()) {
          const int steps = integer_between(1, 9);
          scenario.strategy = LocalSgdStrategy{.steps = steps,
                                               .grouping = exchange.grouping,
                                               .outer_update_factor = coin() ? real_between(0, 2) : 0.0,
                                               .fragments = integer_between(1, steps),
                                               .averaging_steps = integer_between(0, steps)};
          if (auto& local = std::get<LocalSgdStrategy>(scenario.strategy); local.averaging_steps == 0 && coin())
            local.islands = random_islands(cluster.workers);
        }
        if (coin()) table.accumulation = integer_between(1, 5);
        scenario.workload = std::make_shared<const WorkloadTable>(table);
        scenario.evaluation.max_steps = 2000;
        const auto answers = evaluate_both({{"random", scenario}});
        assert_close(answers[0].equations.step, answers[0].replay.step, 1e-9, "step");
        assert_close(answers[0].equations.first_step, answers[0].replay.first_step, 1e-9, "first step");
      },
      100);
}
