// No step is faster than its lower bound, whatever strategy, topology and costs.
#include "models/describe/json.hpp"
#include "models/equation/lower_bound.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/fabric/machines.hpp"
#include "models/scenario/rules.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/forecast_json.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_gossip.hpp"
#include "tests/support/random_islands.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// @param p  workers, an even number
Topology random_topology(int p) {
  switch (integer_between(0, 6)) {
    case 0: {
      const int size = coin() ? 2 : p / 2;
      const auto racks =
          coin() ? std::optional<NodeRacks>{}
                 : NodeRacks{integer_between(1, 3), real_between(1, 8), Seconds(positive_between(1e-7, 1e-5))};
      return Nodes{size, Link{BytesPerSecond(positive_between(1e9, 1e12)), Seconds(positive_between(1e-7, 1e-5))},
                   integer_between(1, size), racks};
    }
    case 1: return Racks{integer_between(1, 4), real_between(1, 8), Seconds(positive_between(1e-7, 1e-5))};
    case 2: return FatTree{{4, 4}, {1, 2}, {1, integer_between(1, 2)}};
    case 3: return Torus{{4, 4}};
    case 4: return Dragonfly{2, 1, 2, 1, 2, 1, 2};
    default: return Star{};
  }
}

Strategy random_strategy(int p) {
  const Exchange exchange{coin() ? Grouping::per_tensor : Grouping::whole_model, 25_MiB, {1_MiB}, coin()};
  switch (integer_between(0, 6)) {
    case 0: return AllReduceStrategy{{}, exchange};
    case 1: return PipelinedStrategy{integer_between(1, 6), integer_between(1, 3), 0, {}};
    case 2: return random_gossip_rounds(p);
    case 3: {
      const int steps = integer_between(1, 5);
      return LocalSgdStrategy{.steps = steps,
                              .grouping = exchange.grouping,
                              .outer_update_factor = coin() ? real_between(0, 2) : 0.0,
                              .fragments = integer_between(1, steps),
                              .averaging_steps = integer_between(0, steps),
                              .islands = coin() ? random_islands(p) : std::nullopt};
    }
    case 4: return CollectiveBenchmark{static_cast<Operation>(integer_between(0, 4)), 5_MB, {}};
    case 5: {
      ShardedStrategy sharded{.stage = static_cast<ShardingStage>(integer_between(0, 2)),
                              .prefetch = integer_between(0, 3),
                              .exchange = exchange};
      if (p > 2 && coin()) sharded.group_size = p / 2;  // p is even
      if (coin()) sharded.reduce_after = ReduceAfter::every_pass;
      return sharded;
    }
    default: {
      ParameterServerStrategy server;
      server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
      server.shards = integer_between(1, server.placement == ServerPlacement::dedicated ? 4 : p);
      server.steps = integer_between(1, 3);
      server.exchange = exchange;
      return server;
    }
  }
}

}  // namespace

TEST_CASE("property: no replayed step beats its lower bound") {
  property(
      "of steps that repeat, by a hair",
      [] {
        Cluster cluster = star(2 * integer_between(1, 5));
        cluster.link = {BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-3))};
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-11, 1e-9) : 0.0);
        cluster.topology = random_topology(cluster.workers);
        if (coin()) cluster.groups = {{integer_between(1, 2), real_between(0.3, 2.0), {}, {}}};
        if (!cluster.groups.empty() && coin() &&
            (std::holds_alternative<Star>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology)))
          cluster.groups[0].bandwidth = BytesPerSecond(positive_between(1e8, 1e11));
        if (coin() && traits(cluster.topology).is_tree) cluster.in_network_factor = real_between(0.1, 1);
        Scenario scenario = scenario_of(cluster, random_strategy(cluster.workers));
        WorkloadTable table = small_workload();
        if (coin()) table.accumulation = integer_between(1, 5);
        scenario.workload = std::make_shared<const WorkloadTable>(table);
        scenario.evaluation.evaluator = Evaluator::replay;
        scenario.evaluation.max_steps = 120;
        std::vector<Fault> faults;
        check(scenario, faults);
        RC_PRE(faults.empty());
        const Workload workload = make_workload(*scenario.workload);
        const Seconds step = replay_all({{"", scenario}}).front().step;
        const Bound bound = lower_bound(scenario, workload, build_step_graph(scenario, workload));
        if (step < bound.step * (1 - 1e-9))
          RC_FAIL(fmt::format("step {} s, bound {} s (compute {}, latency {}, bandwidth {}, reduction {}), scenario {}",
                              step.si(), bound.step.si(), bound.compute.si(), bound.latency.si(), bound.bandwidth.si(),
                              bound.reduction.si(), to_json(scenario).dump()));
      },
      300);
}

namespace {

struct Mean {
  Seconds step{};
  double passes = 0;  ///< of the mean worker, only those wholly inside the window
  Bound bound;
  int staleness = 0;
};

/// Checks the scenario, and answers it in a process.
Mean replay_mean(const Scenario& scenario) {
  std::vector<Fault> faults;
  check(scenario, faults);
  RC_PRE(faults.empty());
  const Workload workload = make_workload(*scenario.workload);
  const StepGraph graph = build_step_graph(scenario, workload);
  const auto answers = run_in_processes(1, 1, [&](std::size_t) { return answer({&scenario, &graph, 0}); });
  RC_ASSERT(answers.front().error.empty());
  const Json& replayed = answers.front().value;
  return {unpack_forecast(replayed.at("forecast")).step,
          static_cast<double>(samples_of(replayed).size()) / (graph.first_pushes ? 1 : scenario.cluster.workers),
          lower_bound(scenario, workload, graph), graph.staleness.value_or(0)};
}

void fail(const Mean& mean, const Scenario& scenario) {
  RC_FAIL(fmt::format("step {} s of {} passes, bound {} s (compute {}, bandwidth {}, reduction {}), scenario {}",
                      mean.step.si(), mean.passes, mean.bound.step.si(), mean.bound.compute.si(),
                      mean.bound.bandwidth.si(), mean.bound.reduction.si(), to_json(scenario).dump()));
}

}  // namespace

// No pass is shorter than its computing. A worker's count, with parts of passes, therefore grows no faster than one in
// that time. The bound of computing holds for any window.
TEST_CASE("property: asynchronous workers do no more than they can compute") {
  property(
      "however short the replay",
      [] {
        Cluster cluster = star(integer_between(2, 12));
        cluster.link = {BytesPerSecond(positive_between(1e12, 1e14)), Seconds(positive_between(1e-9, 1e-8))};
        cluster.stack.host_cost = SecondsPerByte(coin() ? 1e-15 : 0.0);
        cluster.reduction_cost = {};
        cluster.groups = {{integer_between(1, cluster.workers - 1), real_between(0.2, 2.0), {}, {}}};
        ParameterServerStrategy server;
        server.shards = integer_between(1, 3);
        server.consistency = Consistency::asynchronous;
        server.server_update_factor = 0.0;
        server.exchange = {coin() ? Grouping::per_tensor : Grouping::whole_model, 25_MiB, {1_MiB}, coin()};
        const bool in_pairs = cluster.workers % 2 == 0 && coin();
        const Strategy strategy = in_pairs ? Strategy(GossipStrategy{.overlap = coin(), .asynchronous = true}) : server;
        Scenario scenario = scenario_of(cluster, strategy);
        scenario.evaluation.evaluator = Evaluator::replay;
        scenario.evaluation.max_steps = integer_between(4, 30);
        const Mean mean = replay_mean(scenario);
        if (mean.step < mean.bound.compute * (1 - 1e-9)) fail(mean, scenario);
      },
      150);
}

// The load of servers and links does not grow with the finished parts of passes. The pass at the window's begin may
// have sent all before, and the pass at its end may send all later. Its count is therefore at most 2 more than its k
// passes that are wholly inside, whose bytes the window bears. The step is at least k/(k+2) of the bound.
//
// With staleness bounded by s, the slowest worker's L passes count. Others are up to s+1 ahead of it when the window
// begins, and it may itself be ahead of the last one. Each does L-s-1 passes in the window, and has begun one more
// before. The step is therefore at least (L-s-2)/L of every bound, and k is at most L+s+1. Both are at least 1 -
// (s+2)/(k-s-1).
//
// With backup workers, the window has L updates. Pushes of the first one may have come before it, and the bound is of an
// update of each part, of which the last one counts. The step is at least (L-2)/L of the bound. With jitter, the bound
// is of means.
TEST_CASE("property: no mean of asynchronous steps beats its lower bound") {
  property(
      "but by what the ends of its window can make of it",
      [] {
        Cluster cluster = star(integer_between(1, 32));
        cluster.link = {BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-3))};
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-11, 1e-9) : 0.0);
        cluster.reduction_cost = SecondsPerByte(coin() ? positive_between(1e-11, 1e-9) : 0.0);
        if (coin())
          cluster.topology =
              Nodes{integer_between(1, cluster.workers),
                    Link{BytesPerSecond(positive_between(1e9, 1e12)), Seconds(positive_between(1e-7, 1e-5))}, 1};
        if (cluster.workers > 1 && coin())
          cluster.groups = {{integer_between(1, cluster.workers - 1), real_between(0.2, 2.0), {}, {}}};
        if (!cluster.groups.empty() && coin() && std::holds_alternative<Star>(cluster.topology))
          cluster.groups[0].bandwidth = BytesPerSecond(positive_between(1e8, 1e11));
        ParameterServerStrategy server;
        server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
        server.shards = integer_between(1, std::min(cluster.workers, 4));
        const Consistency all[] = {Consistency::asynchronous, Consistency::stale_synchronous,
                                   Consistency::backup_workers};
        server.consistency = all[integer_between(0, cluster.workers > 1 ? 2 : 1)];
        server.backup_workers = integer_between(1, std::max(1, cluster.workers - 1));
        server.bound = integer_between(0, 3);
        server.steps = integer_between(1, 3);
        if (server.consistency == Consistency::asynchronous && coin()) server.pull_steps = integer_between(1, 4);
        server.exchange = {coin() ? Grouping::per_tensor : Grouping::whole_model, 25_MiB, {1_MiB}, coin()};
        Scenario scenario = scenario_of(cluster, server);
        scenario.evaluation.evaluator = Evaluator::replay;
        scenario.evaluation.max_steps = integer_between(20, 60);
        const Mean mean = replay_mean(scenario);
        const double s = mean.staleness;
        if (mean.step < mean.bound.step * (1 - (s + 2) / (mean.passes - s - 1))) fail(mean, scenario);
      },
      120);
}
