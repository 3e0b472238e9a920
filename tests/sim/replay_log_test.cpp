// Results that follow from the times at which workers ended their passes, on logs written by hand.
#include "sim/replay/replay_log.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Two workers whose passes take so long each, all forward, until the slower one has done `passes`.
ReplayLog log_of(double first, double second, int passes) {
  ReplayLog log;
  std::vector<Timeline> timelines;
  const double end = passes * std::max(first, second);
  for (const double pass : {first, second}) {
    log.worker_pass_ends.emplace_back();
    timelines.push_back({timelines.size(), 0.5, {}, {}});
    // The pass that it is in at the end is done too.
    for (int k = 0; k * pass < end; ++k) {
      log.worker_pass_ends.back().push_back((k + 1) * pass);
      timelines.back().intervals.push_back({k, {Phase::forward, k * pass, (k + 1) * pass}});
    }
  }
  for (int k = 0; k < passes; ++k) log.pass_ends.push_back((k + 1) * std::max(first, second));
  log.each_timeline = [timelines](const ReplayLog::TimelineVisitor& f) {
    for (const Timeline& timeline : timelines) f(timeline);
  };
  return log;
}

ReplayResult result(const ReplayLog& log, bool asynchronous, std::optional<int> staleness = {}) {
  Scenario scenario;
  scenario.evaluation.max_steps = static_cast<int>(log.pass_ends.size());
  StepGraph graph;
  graph.asynchronous = asynchronous;
  graph.staleness = staleness;
  return result_of(log, scenario, graph);
}

}  // namespace

TEST_CASE("asynchronous workers' passes count as far as they are done") {
  // Steps 3 and 4 of the slow worker take 8 to 16 s. The fast one has done 2 2/3 passes at 8 s and 5 1/3 at 16 s.
  // Together they do 2 2/3 + 2, a mean of 7/3 in 8 s. Whole passes would make it 3 + 2 or 2 + 2.
  const ReplayResult got = result(log_of(3, 4, 4), true);
  require_close(24.0 / 7, got.forecast.step.si(), 1e-12, "step: rates add, 2/(1/3 + 1/4)");
  require_close(got.forecast.step, got.forecast.breakdown.forward, 1e-12, "busy all the time");
  // Wholly inside are the fast one's passes that end at 12 and 15 s, and the slow one's two.
  CHECK(got.samples == std::vector<double>{3, 3, 4, 4});
  CHECK_THAT(got.forecast.steady_state, ContainsSubstring("2.3 steps each, while the slowest did steps 3 to 4"));
}

TEST_CASE("with bounded staleness the slowest worker's passes count") {
  const StepForecast got = result(log_of(1, 4, 10), true, 3).forecast;
  require_close(4.0, got.step.si(), 1e-12, "step");
  // In any window four passes of the fast one are one of the slow one's: (4 + 1)/2 = 2.5 for 1.
  require_close(1.5, got.lead, 1e-12, "what a bound is yet to hold back");
  CHECK(std::abs(result(log_of(4, 4, 10), true, 3).forecast.lead) < 1e-12);
  CHECK(result(log_of(1, 4, 10), true).forecast.lead == 0);  // nothing ever holds it back
}

TEST_CASE("a mean's halves tell whether it is steady") {
  ReplayLog log;
  log.each_timeline = [](const ReplayLog::TimelineVisitor&) {};
  // Steps of 2 s, then of 1 s. Steps 3 to 12 are averaged, 4 to 19 s: in the first 7.5 s 3.75 steps, in the others
  // 6.25.
  for (int k = 0; k < 12; ++k) log.pass_ends.push_back(k < 7 ? 2.0 * (k + 1) : 14.0 + (k - 6));
  const StepForecast got = result(log, false).forecast;
  require_close(1.5, got.step.si(), 1e-12, "15 s for 10 steps");
  require_close(3.75 / 6.25 - 1, got.drift, 1e-12, "second half's steps over the first's, less 1");
  CHECK(got.no_period);
  CHECK(got.steady_state == "no period found in 12 steps: mean of steps 3 to 12");
  CHECK(std::abs(result(log_of(3, 4, 40), true).forecast.drift) < 1e-12);
}

TEST_CASE("a third of asynchronous steps is left out, a tenth of others") {
  ReplayLog log = log_of(1, 1, 31);
  CHECK_THAT(result(log, true).forecast.steady_state, ContainsSubstring("steps 12 to 31"));
  CHECK_THAT(result(log, false).forecast.steady_state, ContainsSubstring("steps 5 to 31"));
}

TEST_CASE("a pipeline's warm-up is left out, and the first step after it") {
  // A tenth of 50 steps would be 5. The 20 of the warm-up and the one after them wait for the step just before
  // (pipelined.cpp). The mean begins at an end, that of one more.
  PipelinedStrategy strategy;
  strategy.warmup_steps = 20;
  Scenario scenario;
  scenario.strategy = strategy;
  scenario.evaluation.max_steps = 50;
  CHECK_THAT(result_of(log_of(1, 1, 50), scenario, {}).forecast.steady_state, ContainsSubstring("steps 23 to 50"));
}
