// The end of a replay, and the steps that are still ended before it; the events are reported by hand.
#include "sim/replay/step_progress.hpp"

#include <optional>
#include <vector>

#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// Two participants with one track of one task each.
StepProgress of_two(const ProgressRules& rules) { return StepProgress(rules, {1, 1}, 2); }

/// A participant begins a step and ends it; whether with it all have.
bool do_step(StepProgress& progress, std::size_t participant, int step, double end) {
  REQUIRE(progress.begin(participant, step));
  progress.end_track(participant, step, end);
  return progress.end_task(participant, step, end);
}

}  // namespace

TEST_CASE("synchronous participants all end the latest step that one has begun") {
  ProgressRules rules;
  rules.max_steps = 2;
  StepProgress progress = of_two(rules);
  CHECK_FALSE(do_step(progress, 0, 0, 1));
  CHECK(do_step(progress, 1, 0, 2));
  CHECK_FALSE(do_step(progress, 0, 1, 3));
  REQUIRE(progress.begin(0, 2));
  CHECK(do_step(progress, 1, 1, 4));  // two steps have ended everywhere
  CHECK_FALSE(progress.begin(0, 3));
  CHECK_FALSE(do_step(progress, 1, 2, 5));
  CHECK_FALSE(progress.begin(1, 3));
  progress.end_track(0, 2, 6);
  CHECK(progress.end_task(0, 2, 6));
  CHECK(progress.last() == 1);
  CHECK(progress.step_ends() == std::vector<double>{2, 4, 6});
  CHECK(progress.step_ends(0) == std::vector<double>{1, 3, 6});
  CHECK(progress.step_ends(1) == std::vector<double>{2, 4, 5});
}

TEST_CASE("asynchronous participants end their own steps only") {
  ProgressRules rules;
  rules.asynchronous = true;
  rules.max_steps = 1;
  StepProgress progress = of_two(rules);
  CHECK_FALSE(do_step(progress, 0, 0, 1));
  REQUIRE(progress.begin(0, 1));
  CHECK(do_step(progress, 1, 0, 2));
  CHECK_FALSE(progress.begin(1, 1));
  CHECK_FALSE(progress.begin(0, 2));
}

TEST_CASE("a step of several tracks ends with the last task") {
  // The first participant has two tracks, of one and of two tasks.
  StepProgress progress({}, {3, 1}, 3);
  REQUIRE(progress.begin(0, 0));
  REQUIRE(progress.begin(1, 0));
  CHECK_FALSE(progress.end_task(0, 0, 1));
  progress.end_track(0, 0, 2);
  CHECK_FALSE(progress.end_task(0, 0, 2));
  progress.end_track(2, 0, 3);
  CHECK_FALSE(progress.end_task(1, 0, 3));
  progress.end_track(1, 0, 4);
  CHECK(progress.end_task(0, 0, 4));
  CHECK(progress.step_ends() == std::vector<double>{4});
}

TEST_CASE("a period ends a replay, from the step on where one may be") {
  // Steps of 2 s, which repeat from the start. A longest lag of 1: two steps that end like the two before them, so
  // three in all. They are looked at from step `from` on, so it is step from + 2 that proves the period.
  for (const int from : {0, 4}) {
    ProgressRules rules;
    rules.periodic_from = from;
    rules.max_steps = 20;
    StepProgress progress = of_two(rules);
    int step = 0;
    for (; !progress.period(); ++step) {
      do_step(progress, 0, step, 2.0 * step + 1);
      do_step(progress, 1, step, 2.0 * step + 2);
    }
    CHECK(progress.last() == from + 2);
    CHECK(progress.period()->steps == 1);
    CHECK(progress.period()->seconds == 2.0);
    CHECK_FALSE(progress.begin(0, step));
  }
}

TEST_CASE("a step that begins and ends everywhere at one time ends the replay") {
  // Two participants, each a task of 1 s. In the first replay both begin together. In the second, participant 0 has
  // ended at 1 s, begins its next step then, and 1 waits until 2 s: that step is not apart.
  ProgressRules rules;
  rules.periodic_from = 0;
  rules.max_steps = 20;
  rules.one_may_do = true;
  StepProgress together = of_two(rules);
  together.begin_task(0, 0);
  CHECK_FALSE(do_step(together, 0, 0, 1));
  CHECK_FALSE(together.is_over());
  CHECK(do_step(together, 1, 0, 1));
  REQUIRE(together.is_over());
  CHECK(together.period()->steps == 1);
  CHECK(together.period()->seconds == 1.0);
  CHECK(together.last() == 0);
  CHECK_FALSE(together.begin(0, 1));

  StepProgress overlapping = of_two(rules);
  overlapping.begin_task(0, 0);
  CHECK_FALSE(do_step(overlapping, 0, 0, 1));
  REQUIRE(overlapping.begin(0, 1));
  overlapping.begin_task(1, 1);
  CHECK(do_step(overlapping, 1, 0, 2));
  CHECK_FALSE(overlapping.is_over());
  // The second step ends before the third begins, but it had begun before the first ended.
  CHECK_FALSE(do_step(overlapping, 0, 1, 3));
  CHECK(do_step(overlapping, 1, 1, 3));
  CHECK_FALSE(overlapping.is_over());
  // The third is apart from both neighbours.
  overlapping.begin_task(2, 3);
  CHECK_FALSE(do_step(overlapping, 0, 2, 5));
  CHECK(do_step(overlapping, 1, 2, 5));
  REQUIRE(overlapping.is_over());
  CHECK(overlapping.period()->seconds == 2.0);
}

TEST_CASE("a step apart ends no replay that shows several steps, or before one may be periodic") {
  for (const bool one_may_do : {false, true}) {
    ProgressRules rules;
    rules.periodic_from = 1;
    rules.max_steps = 20;
    rules.one_may_do = one_may_do;
    StepProgress progress = of_two(rules);
    for (int step = 0; step < 2; ++step) {
      CHECK_FALSE(progress.is_over());
      progress.begin_task(step, step);
      do_step(progress, 0, step, step + 1);
      do_step(progress, 1, step, step + 1);
    }
    CHECK(progress.is_over() == one_may_do);
  }
}

TEST_CASE("no period is searched for if steps differ by chance") {
  ProgressRules rules;
  rules.max_steps = 20;
  StepProgress progress = of_two(rules);
  for (int step = 0; step < 20; ++step)
    for (const std::size_t participant : {0, 1}) do_step(progress, participant, step, 2.0 * step);
  CHECK_FALSE(progress.period());
  CHECK(progress.last() == 19);
  CHECK_FALSE(progress.begin(0, 20));
}

TEST_CASE("staleness holds back workers too far ahead of the slowest, until the replay stops") {
  ProgressRules rules;
  rules.asynchronous = true;
  rules.staleness = 1;
  rules.max_steps = 2;
  StepProgress progress = of_two(rules);
  do_step(progress, 0, 0, 1);
  do_step(progress, 0, 1, 2);
  REQUIRE(progress.begin(0, 2));
  CHECK_FALSE(progress.is_too_far_ahead(1));  // the slowest has ended none
  CHECK(progress.is_too_far_ahead(2));
  do_step(progress, 1, 0, 3);
  CHECK_FALSE(progress.is_too_far_ahead(2));
  CHECK(progress.is_too_far_ahead(3));
  do_step(progress, 1, 1, 4);
  CHECK_FALSE(progress.is_too_far_ahead(3));
}

TEST_CASE("an asynchronous worker runs away after a thousand steps for one of the slowest") {
  ProgressRules rules;
  rules.asynchronous = true;
  rules.max_steps = 10;
  StepProgress progress = of_two(rules);
  // While the slowest is in its first step: steps 0 to 1000. In its second: up to 2000.
  for (int step = 0; step <= 1000; ++step) do_step(progress, 0, step, 0);
  do_step(progress, 1, 0, 1);
  for (int step = 1001; step <= 2000; ++step) do_step(progress, 0, step, 1);
  CHECK_FALSE(progress.ran_away());
  CHECK_FALSE(progress.begin(0, 2001));
  CHECK(progress.ran_away());
}

TEST_CASE("with backup workers, updates end the replay, and nobody runs away") {
  ProgressRules rules;
  rules.asynchronous = true;
  rules.by_updates = true;
  rules.max_steps = 3000;
  StepProgress progress = of_two(rules);
  for (int step = 0; step < 2999; ++step) {
    do_step(progress, 0, step, step);
    REQUIRE_FALSE(progress.end_updates(static_cast<std::size_t>(step) + 1));
  }
  REQUIRE(progress.begin(0, 2999));
  CHECK(progress.end_updates(3000));
  CHECK(progress.begin(0, 2999));  // another track of a step that has begun
  CHECK_FALSE(progress.begin(0, 3000));
  CHECK_FALSE(progress.ran_away());
}
