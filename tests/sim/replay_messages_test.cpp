// Messages of a replay, by hand.
#include "models/scenario/scenario.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/replay_messages.hpp"

#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

double replay_messages(const Scenario& scenario) {
  return replay_messages(scenario, build_step_graph(scenario, make_workload(scenario)));
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

}  // namespace

TEST_CASE("messages of a replay are those of all its steps and runs") {
  // 3 pushes and 3 pulls of each of 64 workers, in each of 200 steps.
  require_close(76800, replay_messages(asynchronous(64, 3)), 1e-12, "asynchronous servers");

  // A ring of 8: 14 rounds of 8 messages, in the 4 steps until the steady state is proven.
  AllReduceStrategy ring{.exchange = {.grouping = Grouping::whole_model}};
  ring.collective.algorithm = Algorithm::ring;
  Scenario scenario = replayed(8, ring);
  require_close(448, replay_messages(scenario), 1e-12, "ring");
  // With jitter in 50 steps of each of 3 runs.
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  scenario.evaluation.max_steps = 50;
  scenario.evaluation.runs = 3;
  require_close(16800, replay_messages(scenario), 1e-12, "ring with jitter");

  // Trees: every rank but the root sends its sum once and receives the result once, whatever the round.
  const auto messages_of = [](int p, const CollectiveChoice& choice) {
    AllReduceStrategy strategy{.exchange = {.grouping = Grouping::whole_model}};
    strategy.collective = choice;
    return replay_messages(replayed(p, strategy));
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

  // A ring of gossip: two messages a worker, 4 steps.
  require_close(64, replay_messages(replayed(8, GossipStrategy{})), 1e-12, "gossip");
}

TEST_CASE("messages of servers") {
  // A shard on each of 64 hosts: 2·64·64·10.
  Scenario scenario = asynchronous(64, 64);
  std::get<ParameterServerStrategy>(scenario.strategy).placement = ServerPlacement::co_located;
  scenario.evaluation.max_steps = 10;
  require_close(81920, replay_messages(scenario), 1e-12, "a shard on each host");
  // Two of them have a quarter of the speed. The others do up to 62.5/64/0.25 steps for one of theirs, half of that
  // more than one.
  scenario.cluster.groups = {{2, 0.25, {}, {}}};
  require_close(81920 * (1 + 62.5 / 16) / 2, replay_messages(scenario), 1e-12, "unlike speeds");
  std::get<ParameterServerStrategy>(scenario.strategy).consistency = Consistency::stale_synchronous;
  require_close(81920, replay_messages(scenario), 1e-12, "stale-synchronous");
  // Synchronous on a 4x4x2 torus: 2·32·32 messages in each of 48 steps until these are alike.
  scenario = asynchronous(32, 32);
  std::get<ParameterServerStrategy>(scenario.strategy).placement = ServerPlacement::co_located;
  std::get<ParameterServerStrategy>(scenario.strategy).consistency = Consistency::synchronous;
  scenario.cluster.topology = Torus{{4, 4, 2}};
  require_close(48 * 2048, replay_messages(scenario), 1e-12, "torus");
}
