// Asynchronous and stale-synchronous parameter servers, whose order only time decides.
#include "tests/sim/support.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// One tensor of 10 MB (8 ms at 10 Gb/s), forward 20 ms, backward 30 ms; no latency, no update.
Scenario server(int p, Consistency consistency, double slow_speed = 1.0) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {10_Gbps, Seconds{}};
  if (slow_speed != 1.0) cluster.groups = {{1, slow_speed, {}, {}}};
  ParameterServerStrategy strategy;
  strategy.consistency = consistency;
  Scenario scenario = scenario_of(cluster, strategy);
  WorkloadTable table;
  table.name = "one tensor";
  table.forward = 20_ms;
  table.gradients = {{"w", 2500000, 30_ms}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 300;
  return scenario;
}

Seconds step(const Scenario& scenario) { return replay_all({{"", scenario}}).front().step; }

}  // namespace

TEST_CASE("one asynchronous worker does one thing after the other") {
  // 50 ms of computing, push 8 ms, pull 8 ms.
  require_close(66_ms, step(server(1, Consistency::asynchronous)), 1e-9, "one worker");
}

TEST_CASE("asynchronous workers keep a slow server busy") {
  // γ = 10 ns/B on the server: 100 ms for each push, one after the other. Eight workers ask for more than it can
  // do (66 ms of their own), so the server is never idle: p pushes in p·100 ms, a step every 800 ms.
  Scenario scenario = server(8, Consistency::asynchronous);
  std::get<ParameterServerStrategy>(scenario.strategy).server_reduction_cost = 10_ns_per_B;
  require_close(800_ms, step(scenario), 2e-3, "server-bound");
}

TEST_CASE("a straggler slows asynchronous workers only by its own share") {
  // Two workers, links never contended for long: the fast one needs 66 ms a step, the slow one (half speed)
  // 116 ms, each alone. Their rates add: mean step 2/(1/66 + 1/116) ms = 84.1 ms; sharing the server's link
  // costs at most the other's 16 ms now and then, so the step lies between that and 16 % more.
  const Seconds alone(2.0 / (1.0 / 0.066 + 1.0 / 0.116));
  const Seconds got = step(server(2, Consistency::asynchronous, 0.5));
  CHECK(got >= alone * (1 - 1e-9));
  CHECK(got <= alone * 1.16);
}

TEST_CASE("stale-synchronous workers end up at the straggler's pace") {
  // Bound s: the fast worker may be s steps ahead, then it waits; in the long run both do one step in the slow
  // worker's 116 ms, plus at most 16 ms of contention.
  for (const int bound : {0, 1, 4}) {
    Scenario scenario = server(2, Consistency::stale_synchronous, 0.5);
    std::get<ParameterServerStrategy>(scenario.strategy).bound = bound;
    const Seconds got = step(scenario);
    INFO("bound " << bound << ": " << got.si() << " s");
    CHECK(got >= 116_ms * (1 - 0.01));
    CHECK(got <= 132_ms);
  }
}

TEST_CASE("an asynchronous step's breakdown adds up") {
  const auto forecast = replay_all({{"", server(3, Consistency::asynchronous, 0.7)}}).front();
  require_close(forecast.step, forecast.breakdown.total(), 1e-9, "sum of the parts");
}
