// Folded replay equals full replay of the same scenario, with every worker and message, or one of each class.
//
// Full replay is the referee. Both share the step graph and the streams, but neither the messages nor the platform.
#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/foldable.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/folding.hpp"
#include "sim/replay/processes.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_gossip.hpp"
#include "tests/support/random_islands.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

struct Both {
  StepForecast full, folded;
};

/// Both replays at once, each in a process.
Both replay_both(const Scenario& scenario) {
  const Workload workload = make_workload(scenario);
  const StepGraph graph = build_step_graph(scenario, workload);
  Scenario folded = scenario, full = scenario;
  folded.evaluation.fidelity = Fidelity::folded;
  full.evaluation.fidelity = Fidelity::full;
  const auto results = run_in_processes(2, 2, [&](std::size_t i) {
    return answer({i == 0 ? &full : &folded, &graph, 0});
  });
  for (const auto& result : results)
    if (!result.error.empty()) throw std::runtime_error(result.error);
  return {combine({results[0].value}), combine({results[1].value})};
}

/// Differences beyond 1e-9, or "".
std::string difference(const Both& both) {
  const StepForecast &full = both.full, &folded = both.folded;
  const double step = full.step.si();
  std::string text;
  const auto compare = [&](const char* what, Seconds a, Seconds b, double scale, double tolerance) {
    if (!(std::abs(a.si() - b.si()) <= tolerance * scale))
      text += fmt::format("{}: full {:.15g} s, folded {:.15g} s; ", what, a.si(), b.si());
  };
  compare("step", full.step, folded.step, step, 1e-9);
  compare("first step", full.first_step, folded.first_step, full.first_step.si(), 1e-9);
  // Its parts are sums over many intervals.
  const auto part = [&](const char* what, Seconds Breakdown::*member) {
    compare(what, full.breakdown.*member, folded.breakdown.*member, step, 1e-8);
  };
  part("forward", &Breakdown::forward);
  part("backward", &Breakdown::backward);
  part("exposed communication", &Breakdown::exposed_communication);
  part("stack", &Breakdown::stack);
  part("waiting", &Breakdown::waiting);
  if (full.kinds.size() != folded.kinds.size())
    text += fmt::format("{} and {} kinds of workers; ", full.kinds.size(), folded.kinds.size());
  for (std::size_t k = 0; k < std::min(full.kinds.size(), folded.kinds.size()); ++k) {
    const KindBreakdown &a = full.kinds[k], &b = folded.kinds[k];
    if (a.first != b.first || a.count != b.count)
      text += fmt::format("kind {}: {} workers from {}, {} from {}; ", k, a.count, a.first, b.count, b.first);
    for (const auto member :
         {&Breakdown::forward, &Breakdown::backward, &Breakdown::exposed_communication, &Breakdown::waiting})
      compare("a kind's part", a.breakdown.*member, b.breakdown.*member, step, 1e-8);
  }
  if (!text.empty()) text += fmt::format("({} / {}; {})", full.steady_state, folded.steady_state, folded.fidelity);
  return text;
}

void require_folds_exactly(const Scenario& scenario) {
  std::string found;
  try {
    found = difference(replay_both(scenario));
  } catch (const std::exception& error) {
    found = error.what();
  }
  Json document = to_json(scenario);
  document.erase("workload");
  if (!found.empty()) RC_FAIL(found + "\n" + document.dump(1));
}

// ---- random scenarios

/// A topology with at least `hosts` hosts, and how many groups may have links of their own.
Topology any_topology(int hosts, int& p) {
  switch (integer_between(0, 5)) {
    case 0: return Star{};
    case 1: return Racks{integer_between(1, 9), real_between(1, 5), coin() ? Seconds{} : 3_us};
    case 2: {
      const int g = integer_between(1, 8);
      p = (p + g - 1) / g * g;
      const auto racks =
          coin() ? std::optional<NodeRacks>{} : NodeRacks{integer_between(1, 5), real_between(1, 5), 3_us};
      return Nodes{g, Link{BytesPerSecond(positive_between(5e8, 1e11)), 2_us}, integer_between(1, g), racks,
                   coin() ? NicOfGpu::in_turn : NicOfGpu::neighbours};
    }
    case 3: {
      const int a = integer_between(1, 6), b = integer_between(1, 4), c = std::max(1, (hosts + a * b - 1) / (a * b));
      return FatTree{{a, b, c},
                     {integer_between(1, 2), integer_between(1, 3), integer_between(1, 2)},
                     {integer_between(1, 2), integer_between(1, 2), integer_between(1, 2)}};
    }
    case 4: {
      const int a = integer_between(1, 5), b = integer_between(1, 5);
      return Torus{{a, b, std::max(1, (hosts + a * b - 1) / (a * b))}};
    }
    default: {
      const int routers = integer_between(1, 4), groups = integer_between(1, routers), chassis = integer_between(1, 3),
                all = routers * groups * chassis;
      return Dragonfly{groups,
                       integer_between(1, 3),
                       chassis,
                       integer_between(1, 3),
                       routers,
                       integer_between(1, 3),
                       std::max(1, (hosts + all - 1) / all)};
    }
  }
}

Cluster any_cluster(int p, int shards) {
  Cluster cluster = star(p);
  cluster.topology = any_topology(p + 8 + shards, cluster.workers);
  const bool own_links =
      std::holds_alternative<Star>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology);
  int rest = cluster.workers;
  for (int group = integer_between(0, 3); group > 0 && rest > 0; --group) {
    WorkerGroup& g = cluster.groups.emplace_back();
    g.count = integer_between(1, rest);
    rest -= g.count;
    if (coin()) g.speed = real_between(0.3, 2.0);
    if (own_links && coin()) g.bandwidth = BytesPerSecond(positive_between(1e8, 1e10));
    if (own_links && coin()) g.latency = Seconds(positive_between(1e-6, 1e-4));
  }
  if (coin()) cluster.ring_latency = RingLatency::slowest;
  if (coin()) cluster.in_network_factor = real_between(0.1, 1.0);
  if (coin()) cluster.protocols = {{"quick", 1.0, real_between(0.1, 1.0)}, {"wide", real_between(1.0, 9.0), 1.0}};
  return cluster;
}

Exchange any_exchange() {
  Exchange exchange;
  exchange.grouping = static_cast<Grouping>(integer_between(0, 2));
  exchange.overlap = coin();
  exchange.first_bucket.value = 1_MB;
  exchange.bucket_cap = Bytes(positive_between(1e6, 1e7));
  return exchange;
}

/// Messages that are summed, gathered, and gathered after their sizes; codecs whose time depends on p.
Compressor any_compressor() {
  const Compressor all[] = {RatioCompressor{2.0, 0.1_ns_per_B, 0.2_ns_per_B},
                            Fp16{},
                            EightBit{},
                            SignSgd{},
                            TopK{.ratio = 0.25},
                            Threshold{.density = 0.25}};
  return all[integer_between(0, 5)];
}

int any_workers(int most) { return integer_between(0, 9) == 0 ? integer_between(1, most) : integer_between(1, 16); }

}  // namespace

TEST_CASE("every collective folds exactly") {
  property(
      "folded equals full, collectives",
      [] {
        const auto algorithms = collective_algorithms();
        const CollectiveAlgorithm& entry = algorithms[integer_between(0, static_cast<int>(algorithms.size()) - 1)];
        const Cluster cluster = any_cluster(any_workers(64), 0);
        // SimGrid takes events less than a nanosecond apart for one, so a byte's 0.8 ns would be too short to compare.
        Scenario scenario =
            collective_of(cluster, entry.operation, entry.algorithm, Bytes(std::floor(positive_between(1e6, 1e9))));
        auto& choice = std::get<CollectiveBenchmark>(scenario.strategy).collective;
        if (entry.algorithm == Algorithm::hierarchical) {
          int g = integer_between(1, cluster.workers);
          while (cluster.workers % g != 0) --g;
          choice.group_size.value = g;
          const auto between = algorithms_between(entry.operation);
          choice.between_groups = between[integer_between(0, static_cast<int>(between.size()) - 1)];
        }
        if ((entry.algorithm == Algorithm::multi_ring || entry.algorithm == Algorithm::nccl_tree) && coin()) {
          choice.group_size.value = integer_between(1, cluster.workers);
          choice.rings.value = integer_between(1, std::min(8, *choice.group_size.value));
        }
        if (coin()) choice.exchange_order = ExchangeOrder::far_first;
        if (entry.algorithm == Algorithm::nccl_tree || entry.algorithm == Algorithm::double_binary_tree ||
            choice.between_groups == Algorithm::double_binary_tree)
          choice.pipeline_segments.value = integer_between(1, 12);
        require_folds_exactly(scenario);
      },
      150);
}

TEST_CASE("every strategy folds exactly") {
  property(
      "folded equals full, strategies",
      [] {
        Strategy strategy;
        int shards = 0;
        bool gossips = false;
        int p = any_workers(64);
        switch (integer_between(0, 7)) {
          case 7:
            strategy =
                ShardedStrategy{.stage = static_cast<ShardingStage>(integer_between(0, 2)), .exchange = any_exchange()};
            break;
          case 0: {
            AllReduceStrategy s;
            s.exchange = any_exchange();
            strategy = s;
            break;
          }
          case 1: {
            PipelinedStrategy s;
            s.width = integer_between(1, 3);
            s.segments = integer_between(1, 3);
            strategy = s;
            break;
          }
          case 2: gossips = true; break;
          case 3: {
            const int steps = integer_between(1, 5);
            strategy = LocalSgdStrategy{.steps = steps,
                                        .grouping = any_exchange().grouping,
                                        .outer_update_factor = coin() ? 1.0 : 0.0,
                                        .fragments = integer_between(1, steps),
                                        .averaging_steps = integer_between(0, steps)};
            break;
          }
          default: {
            ParameterServerStrategy s;
            s.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
            s.shards = integer_between(1, s.placement == ServerPlacement::dedicated ? 6 : std::min(p, 6));
            s.balance = s.shards <= 4 && coin() ? ShardBalance::greedy : ShardBalance::split;
            s.exchange = any_exchange();
            shards = s.shards;
            strategy = s;
          }
        }
        Scenario scenario = scenario_of(any_cluster(p, shards), strategy);
        if (gossips) {
          GossipStrategy gossip = random_gossip(scenario.cluster.workers);
          gossip.steps = integer_between(1, 3);
          scenario.strategy = strategy = gossip;
          scenario.codec.device = device_of(10_us, BytesPerSecond(5e11), FlopsPerSecond(1e13));
          if (coin()) scenario.compressor = coin() ? Compressor(PowerSgd{.rank = 4}) : TopK{.ratio = 0.01};
        }
        scenario.evaluation.max_steps = 60;
        // Beside averages in flight, islands do not fold.
        if (auto* local = std::get_if<LocalSgdStrategy>(&scenario.strategy);
            local && local->averaging_steps == 0 && coin())
          local->islands = random_islands(scenario.cluster.workers);
        if (auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy); sharded && coin()) {
          int g = integer_between(1, scenario.cluster.workers);
          while (scenario.cluster.workers % g != 0) --g;
          sharded->group_size = g > 1 ? g : scenario.cluster.workers;
          if (coin()) sharded->reduce_after = ReduceAfter::every_pass;
        }
        WorkloadTable table = *scenario.workload;
        table.accumulation = integer_between(1, 3);
        scenario.workload = std::make_shared<const WorkloadTable>(table);
        if (!gossips && !std::holds_alternative<ShardedStrategy>(strategy) && coin()) {
          scenario.compressor = any_compressor();
          scenario.codec.device = device_of(10_us, BytesPerSecond(5e11), FlopsPerSecond(1e13));
          scenario.codec.sharing = coin() ? GpuSharing::serial : GpuSharing::fair;
        }
        require_folds_exactly(scenario);
      },
      200);
}

TEST_CASE("shards that differ in their bytes alone fold exactly") {
  // The largest tensor is one shard's, the others the other's; nobody adds, copies or updates, so that both serve in no
  // time.
  property(
      "folded equals full, unequal shards",
      [] {
        Cluster cluster = any_cluster(integer_between(1, 12), 2);
        cluster.reduction_cost = cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
        Scenario scenario = scenario_of(cluster, ParameterServerStrategy{.shards = 2, .balance = ShardBalance::greedy});
        WorkloadTable table = *scenario.workload;
        table.update = {};
        scenario.workload = std::make_shared<const WorkloadTable>(table);
        scenario.evaluation.max_steps = 60;
        require_folds_exactly(scenario);
      },
      20);
}

// Jitter separates the workers, and so do the first begins of asynchronous ones. Workers that a bound or an update holds
// back go on together: they meet at shards at the same time, and rounding decides their order.
TEST_CASE("like shards of asynchronous servers fold exactly") {
  property(
      "folded equals full, asynchronous",
      [] {
        int p = integer_between(1, 6);
        ParameterServerStrategy strategy;
        const Consistency all[] = {Consistency::asynchronous, Consistency::stale_synchronous,
                                   Consistency::backup_workers};
        strategy.consistency = all[integer_between(0, p > 1 ? 2 : 1)];
        strategy.backup_workers = integer_between(1, std::max(1, p - 1));
        strategy.bound = integer_between(0, 3);
        strategy.placement = integer_between(0, 3) > 0 ? ServerPlacement::dedicated : ServerPlacement::co_located;
        strategy.shards = integer_between(1, strategy.placement == ServerPlacement::dedicated ? 6 : p);
        strategy.balance = integer_between(0, 3) > 0 ? ShardBalance::split : ShardBalance::greedy;
        strategy.exchange = any_exchange();
        Scenario scenario = scenario_of(any_cluster(p, strategy.shards), strategy);
        if (strategy.consistency != Consistency::asynchronous || integer_between(0, 1) > 0)
          scenario.cluster.jitter = {JitterDistribution::lognormal, real_between(0.05, 0.5)};
        scenario.evaluation.max_steps = integer_between(4, 8);
        require_folds_exactly(scenario);
      },
      200);
}

TEST_CASE("whole tensors of one size are not alike: they come at other times") {
  // Two equal tensors, each with a shard and a bucket of its own. The second one is ready later.
  WorkloadTable table;
  table.name = "twins";
  table.forward = 20_ms;
  table.gradients = {{"a", 2500000, 20_ms}, {"b", 2500000, 20_ms}};
  for (const Consistency consistency :
       {Consistency::asynchronous, Consistency::stale_synchronous, Consistency::backup_workers}) {
    ParameterServerStrategy strategy{.shards = 2, .consistency = consistency, .balance = ShardBalance::greedy};
    strategy.exchange.grouping = Grouping::per_tensor;
    Scenario scenario = scenario_of(star(4), strategy);
    scenario.workload = std::make_shared<const WorkloadTable>(table);
    scenario.cluster.jitter = {JitterDistribution::lognormal, 0.1};
    scenario.evaluation.max_steps = 20;
    require_folds_exactly(scenario);
  }
}

TEST_CASE("sixteen like shards on a star are one, and no worker stands for another") {
  Scenario scenario = scenario_of(star(8), ParameterServerStrategy{.shards = 16});
  std::get<ParameterServerStrategy>(scenario.strategy).consistency = Consistency::asynchronous;
  const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
  const Fold folded = fold(scenario.cluster, graph);
  CHECK(folded.participants.size() == 8 + 1);
  CHECK(folded.direct_flows.size() == 2 * 8);  // each worker's push and pull
}

TEST_CASE("collectives inside and between groups fold exactly") {
  property(
      "folded equals full, sharding groups",
      [] {
        Cluster cluster = any_cluster(integer_between(2, 12), 0);
        cluster.workers *= integer_between(1, 3);
        cluster.topology = coin() ? Topology(Nodes{cluster.workers, {100_GBps, 2_us}, 1})
                                  : any_topology(cluster.workers + 8, cluster.workers);
        if (const auto* nodes = std::get_if<Nodes>(&cluster.topology); nodes && cluster.workers % 2 == 0 && coin())
          cluster.topology = Nodes{cluster.workers / 2, nodes->inner, integer_between(1, cluster.workers / 2)};
        if (!std::holds_alternative<Star>(cluster.topology) && !std::holds_alternative<Racks>(cluster.topology))
          cluster.groups.clear();
        ShardedStrategy strategy{.stage = static_cast<ShardingStage>(integer_between(0, 2)),
                                 .prefetch = integer_between(0, 2),
                                 .exchange = any_exchange()};
        int g = integer_between(1, cluster.workers);
        while (cluster.workers % g != 0) --g;
        strategy.group_size = g > 1 ? g : cluster.workers;
        constexpr std::array inside = {Algorithm::automatic, Algorithm::ring, Algorithm::recursive_doubling};
        constexpr std::array between = {Algorithm::automatic, Algorithm::ring, Algorithm::halving_doubling,
                                        Algorithm::binary_tree, Algorithm::double_binary_tree};
        strategy.collective.algorithm = inside[integer_between(0, 2)];
        strategy.all_reduce.algorithm = between[integer_between(0, 4)];
        require_folds_exactly(scenario_of(cluster, strategy));
      },
      100);
}

TEST_CASE("like parts are simulated once") {
  const auto folded = [](const Scenario& scenario) {
    return fold(scenario.cluster, build_step_graph(scenario, make_workload(scenario)));
  };
  const auto ring = [&](const Cluster& cluster) {
    return folded(collective_of(cluster, Operation::all_reduce, Algorithm::ring, 100_MB)).collectives.begin()->second;
  };

  // Every rank sends one block to the next: one flow, limited by one host's link; p-1 rounds add up, p-1 do not.
  const FoldedCollective like = ring(star(65536));
  REQUIRE(like.size() == 2);
  CHECK(like[0].times == 65535);
  CHECK(like[1].times == 65535);
  CHECK(like[0].flows == like[1].flows);
  CHECK(like[0].flows->system.flows.size() == 1);
  CHECK(like[0].flows->system.links == std::vector{10_Gbps});

  // One rank is on a link of 1 Gb/s with the same latency. Its messages both ways are limited to that, the other p-2
  // messages to 10 Gb/s.
  Cluster slow = star(1000);
  slow.groups = {{1, 1.0, 1_Gbps, {}}};
  CHECK(ring(slow)[0].flows->system.flows.size() == 2);

  // There are 512 machines of 8 workers, which divide the state inside. Gathering, scattering and summing have one
  // message each. A worker's inner link limits its messages inside. Between machines, two workers share a NIC, half of
  // it each.
  ShardedStrategy inside;
  inside.exchange = Exchange{};
  inside.collective.algorithm = inside.all_reduce.algorithm = Algorithm::ring;
  inside.group_size = 8;
  Cluster machines = star(4096);
  machines.topology = Nodes{8, Link{100_GBps, 3_us}, 4};
  const Fold groups = folded(scenario_of(machines, inside));
  REQUIRE(groups.participants.size() == 1);
  REQUIRE(groups.collectives.size() == 3);
  for (const auto& [key, collective] : groups.collectives) {
    const Communicators& among = std::get<Communicators>(key);
    INFO(among.members << " members");
    CHECK(collective[0].times == among.members - 1);
    REQUIRE(collective[0].flows->system.flows.size() == 1);
    CHECK(collective[0].flows->system.links ==
          std::vector{among.stride == 1 ? BytesPerSecond(100_GBps) : 10_Gbps / 2.0});
  }

  // 4096 like workers and 64 like servers: one of each, a push and a pull. 4096 flows share a server's link, 64 a
  // worker's. Each count loses its common factor, so a flow gets 10 Gb/s / 4096.
  ParameterServerStrategy many;
  many.shards = 64;
  const Fold servers = folded(scenario_of(star(4096), many));
  REQUIRE(servers.participants.size() == 2);
  CHECK(servers.participants[0].count == 4096);
  CHECK(servers.participants[1].count == 64);
  REQUIRE(servers.direct.flows.size() == 2);
  CHECK(*std::min_element(servers.direct.links.begin(), servers.direct.links.end()) == 10_Gbps / 4096.0);
}

TEST_CASE("auto folds if that leaves less to simulate") {
  // 25 workers and shards in a row on a 4x4x2 torus are all unlike: 25·25 messages each way. 32 have a twin each.
  const auto decided = [](int p, const Topology& topology) {
    Cluster cluster = star(p);
    cluster.topology = topology;
    ParameterServerStrategy servers;
    servers.placement = ServerPlacement::co_located;
    servers.shards = p;
    Scenario scenario = scenario_of(cluster, servers);
    scenario.evaluation.fidelity = Fidelity::automatic;
    const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
    FidelityDecision decision = decide_fidelity(scenario, graph);
    scenario.evaluation.fidelity = Fidelity::folded;
    CHECK(decide_fidelity(scenario, graph).folds);  // as asked
    return decision;
  };
  const FidelityDecision some = decided(25, Torus{{4, 4, 2}});
  CHECK(!some.folds);
  CHECK(some.why_full == "folding would leave 1250 of 1250 messages");
  const FidelityDecision all = decided(32, Torus{{4, 4, 2}});
  CHECK(all.folds);
  REQUIRE(all.fold);
  CHECK(all.fold->direct_flows.size() == 1024);
  CHECK(decided(32, Star{}).folds);
}

TEST_CASE("scenarios that cannot be folded exactly are not") {
  Scenario scenario = scenario_of(star(4), AllReduceStrategy{});
  CHECK_FALSE(folding_refusal(scenario));
  scenario.evaluation.fidelity = Fidelity::automatic;
  scenario.evaluation.max_steps = 10;
  Scenario jitter = scenario, tcp = scenario, asynchronous = scenario;
  jitter.cluster.jitter = {JitterDistribution::gamma, 0.1};
  tcp.cluster.transport = TcpTransport{};
  ParameterServerStrategy one_by_one;
  one_by_one.consistency = Consistency::asynchronous;
  asynchronous.strategy = one_by_one;
  const auto answers =
      replay_all({{"like", scenario}, {"jitter", jitter}, {"tcp", tcp}, {"asynchronous", asynchronous}});
  CHECK(answers[0].fidelity.starts_with("folded: 1 participant"));
  CHECK(answers[1].fidelity.ends_with("each worker computes by its own draws"));
  CHECK(answers[2].fidelity.starts_with("full: TCP flows share links by"));
  CHECK(answers[3].fidelity.starts_with("folded"));
}
