// The message before a long replay: number of messages, time, and ways to shorten it.
#include "models/scenario/scenario.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/replay_effort.hpp"

#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

ReplayEffort replay_effort(const Scenario& scenario) {
  return replay_effort(scenario, build_step_graph(scenario, make_workload(scenario)));
}

Scenario replayed(int p, const Strategy& strategy) {
  Scenario scenario = scenario_of(star(p), strategy);
  scenario.evaluation.evaluator = Evaluator::replay;
  return scenario;
}

Scenario asynchronous(int p, int shards) {
  ParameterServerStrategy strategy;
  strategy.shards = shards;
  strategy.consistency = Consistency::asynchronous;
  return replayed(p, strategy);
}

std::string announcement_of(const Scenario& scenario) {
  Study study;
  study.points = {{{}, scenario, {}, {}, {}, {}}};
  return announce_long_replays(study);
}

}  // namespace

TEST_CASE("messages of a replay are those of all its steps and runs") {
  // 3 pushes and 3 pulls of each of 64 workers, in each of 200 steps; 4 us + 64·0.33 us each.
  const ReplayEffort servers = replay_effort(asynchronous(64, 3));
  require_close(76800, servers.messages, 1e-12, "asynchronous servers");
  require_close(76800 * 25.12e-6, servers.seconds, 1e-12, "asynchronous servers");

  // A ring of 8: 14 rounds of 8 messages, in the 4 steps until the steady state is proven.
  AllReduceStrategy ring;
  ring.collective.algorithm = Algorithm::ring;
  Scenario scenario = replayed(8, ring);
  require_close(448, replay_effort(scenario).messages, 1e-12, "ring");
  require_close(448 / 3e5, replay_effort(scenario).seconds, 1e-12, "ring");
  // With jitter in 50 steps of each of 3 runs.
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  scenario.evaluation.max_steps = 50;
  scenario.evaluation.runs = 3;
  require_close(16800, replay_effort(scenario).messages, 1e-12, "ring with jitter");

  // Trees: every rank but the root sends its sum once and receives the result once, whatever the round.
  const auto messages_of = [](int p, const CollectiveChoice& choice) {
    AllReduceStrategy strategy;
    strategy.collective = choice;
    return replay_effort(replayed(p, strategy)).messages;
  };
  require_close(4 * 2 * 12, messages_of(13, {Algorithm::reduce_broadcast, {}, {}}), 1e-12, "reduce and broadcast");
  require_close(4 * 2 * 12, messages_of(13, {Algorithm::binary_tree, {}, {}}), 1e-12, "binary tree");
  // Two trees, up and down, each of 5 segments over each of 12 edges.
  require_close(4 * 2 * 2 * 5 * 12, messages_of(13, {Algorithm::double_binary_tree, {}, {5}}), 1e-12,
                "double binary tree");
  // The same of each of 3 pairs.
  require_close(4 * 3 * 2 * 2 * 5 * 12, messages_of(13, {Algorithm::nccl_tree, {4}, {5}, {3}}), 1e-12, "NCCL's tree");
  // 13 = 8 + 5: 5 fold in, 8 exchange in 3 rounds each way, 5 fold out.
  require_close(4 * (5 + 2 * 3 * 8 + 5), messages_of(13, {Algorithm::halving_doubling, {}, {}}), 1e-12,
                "halving and doubling");
  // 4 groups of 3: all 12 send in 2·2 rounds inside and 2·3 between groups.
  require_close(4 * 12 * (2 * 2 + 2 * 3), messages_of(12, {Algorithm::hierarchical, {3}, {}, {}, Algorithm::ring}),
                1e-12, "hierarchical");
  require_close(4 * 12 * (2 * 2 + 2),
                messages_of(12, {Algorithm::hierarchical, {3}, {}, {}, Algorithm::recursive_doubling}), 1e-12,
                "hierarchical, recursive doubling between");
  // Three rings: three messages from each in each of 2·11 rounds.
  require_close(4 * 12 * 3 * 22, messages_of(12, {Algorithm::multi_ring, {3}, {}, {3}}), 1e-12, "multi-ring");

  // A ring of gossip: two messages a worker, 4 steps. Folded: none.
  scenario = replayed(8, GossipStrategy{});
  require_close(64, replay_effort(scenario).messages, 1e-12, "gossip");
  scenario.evaluation.fidelity = Fidelity::automatic;
  CHECK(replay_effort(scenario).messages == 0);

  // Folding by one pair of trees: 12 edges, two trees, both ways, 5 segments; of 100 segments as many as there are
  // places, 2·3.
  const auto folding = [](int segments) {
    AllReduceStrategy strategy;
    strategy.collective = {Algorithm::nccl_tree, {1}, {segments}, {1}};
    Scenario folded = replayed(13, strategy);
    folded.evaluation.fidelity = Fidelity::automatic;
    return replay_effort(folded);
  };
  require_close(12 * 2 * 2 * 5, folding(5).messages, 1e-12, "5 segments");
  require_close(12 * 2 * 2 * 6, folding(100).messages, 1e-12, "100 segments");
  require_close(288 * 0.6e-6 * (1 + 13 / 28000.0), folding(100).seconds, 1e-12, "seconds");
}

TEST_CASE("the cost of servers' messages rises with those beside them") {
  const auto co_located = [](int p, int shards) {
    Scenario scenario = asynchronous(p, shards);
    std::get<ParameterServerStrategy>(scenario.strategy).placement = ServerPlacement::co_located;
    scenario.evaluation.max_steps = 10;
    return scenario;
  };
  // A shard on each of 64 hosts: 2·64·64·10 messages of 5 us + 0.05 us·64². Measured: 260 us each.
  Scenario scenario = co_located(64, 64);
  require_close(81920 * 209.8e-6, replay_effort(scenario).seconds, 1e-12, "a shard on each host");
  // Two of them have a quarter of the speed. The others do up to 62.5/64/0.25 steps for one of theirs, half of that
  // more than one.
  scenario.cluster.groups = {{2, 0.25, {}, {}}};
  require_close(81920 * (1 + 62.5 / 16) / 2, replay_effort(scenario).messages, 1e-12, "unlike speeds");
  std::get<ParameterServerStrategy>(scenario.strategy).consistency = Consistency::stale_synchronous;
  require_close(81920, replay_effort(scenario).messages, 1e-12, "stale-synchronous");
  // Out of step: on 24 of 48 hosts. Measured: 190 us each; 92 to 111 us with jitter on 32 hosts.
  require_close(5e-6 + 0.14e-6 * 48 * 24, replay_effort(co_located(48, 24)).seconds / (2 * 48 * 24 * 10), 1e-12,
                "a shard on half the hosts");
  scenario = co_located(32, 32);
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  require_close(5e-6 + 0.14e-6 * 32 * 32, replay_effort(scenario).seconds / (2 * 32 * 32 * 10), 1e-12, "jitter");
  // Synchronous on a 4x4x2 torus, 48 steps until they are alike: measured 5.4 s in full, 2.9 s folded to 32 workers and
  // 1024 messages.
  std::get<ParameterServerStrategy>(scenario.strategy).consistency = Consistency::synchronous;
  scenario.cluster.jitter = {};
  scenario.cluster.topology = Torus{{4, 4, 2}};
  require_close(48 * 2048 * (4e-6 + 0.1e-6 * 1024), replay_effort(scenario).seconds, 1e-12, "torus");
  scenario.evaluation.fidelity = Fidelity::automatic;
  require_close(48 * 1024 * (4e-6 + 0.1e-6 * 512), replay_effort(scenario).seconds, 1e-12, "folded");
}

TEST_CASE("a long replay is announced with ways to shorten it") {
  // 256 workers: 2·4·256·200 = 409600 messages of 88.5 us, 36.2 s.
  CHECK(announcement_of(asynchronous(64, 4)).empty());
  Scenario scenario = asynchronous(256, 4);
  CHECK(
      announcement_of(scenario) ==
      "replaying about 0.41 million messages, some 36 s on one core; equations cannot answer it; less of /evaluation/max_steps (now 200) or /strategy/shards (now 4) or /cluster/workers (now 256) shortens it");
  scenario.evaluation.max_steps = 20;  // 3.6 s
  CHECK(announcement_of(scenario).empty());

  // A ring of 1024 in full: 4·2046·1024 messages, 27.9 s, which equations know.
  AllReduceStrategy ring;
  ring.collective.algorithm = Algorithm::ring;
  scenario = replayed(1024, ring);
  CHECK(announcement_of(scenario) ==
        "replaying about 8.4 million messages, some 28 s on one core; --evaluator equations answers at once");
  // With jitter, 60 steps of 16 workers with 30 rounds each, in 1000 runs: 28.8 million messages.
  scenario = replayed(16, ring);
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  scenario.evaluation.max_steps = 60;
  scenario.evaluation.runs = 1000;
  CHECK(
      announcement_of(scenario) ==
      "replaying about 29 million messages, some 96 s on one core; equations cannot answer it; less of /evaluation/max_steps (now 60) or /evaluation/runs (now 1000) or /cluster/workers (now 16) shortens it");
  scenario.evaluation.evaluator = Evaluator::equations;
  CHECK(announcement_of(scenario).empty());
}
