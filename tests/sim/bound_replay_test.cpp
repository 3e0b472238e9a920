// No step is faster than its lower bound, whatever strategy, topology and costs.
#include "models/report/bound.hpp"

#include <fmt/format.h>

#include "models/scenario/check.hpp"
#include "models/strategy/builder.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// @param p  workers, an even number
Topology random_topology(int p) {
  switch (integer_between(0, 6)) {
    case 0: {
      const int size = coin() ? 2 : p / 2;
      return Nodes{size, Link{BytesPerSecond(positive_between(1e9, 1e12)), Seconds(positive_between(1e-7, 1e-5))}, integer_between(1, size)};
    }
    case 1: return Racks{integer_between(1, 4), real_between(1, 8), Seconds(positive_between(1e-7, 1e-5))};
    case 2: return FatTree{{4, 4}, {1, 2}, {1, integer_between(1, 2)}};
    case 3: return Torus{{4, 4}};
    case 4: return Dragonfly{2, 1, 2, 1, 2, 1, 2};
    default: return Star{};
  }
}

Strategy random_strategy(int p) {
  const Exchange exchange{coin() ? Grouping::per_tensor : Grouping::whole_model, 25_MiB, {1_MiB}, coin(), 1.0};
  switch (integer_between(0, 5)) {
    case 0: return AllReduceStrategy{{}, exchange};
    case 1: return PipelinedStrategy{integer_between(1, 6), integer_between(1, 3), 0, {}};
    case 2: return GossipStrategy{coin()};
    case 3: return LocalSgdStrategy{.steps = integer_between(1, 5), .grouping = exchange.grouping, .outer_update_factor = coin() ? real_between(0, 2) : 0.0};
    case 4: return CollectiveBenchmark{static_cast<Operation>(integer_between(0, 4)), 5_MB, {}};
    default: {
      ParameterServerStrategy server;
      server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
      server.shards = integer_between(1, server.placement == ServerPlacement::dedicated ? 4 : p);
      server.consistency = static_cast<Consistency>(integer_between(0, 2));
      server.exchange = exchange;
      return server;
    }
  }
}

}  // namespace

TEST_CASE("property: no replayed step beats its lower bound") {
  property("step >= bound", [] {
    Cluster cluster = star(2 * integer_between(1, 5));
    cluster.link = {BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-3))};
    cluster.host_cost = SecondsPerByte(coin() ? positive_between(1e-11, 1e-9) : 0.0);
    cluster.topology = random_topology(cluster.workers);
    if (coin()) cluster.groups = {{integer_between(1, 2), real_between(0.3, 2.0), {}, {}}};
    if (!cluster.groups.empty() && coin() && (std::holds_alternative<Star>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology)))
      cluster.groups[0].bandwidth = BytesPerSecond(positive_between(1e8, 1e11));
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
      RC_FAIL(fmt::format("step {} s, bound {} s (compute {}, latency {}, bandwidth {}, reduction {}), scenario {}", step.si(), bound.step.si(), bound.compute.si(),
                          bound.latency.si(), bound.bandwidth.si(), bound.reduction.si(), to_json(scenario).dump()));
  }, 300);
}
