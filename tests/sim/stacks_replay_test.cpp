// Replay equals equations for stacks: copies by class of link, slices, and the costs of an operation, of a protocol and
// of a buffer's bytes.
#include <cmath>

#include <fmt/format.h>

#include "tests/sim/fixed_random.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Stack random_stack() {
  Stack stack;
  stack.host_cost = SecondsPerByte(coin() ? 0 : positive_between(1e-11, 2e-9));
  stack.inner_host_cost = SecondsPerByte(coin() ? 0 : positive_between(1e-11, 2e-9));
  if (integer_between(0, 3) > 0) stack.slice = Bytes(positive_between(1e4, 1e7));
  stack.operation_cost = Seconds(coin() ? 0 : positive_between(1e-6, 1e-3));
  stack.negotiation_cost = Seconds(coin() ? 0 : positive_between(1e-6, 1e-2));
  stack.sum_byte_cost = SecondsPerByte(coin() ? 0 : positive_between(1e-11, 2e-9));
  if (coin()) stack.byte_cost_limit = Bytes(positive_between(1e4, 1e7));
  if (coin()) stack.cycle = Seconds(positive_between(1e-4, 2e-2));
  if (coin()) stack.connection_bandwidth = BytesPerSecond(positive_between(5e7, 1.5e9));
  stack.connections = integer_between(1, 4);
  if (integer_between(0, 3) == 0) stack.connection_bandwidth = 5_Gbps / stack.connections;
  return stack;
}

Cluster random_cluster(int p) {
  Cluster cluster = star(p);
  cluster.link.latency = Seconds(positive_between(1e-6, 1e-2));
  const Link inner{BytesPerSecond(positive_between(1e9, 1e11)), Seconds(positive_between(1e-6, 1e-4))};
  switch (integer_between(0, 3)) {
    case 0: cluster.topology = Nodes{4, inner, integer_between(1, 4)}; break;
    case 1: cluster.topology = Racks{4, 2.0, Seconds(positive_between(1e-6, 1e-3))}; break;
    default: break;
  }
  if (std::holds_alternative<Star>(cluster.topology) && integer_between(0, 2) == 0)
    cluster.groups = {{1, coin() ? 0.6 : 1.0, 5_Gbps, {}}};  // a slow link, as wide as some connections
  if (coin()) cluster.collective_byte_cost = SecondsPerByte(positive_between(1e-13, 1e-10));
  if (coin()) cluster.protocols = {{"quick", 1.0, 0.3}, {"wide", 2.0, 1.0, Seconds(positive_between(1e-6, 1e-3))}};
  cluster.stack = random_stack();
  return cluster;
}

}  // namespace

TEST_CASE("collectives of a stack: replay equals equations, full and folded") {
  std::vector<Case> cases;
  for (int i = 0; i < 60; ++i) {
    const Cluster cluster = random_cluster(integer_between(2, 16));
    const std::vector<Algorithm> algorithms = {Algorithm::ring, Algorithm::automatic, Algorithm::halving_doubling,
                                               Algorithm::double_binary_tree};
    const Algorithm algorithm = algorithms[integer_between(0, 3)];
    for (const Fidelity fidelity : {Fidelity::full, Fidelity::folded}) {
      Case one{fmt::format("case {}: {} p={} {}", i, name_of(algorithm), cluster.workers, name_of(fidelity)),
               collective_of(cluster, Operation::all_reduce, algorithm, Bytes(positive_between(1e4, 1e8)))};
      one.scenario.evaluation.fidelity = fidelity;
      cases.push_back(one);
    }
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("steps of a stack: replay equals equations") {
  std::vector<Case> cases;
  for (int i = 0; i < 30; ++i) {
    const Cluster cluster = random_cluster(integer_between(2, 12));
    AllReduceStrategy strategy;
    strategy.collective.algorithm = Algorithm::ring;
    strategy.exchange.grouping = coin() ? Grouping::per_tensor : Grouping::bucketed;
    cases.push_back({fmt::format("all-reduce, case {}", i), scenario_of(cluster, strategy)});
    cases.push_back({fmt::format("sharded, case {}", i), scenario_of(cluster, ShardedStrategy{})});
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("parts and priorities: replay equals equations") {
  std::vector<Case> cases;
  for (int i = 0; i < 40; ++i) {
    const Exchange exchange{.grouping = coin() ? Grouping::per_tensor : Grouping::bucketed,
                            .bucket_cap = Bytes(positive_between(1e5, 1e7)),
                            .first_bucket = {Bytes(1e5)},
                            .overlap = coin(),
                            .priority = coin(),
                            .partition = coin() ? std::optional(Bytes(positive_between(1e5, 1e7))) : std::nullopt};
    AllReduceStrategy strategy{.exchange = exchange};
    strategy.collective.algorithm = Algorithm::ring;
    Case all_reduce{fmt::format("all-reduce, case {}", i),
                    scenario_of(random_cluster(integer_between(2, 12)), strategy)};
    if (coin()) all_reduce.scenario.cluster.groups = {{1, 0.7, {}, {}}};  // a slow worker
    cases.push_back(all_reduce);
    Cluster on_star = star(integer_between(2, 8));
    on_star.stack.host_cost = SecondsPerByte(coin() ? 0 : positive_between(1e-11, 2e-9));
    cases.push_back(
        {fmt::format("servers, case {}", i),
         scenario_of(on_star, ParameterServerStrategy{
                                  .shards = integer_between(1, 3), .duplex = coin(), .exchange = exchange})});
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

// Few steps, with jitter: asynchronous workers that meet at servers are served in an order that rounding decides.
TEST_CASE("connections limit direct messages: folded replay equals full replay") {
  std::vector<Case> cases;
  for (int i = 0; i < 60; ++i) {
    Cluster cluster = random_cluster(integer_between(3, 9));  // and three servers: 12 hosts
    if (integer_between(0, 3) == 0) cluster.topology = Torus{{3, 4}};
    if (integer_between(0, 3) == 0) cluster.topology = FatTree{{4, 4}, {1, 2}, {1, 1}};
    if (integer_between(0, 3) == 0) cluster.topology = Dragonfly{2, 1, 2, 1, 2, 1, 2};
    if (!std::holds_alternative<Star>(cluster.topology)) cluster.groups.clear();
    cluster.stack.connection_bandwidth = BytesPerSecond(positive_between(5e7, 1.5e9));
    const ParameterServerStrategy server{.shards = integer_between(1, 3),
                                         .placement = coin() ? ServerPlacement::co_located : ServerPlacement::dedicated,
                                         .consistency = coin() ? Consistency::synchronous : Consistency::asynchronous};
    const GossipStrategy gossip{.graph = coin() ? NeighbourGraph::ring : NeighbourGraph::complete};
    for (const Strategy& strategy : {Strategy(server), Strategy(gossip)})
      for (const Fidelity fidelity : {Fidelity::full, Fidelity::folded}) {
        Case one{
            fmt::format("case {}: {}, {} {} shards, {} workers {}", i, kind_of(strategy), name_of(server.consistency),
                        name_of(server.placement), cluster.workers, name_of(fidelity)),
            scenario_of(cluster, strategy)};
        one.scenario.evaluation.fidelity = fidelity;
        one.scenario.evaluation.max_steps = 8;
        if (server.consistency == Consistency::asynchronous && kind_of(strategy) == kind_of(Strategy(server)))
          one.scenario.cluster.jitter = {JitterDistribution::lognormal, 0.2};
        cases.push_back(one);
      }
  }
  const std::vector<StepForecast> steps = replay_all(cases);
  for (std::size_t i = 0; i < cases.size(); i += 2)
    require_close(steps[i].step, steps[i + 1].step, 1e-9, cases[i].what + " and folded");
}

TEST_CASE("neighbours of connections on a star: replay equals equations") {
  std::vector<Case> cases;
  for (int i = 0; i < 12; ++i) {
    Cluster cluster = star(integer_between(3, 12));
    cluster.stack.connection_bandwidth = BytesPerSecond(positive_between(5e7, 1.5e9));
    cases.push_back({fmt::format("case {}", i), scenario_of(cluster, GossipStrategy{})});
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("servers copy by the class of the link: replay equals equations") {
  // As many shards as machines, one beside the first worker of each, so that every machine is like the others. All
  // workers count as the second one of a machine, which copies for all shards.
  std::vector<Case> cases;
  for (const bool co_located : {false, true})
    for (const SecondsPerByte inside : {SecondsPerByte{}, 0.1_ns_per_B}) {
      Cluster cluster = star(8);
      cluster.topology = Nodes{2, {BytesPerSecond(100e9), 1_us}, 1};
      cluster.stack.inner_host_cost = inside;
      ParameterServerStrategy server;
      server.shards = 4;
      server.placement = co_located ? ServerPlacement::co_located : ServerPlacement::dedicated;
      cases.push_back({fmt::format("co-located {}, inside {}", co_located, inside.si()), scenario_of(cluster, server)});
    }
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // Dedicated servers are machines of their own, so all workers copy alike.
    if (i < 2) require_same(answers[i], 1e-9);
    else CHECK(answers[i].replay.step <= answers[i].equations.step * (1 + 1e-9));
  }
}
