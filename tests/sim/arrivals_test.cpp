// The replay of arrivals against the full one: the same draws, passes and times.
#include "sim/replay/arrivals.hpp"

#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "models/strategy/builder.hpp"
#include "sim/replay/jitter.hpp"
#include "tests/sim/random_step_scenarios.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Cluster random_jittery_cluster() {
  Cluster cluster = random_cluster();
  if (coin()) cluster.stack.negotiation_cost = Seconds(positive_between(1e-5, 1e-2));
  if (coin()) cluster.stack.backward_slowdown = 1.1;
  cluster.jitter = {coin() ? JitterDistribution::gamma : JitterDistribution::lognormal, positive_between(0.01, 0.6)};
  return cluster;
}

Strategy random_strategy() {
  CollectiveChoice ring;
  ring.algorithm = Algorithm::ring;
  switch (integer_between(0, 4)) {
    case 0: return PipelinedStrategy{integer_between(1, 4), integer_between(1, 3), integer_between(0, 3), ring};
    case 1: {
      LocalSgdStrategy local;
      local.steps = integer_between(1, 4);
      return local;
    }
    case 2: return ShardedStrategy{};
    default: {
      AllReduceStrategy strategy{.exchange = random_exchange()};
      strategy.collective = ring;
      return strategy;
    }
  }
}

/// A case in full and, with the same draws, by arrivals.
std::vector<Case> twice(const std::string& what, Scenario scenario) {
  std::vector<Case> both;
  for (const Fidelity fidelity : {Fidelity::full, Fidelity::automatic}) {
    scenario.evaluation.fidelity = fidelity;
    both.push_back({fmt::format("{}, {}", what, name_of(fidelity)), scenario});
  }
  return both;
}

void require_alike(const Case& what, const StepForecast& full, const StepForecast& other) {
  INFO(what.what << " (" << other.fidelity << ")");
  CHECK(full.steps == other.steps);
  CHECK(full.steady_state == other.steady_state);
  require_close(full.step, other.step, 1e-9, what.what + ": step");
  require_close(full.first_step, other.first_step, 1e-9, what.what + ": first step");
  const double step = full.step.si();
  for (const BreakdownPart& part : kBreakdownParts) {
    INFO(part.name);
    CHECK(std::abs((full.breakdown.*part.time - other.breakdown.*part.time).si()) <= 2e-9 * step);
  }
  REQUIRE(full.kinds.size() == other.kinds.size());
  for (std::size_t k = 0; k < full.kinds.size(); ++k)
    CHECK(std::abs((full.kinds[k].breakdown.waiting - other.kinds[k].breakdown.waiting).si()) <= 2e-9 * step);
  REQUIRE(full.distribution.has_value() == other.distribution.has_value());
  if (!full.distribution) return;
  CHECK(full.distribution->samples == other.distribution->samples);
  require_close(full.distribution->p5, other.distribution->p5, 1e-8, what.what + ": p5");
  require_close(full.distribution->p99, other.distribution->p99, 1e-8, what.what + ": p99");
}

}  // namespace

TEST_CASE("arrivals are those of the full replay, run for run") {
  std::vector<Case> cases;
  for (int i = 0; i < 200; ++i) {
    Scenario scenario = scenario_of(random_jittery_cluster(), random_strategy());
    scenario.evaluation.seed = i;
    scenario.evaluation.max_steps = integer_between(4, 25);
    if (coin()) {  // codecs, some on a stream beside backward
      scenario.compressor = RatioCompressor{4, SecondsPerByte(1e-9), SecondsPerByte(0.5e-9)};
      if (coin()) scenario.codec.overlap = true;
    }
    if (coin()) {
      WorkloadTable table = *scenario.workload;
      table.accumulation = integer_between(1, 3);
      scenario.workload = std::make_shared<const WorkloadTable>(table);
    }
    for (Case& one : twice(fmt::format("case {}", i), scenario)) cases.push_back(one);
  }
  const auto answers = replay_all(cases);
  int by_arrivals = 0;
  for (std::size_t i = 0; i < cases.size(); i += 2) {
    by_arrivals += answers[i + 1].fidelity.ends_with("each worker computes by its own draws") ? 1 : 0;
    require_alike(cases[i], answers[i], answers[i + 1]);
  }
  CHECK(by_arrivals >= 150);
}

TEST_CASE("by hand: two workers with draws of their own, and a collective of known time") {
  // p = 2 on 10 Gb/s without other costs; the whole model is one all-reduce after backward. Pass s of worker w computes
  // 24 ms f(w, s), then both wait for the slower one; the ring takes n/B with n = 14,000,040 B: 11.200032 ms. Then 1 ms
  // f(w, s) of update. The pass ends when both have updated, and each begins the next by itself.
  Cluster cluster;
  cluster.workers = 2;
  cluster.link = {10_Gbps, {}};
  cluster.jitter = {JitterDistribution::lognormal, 0.3};
  Scenario scenario = scenario_of(cluster, AllReduceStrategy{.exchange = {.grouping = Grouping::whole_model}});
  scenario.evaluation.max_steps = 12;
  scenario.evaluation.fidelity = Fidelity::automatic;
  const double n = make_workload(scenario).gradient_bytes.si(), ring = n / 1.25e9;
  double own[] = {0, 0}, ends[12];
  for (int s = 0; s < 12; ++s) {
    double factor[2], met = 0;
    for (int w = 0; w < 2; ++w) {
      factor[w] = jitter_factor(cluster.jitter, scenario.evaluation.seed, 0, w, s);
      met = std::max(met, own[w] + 24e-3 * factor[w]);
    }
    for (int w = 0; w < 2; ++w) own[w] = met + ring + 1e-3 * factor[w];
    ends[s] = std::max(own[0], own[1]);
  }
  const StepForecast forecast = replay_all({{"by hand", scenario}}).front();
  CHECK(forecast.fidelity.ends_with("each worker computes by its own draws"));
  require_close(ends[0], forecast.first_step.si(), 1e-9, "first step");
  // The first two passes are left out: 10 of 12 passes, from the end of the second.
  require_close((ends[11] - ends[1]) / 10, forecast.step.si(), 1e-9, "mean step");
}

TEST_CASE("many workers are quick") {
  Scenario scenario = scenario_of(star(4096), AllReduceStrategy{});
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  scenario.evaluation.max_steps = 100;
  scenario.evaluation.fidelity = Fidelity::automatic;
  const auto start = std::chrono::steady_clock::now();
  const StepForecast forecast = replay_all({{"4,096 workers", scenario}}).front();
  CHECK(forecast.steps == 101);
  // 0.4 s here; a full replay has 3 billion messages.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}
