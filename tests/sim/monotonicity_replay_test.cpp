// Cases in which no improvement makes a replayed step slower, and the smallest scenarios in which one does.
//
// Collectives start when all workers have reached them, and take the time of their rounds. A replay of them is
// therefore a timed event graph with fixed durations (tests/model/monotonicity_test.cpp says why that suffices).
//
// Direct messages share links with all other messages, first come, first served. These are the anomalies of list
// schedules (Graham 1969). docs/monotonicity.md has the list.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "sim/replay/jitter.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

using Change = std::function<void(Scenario&)>;

/// Gradients of whole megabytes and the milliseconds before each.
Scenario scenario_of(const Strategy& strategy, Seconds forward, Seconds update,
                     const std::vector<std::pair<Bytes, Seconds>>& gradients) {
  WorkloadTable table;
  table.name = "small";
  table.batch = 1;
  table.forward = forward;
  table.update = update;
  for (const auto& [bytes, gap] : gradients)
    table.gradients.push_back({"g", static_cast<std::int64_t>(bytes / 4_B), gap});
  Scenario scenario;
  scenario.name = "test";
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  scenario.cluster.workers = 2;
  scenario.cluster.link.bandwidth = 1_GBps;
  scenario.strategy = strategy;
  return scenario;
}

Scenario changed(Scenario scenario, const Change& change) {
  change(scenario);
  return scenario;
}

void set_update(Scenario& scenario, Seconds update) {
  WorkloadTable table = *scenario.workload;
  table.update = update;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
}

}  // namespace

TEST_CASE("property: if workers meet in collectives only, no improvement makes a replayed step slower") {
  const std::vector<std::pair<std::string, std::function<void(Scenario&, double)>>> changes = {
      {"computing",
       [](Scenario& s, double f) { s.workload = std::make_shared<const WorkloadTable>(small_workload(1 / f)); }},
      {"a group's speed", [](Scenario& s, double f) { s.cluster.groups.front().speed *= f; }},
      {"bandwidth", [](Scenario& s, double f) { s.cluster.link.bandwidth *= f; }},
      {"latency", [](Scenario& s, double f) { s.cluster.link.latency = s.cluster.link.latency / f; }},
      {"reduction_cost", [](Scenario& s, double f) { s.cluster.reduction_cost = s.cluster.reduction_cost / f; }},
      {"host_cost", [](Scenario& s, double f) { s.cluster.stack.host_cost = s.cluster.stack.host_cost / f; }},
  };
  property(
      "all-reduce, pipelined, local and sharded SGD on a star with unlike workers",
      [&] {
        const Exchange exchange{coin() ? Grouping::per_tensor : Grouping::bucketed, 6_MB, {3_MB}, coin()};
        Strategy strategy = AllReduceStrategy{{}, exchange};
        if (const int kind = integer_between(0, 3); kind == 1) strategy = LocalSgdStrategy{};
        else if (kind == 2) strategy = ShardedStrategy{.exchange = exchange};
        else if (kind == 3) strategy = PipelinedStrategy{integer_between(1, 3), 2, 0, {}};
        Scenario from = test::scenario_of(star(integer_between(2, 8)), strategy);
        from.cluster.link = {BytesPerSecond(positive_between(1e8, 1e10)), Seconds(positive_between(1e-6, 1e-3))};
        from.cluster.groups = {{1, real_between(0.3, 3), {}, {}}};
        const double factor = real_between(1, 4);
        std::vector<Case> cases = {{"before", from}};
        for (const auto& [name, change] : changes)
          cases.push_back({name, changed(from, [&, make = change](Scenario& s) { make(s, factor); })});
        const auto steps = replay_all(cases);
        for (std::size_t i = 1; i < steps.size(); ++i)
          if (steps[i].step > steps[0].step * (1 + 1e-9)) RC_FAIL(cases[i].what + " of " + to_json(from).dump());
      },
      150);
}

TEST_CASE("order of messages: co-located shards push and pull on the same links, in an order that times decide") {
  // 2 workers with a shard each, and two gradients of 2 MB, 1 MB of each to the other shard. A push or pull takes 1 ms
  // at 1 GB/s. Each of the two updates on a shard takes a fourth of the update. Forward takes 10 ms. The first gradient
  // is then ready, and the second 2.1 ms later.
  ParameterServerStrategy servers;
  servers.placement = ServerPlacement::co_located;
  servers.shards = 2;
  servers.exchange.grouping = Grouping::per_tensor;
  const Scenario from = scenario_of(servers, 10_ms, 4_ms, {{2_MB, 0_ms}, {2_MB, 2.1_ms}});
  struct Row {
    std::string what;
    Scenario scenario;
    Seconds step;
  };
  // With an update of 4 ms: push 10-11, served 12, before the second gradient is ready at 12.1. The first is therefore
  // pulled before: pull 12-13, push 13-14, served 15, pull 15-16. In all others, the first is served after 12.1 ms. The
  // second is then pushed before, and served while the first is pulled.
  const std::vector<Row> rows = {
      {"as it is", from, 16_ms},
      // Push 10-11, served 12.2; push 12.1-13.1, served 14.3; pull 13.1-14.1; pull 14.3-15.3.
      {"more work: update of 4.8 ms", changed(from, [](Scenario& s) { set_update(s, 4.8_ms); }), 15.3_ms},
      // Push 10-11.25, served 12.25; push 12.1-13.35, served 14.35; pull 13.35-14.6; pull 14.6-15.85.
      {"less bandwidth: 0.8 GB/s", changed(from, [](Scenario& s) { s.cluster.link.bandwidth = 0.8_GBps; }), 15.85_ms},
      // Push 10-11.11, served 12.11; push 12.1-13.21, served 14.21; pull 13.21-14.32; pull 14.32-15.43.
      {"more latency: 110 us", changed(from, [](Scenario& s) { s.cluster.link.latency = 110_us; }), 15.43_ms},
      // A worker copies 0.1 ms at each end, a shard 0.1 ms in and out. Push 10-11.1, served 12.3; push 12.1-13.2,
      // served 14.4; pull 13.2-14.3; pull 14.4-15.5.
      {"more copying: host_cost 0.1 ns/B", changed(from, [](Scenario& s) { s.cluster.stack.host_cost = 0.1_ns_per_B; }),
       15.5_ms},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) cases.push_back({row.what, row.scenario});
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    require_close(rows[i].step, answers[i].replay.step, 1e-9, rows[i].what + ", replay");
    require_close(rows[i].step, answers[i].equations.step, 1e-9, rows[i].what + ", equations");
  }
}

TEST_CASE("fair shares: a better link takes from those who share another link with it") {
  // One dedicated shard, 1 MB, 13 ms of computing; worker 1 computes twice as fast, so that worker 0 sets the pace.
  const Scenario from = scenario_of(ParameterServerStrategy{}, 13_ms, 0_ms, {{1_MB, 0_ms}});
  const auto with = [&](BytesPerSecond bandwidth, Seconds latency) {
    return Case{"", changed(from, [&](Scenario& s) { s.cluster.groups = {{1, 2.0, bandwidth, latency}}; })};
  };
  const auto steps = replay_all({with(0.25_GBps, 0_s), with(0.5_GBps, 0_s), with(1_GBps, 0_s), with(1_GBps, 4_ms)});
  // Pull: 0.75 GB/s are left for worker 0, 1.333 ms. It has computed after 14.333 ms, while worker 1 pulls until 4 ms,
  // computes until 10.5 and pushes until 14.5. Worker 0 pushes 1/8 MB until then, and 7/8 MB alone until 15.375 ms.
  require_close(15.375_ms, steps[0].step, 1e-9, "a fourth of the link");
  // Both pull until 2 ms. Worker 1 has pushed after 2 + 6.5 + 2 ms, worker 0 after 2 + 13 + 1.
  require_close(16_ms, steps[1].step, 1e-9, "half of the link");
  require_close(16_ms, steps[2].step, 1e-9, "all of it");
  // Each end has half of a latency. Worker 1's pull starts 2 ms later, when worker 0 has pulled: 1 + 13 + 1 ms.
  require_close(15_ms, steps[3].step, 1e-9, "all of it, later");
}

TEST_CASE("convoys: a worker that computes faster stays in step with the others, and all use one shard at a time") {
  // 4 MB on one dedicated shard and 3 MB on another, both ready after 2 ms of computing.
  ParameterServerStrategy servers;
  servers.shards = 2;
  servers.balance = ShardBalance::greedy;
  servers.exchange.grouping = Grouping::per_tensor;
  const Scenario from = scenario_of(servers, 2_ms, 0_ms, {{4_MB, 0_ms}, {3_MB, 0_ms}});
  const auto steps = replay_all({{"", changed(from,
                                              [](Scenario& s) {
                                                s.cluster.groups = {{1, 0.5, {}, {}}};
                                              })},
                                 {"", from}});
  // Worker 1 computes 4 ms. Worker 0 pushes 2 MB alone until 4 ms, and its other 2 MB at half the rate until 8 ms.
  // Worker 1 pushes its last 2 MB alone until 10 ms. Meanwhile, worker 0 pushes 2 MB to the second shard, 1 MB of it at
  // half the rate until 12 ms. Worker 1 pushes its last 2 MB until 14 ms. Pulls of 2·4 MB take from 10 to 18 ms, and of
  // 2·3 MB from 14 to 20 ms.
  require_close(20_ms, steps[0].step, 1e-9, "half the speed");
  // Both push to the first shard until 10 ms, to the second until 16; pulls until 18 and, from 16 on, until 22 ms.
  require_close(22_ms, steps[1].step, 1e-9, "the same speed");
}

TEST_CASE("asynchronous servers: delays that separate workers separate their messages") {
  // Two workers, one shard that serves one after the other, 2 MB, 2 ms of computing.
  ParameterServerStrategy servers;
  servers.consistency = Consistency::asynchronous;
  // By chance, seed 7 lets them begin almost together: apart by δ, 1.7 % of a step's computing.
  Scenario from = scenario_of(servers, 2_ms, 0_ms, {{2_MB, 0_ms}});
  from.evaluation.seed = 7;
  const Seconds apart = 2_ms * begin_by_chance(7, 0, 1);
  CHECK(apart < 0.1_ms);
  const auto steps = replay_all({{"", from}, {"", changed(from, [](Scenario& s) { set_update(s, 2_ms); })}});
  // Worker 0 pushes alone for δ, then beside worker 1 for 4 ms - 2δ. Worker 1 pushes its last part alone, while worker 0
  // pulls alone for δ, and so on: 2 ms, twice 4 ms - δ. 2 ms apart: push 2 ms alone, served 2 ms, pull 2 ms alone.
  require_close(10_ms - 2.0 * apart, steps[0].step, 1e-6, "no update");
  require_close(8_ms, steps[1].step, 1e-6, "an update of 2 ms");
}
