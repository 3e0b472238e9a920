#include "sim/replay/jitter.hpp"

#include <algorithm>
#include <cmath>

#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

TEST_CASE("factors have mean 1 and the asked coefficient of variation") {
  for (const JitterDistribution distribution : {JitterDistribution::lognormal, JitterDistribution::gamma})
    for (const double cv : {0.05, 0.5}) {
      constexpr int kSamples = 40000;
      double sum = 0, squares = 0;
      for (int i = 0; i < kSamples; ++i) {
        const double x = jitter_factor({distribution, cv}, 7, 0, i % 200, i / 200);
        REQUIRE(x > 0);
        sum += x;
        squares += x * x;
      }
      const double mean = sum / kSamples;
      const double measured_cv = std::sqrt(squares / kSamples - mean * mean) / mean;
      INFO(name_of(distribution) << " cv " << cv << ": mean " << mean << ", cv " << measured_cv);
      // Five standard errors of the mean, cv/sqrt(N); the cv's own error is a few percent of it at most.
      CHECK(std::abs(mean - 1) < 5 * cv / std::sqrt(kSamples));
      CHECK(std::abs(measured_cv / cv - 1) < 0.05);
    }
}

TEST_CASE("factors depend on seed, run, worker and step, and on nothing else") {
  const Jitter jitter{JitterDistribution::lognormal, 0.3};
  const double x = jitter_factor(jitter, 1, 2, 3, 4);
  CHECK(x == jitter_factor(jitter, 1, 2, 3, 4));
  CHECK(x != jitter_factor(jitter, 2, 2, 3, 4));
  CHECK(x != jitter_factor(jitter, 1, 3, 3, 4));
  CHECK(x != jitter_factor(jitter, 1, 2, 4, 4));
  CHECK(x != jitter_factor(jitter, 1, 2, 3, 5));
  CHECK(x != jitter_factor(jitter, 1, 2, 4, 3));
  CHECK(jitter_factor({JitterDistribution::none, 0.0}, 1, 2, 3, 4) == 1.0);
}

TEST_CASE("a distribution of cv 0 is no jitter") {
  Scenario none = scenario_of(star(4), AllReduceStrategy{});
  none.evaluation.evaluator = Evaluator::replay;
  Scenario zero = none;
  zero.cluster.jitter = {JitterDistribution::gamma, 0.0};
  const auto forecasts = replay_all({{"none", none}, {"cv 0", zero}});
  CHECK(forecasts[0].step == forecasts[1].step);
  CHECK(forecasts[0].steady_state == forecasts[1].steady_state);
  CHECK_FALSE(forecasts[1].distribution);
}

TEST_CASE("one worker's sampled mean lies within the standard error that the report notes") {
  // p = 1 computes alone, so its step is the mean of N factors times 25 ms: 1 ± cv/sqrt(N). With 20 seeds, some lie
  // below the bound of 25 ms. Five standard errors hold all of them.
  Scenario scenario = scenario_of(star(1), AllReduceStrategy{});
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 100;
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  std::vector<Case> cases;
  for (int seed = 1; seed <= 20; ++seed) {
    scenario.evaluation.seed = seed;
    cases.push_back({"seed", scenario});
  }
  int below = 0;
  for (const StepForecast& forecast : replay_all(cases)) {
    const double mean = forecast.step / 25_ms;
    below += mean < 1;
    REQUIRE(forecast.distribution);
    const double standard_error = 0.1 / std::sqrt(forecast.distribution->samples);
    INFO("mean " << mean << ", standard error " << standard_error);
    CHECK(std::abs(mean - 1) < 5 * standard_error);
  }
  CHECK(below > 0);
}

TEST_CASE("a synchronous step under jitter takes the slowest worker's time") {
  // Whole-model exchange without cost (1e12 Gb/s): a step is the largest of p factors times 25 ms. The replay
  // has drawn exactly these factors, so the expectation is their mean over the measured steps: the first five of 50
  // steps are skipped.
  Cluster cluster;
  cluster.workers = 6;
  cluster.link = {BytesPerSecond(1e21), Seconds{}};
  cluster.jitter = {JitterDistribution::gamma, 0.2};
  Scenario scenario = scenario_of(cluster, AllReduceStrategy{});
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 50;
  double sum = 0;
  int steps = 0;
  // The update is the last of a step's tasks, but comes after the exchange. Its factor is the slowest worker's only if
  // that worker is last again. The workload therefore has no update.
  WorkloadTable table = small_workload();
  table.update = {};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  for (int step = 5; step < 50; ++step, ++steps) {
    double slowest = 0;
    for (int worker = 0; worker < 6; ++worker)
      slowest = std::max(slowest, jitter_factor(cluster.jitter, scenario.evaluation.seed, 0, worker, step));
    sum += slowest;
  }
  const auto forecast = replay_all({{"", scenario}}).front();
  require_close(24_ms * (sum / steps), forecast.step, 1e-6, "mean of the slowest");
  REQUIRE(forecast.distribution);
  CHECK(forecast.distribution->samples == 6 * 45);  // all end a step together, with the exchange
  CHECK(forecast.distribution->p5 < forecast.distribution->p50);
  CHECK(forecast.distribution->p50 < forecast.distribution->p99);
  require_close(forecast.step, forecast.breakdown.total(), 1e-9, "sum of the parts");
}

TEST_CASE("jitter is drawn for each micro-batch, in accumulated passes and in local steps") {
  // As above, with D passes in one go: 24 ms times the sum of a worker's D factors, and the slowest worker's counts.
  // Local SGD makes two steps of three passes each of them.
  Cluster cluster;
  cluster.workers = 6;
  cluster.link = {BytesPerSecond(1e21), Seconds{}};
  cluster.jitter = {JitterDistribution::gamma, 0.2};
  WorkloadTable table = small_workload();
  table.update = {};
  table.accumulation = 3;
  const auto expected = [&](const Scenario& scenario, int draws) {
    double sum = 0;
    for (int step = 5; step < 50; ++step) {
      double slowest = 0;
      for (int worker = 0; worker < 6; ++worker) {
        double factors = 0;
        for (int i = 0; i < draws; ++i)
          factors += jitter_factor(cluster.jitter, scenario.evaluation.seed, 0, worker, draws * step + i);
        slowest = std::max(slowest, factors);
      }
      sum += slowest;
    }
    return 24_ms * (sum / 45);
  };
  std::vector<Case> cases{{"accumulation", scenario_of(cluster, AllReduceStrategy{})},
                          {"local SGD", scenario_of(cluster, LocalSgdStrategy{.steps = 2})}};
  for (Case& one : cases) {
    one.scenario.evaluation.evaluator = Evaluator::replay;
    one.scenario.evaluation.max_steps = 50;
    one.scenario.workload = std::make_shared<const WorkloadTable>(table);
  }
  const auto answers = replay_all(cases);
  require_close(expected(cases[0].scenario, 3), answers[0].step, 1e-6, "accumulation");
  require_close(expected(cases[1].scenario, 6) / 2.0, answers[1].step, 1e-6, "local SGD");
}

TEST_CASE("jitter on a time of zero is zero") {
  // One worker's all-reduce sends nothing: every step is 0 s, and so are its parts.
  Scenario scenario = collective_of(star(1), Operation::all_reduce, Algorithm::ring, 1_MB);
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.cluster.jitter = {JitterDistribution::gamma, 0.1};
  const auto forecast = replay_all({{"", scenario}}).front();
  CHECK(forecast.step == 0_s);
  CHECK(forecast.breakdown.total() == 0_s);
}
