// One step that is apart from its neighbours proves the steady state: a replay that ends there against one that goes on.
#include <cmath>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/forecast_json.hpp"
#include "sim/replay/processes.hpp"
#include "sim/replay/replay.hpp"
#include "tests/sim/random_step_scenarios.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Strategy random_strategy() {
  const Exchange exchange = random_exchange();
  CollectiveChoice ring;
  ring.algorithm = Algorithm::ring;
  switch (integer_between(0, 5)) {
    case 0: return PipelinedStrategy{integer_between(1, 4), integer_between(1, 3), integer_between(0, 3), ring};
    case 1: return GossipStrategy{};
    case 2: return ShardedStrategy{};
    case 3: {
      ParameterServerStrategy servers;
      servers.shards = integer_between(1, 3);
      servers.exchange = exchange;
      return servers;
    }
    default: {
      AllReduceStrategy strategy{.exchange = exchange};
      strategy.collective = ring;
      return strategy;
    }
  }
}

/// The forecast of a replay; a watched one shows several steps.
StepForecast replayed(const Scenario& scenario, bool is_watched) {
  const auto results = run_in_processes(1, 1, [&](std::size_t) {
    const TaskObserver watch = [](const TaskEvent&) {};
    const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
    return pack(replay(scenario, graph, 0, is_watched ? watch : TaskObserver{}).forecast);
  });
  REQUIRE(results.front().error == "");
  return unpack_forecast(results.front().value);
}

}  // namespace

TEST_CASE("a replay that ends after a step apart gives the steady state of one that goes on") {
  int apart = 0, going_on = 0;
  for (int i = 0; i < 200; ++i) {
    Scenario scenario = scenario_of(random_cluster(), random_strategy());
    scenario.evaluation.fidelity = coin() ? Fidelity::full : Fidelity::automatic;
    const StepForecast one = replayed(scenario, false), several = replayed(scenario, true);
    INFO("case " << i << ": " << one.steady_state << " (" << one.fidelity << "); " << several.steady_state);
    CHECK(several.steps >= 3);  // two steps equal to those before them
    const bool is_apart = one.steady_state == "each step ends on all workers before the next one begins";
    (is_apart ? apart : going_on) += 1;
    if (!is_apart) CHECK(one.steps == several.steps);
    // A period counts as one if it repeats to 1e-10 of itself.
    require_close(one.step, several.step, 3e-10, fmt::format("case {}: step", i));
    CHECK(one.first_step == several.first_step);
    for (const BreakdownPart& part : kBreakdownParts) {
      INFO(part.name);
      CHECK(std::abs((one.breakdown.*part.time - several.breakdown.*part.time).si()) <= 1e-9 * one.step.si());
    }
  }
  CHECK(apart >= 50);
  CHECK(going_on >= 20);
}

TEST_CASE("a ring that all begin together is replayed once") {
  Scenario scenario = collective_of(star(16), Operation::all_reduce, Algorithm::ring, 1_MB);
  scenario.evaluation.fidelity = Fidelity::full;
  const StepForecast forecast = replayed(scenario, false);
  CHECK(forecast.steps == 1);
  CHECK(forecast.step == forecast.first_step);
}
