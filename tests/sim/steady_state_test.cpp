#include "sim/replay/step_progress.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// Feeds steps whose ends are given by f(step) until a period shows; returns the step it showed at, or -1.
template <class F>
int first_period(SteadyState& detector, int steps, F&& ends, Period& found) {
  for (int step = 0; step < steps; ++step)
    if (const auto period = detector.add(ends(step))) {
      found = *period;
      return step;
    }
  return -1;
}

}  // namespace

TEST_CASE("equal steps are a period of one") {
  SteadyState detector(1);
  Period found;
  // Two streams, 3 s a step. Memory 1: steps 0 and 1 must repeat in 1 and 2, so step 2 proves it.
  CHECK(first_period(
            detector, 10,
            [](int t) {
              return std::vector<double>{3.0 * t + 1, 3.0 * t + 2};
            },
            found) == 2);
  CHECK(found.steps == 1);
  CHECK(found.seconds == Approx(3.0));
}

TEST_CASE("alternating steps are a period of two") {
  SteadyState detector(1);
  Period found;
  // Steps take 1 s and 2 s in turn: 3 s every 2 steps. Steps 0, 1 repeat in 2, 3.
  CHECK(first_period(
            detector, 10, [](int t) { return std::vector<double>{3.0 * (t / 2) + (t % 2)}; }, found) == 3);
  CHECK(found.steps == 2);
  CHECK(found.seconds == Approx(3.0));
}

TEST_CASE("a stream that still catches up is no steady state") {
  SteadyState detector(1);
  Period found;
  // The second stream closes in by 0.1 s a step until step 7, then keeps up.
  const int at = first_period(
      detector, 20,
      [](int t) {
        return std::vector<double>{2.0 * t, 2.0 * t + (t < 7 ? 0.7 - 0.1 * t : 0.0)};
      },
      found);
  CHECK(at == 9);  // ends of 7, 8 repeat in 8, 9
}

TEST_CASE("a longer memory needs more equal steps") {
  SteadyState detector(4);
  Period found;
  CHECK(first_period(
            detector, 20, [](int t) { return std::vector<double>{1.0 * t}; }, found) == 5);
}

TEST_CASE("growing steps have no period") {
  SteadyState detector(1);
  Period found;
  CHECK(first_period(
            detector, 100, [](int t) { return std::vector<double>{1.0 * t * t}; }, found) == -1);
}

TEST_CASE("steps that approach a period have the period's limit") {
  // Steps of 2 s. Two streams are late by 0.1 s · 0.9^t and half of it, beside a wobble of three steps: never equal.
  const auto ends = [](double lateness) {
    return [lateness](int t) {
      const double late = lateness * std::pow(0.9, t) * (t % 3 == 0 ? 1.0 : 0.7);
      return std::vector<double>{2.0 * t + late, 2.0 * t + 0.5 * late};
    };
  };
  SteadyState detector(1);
  Period found;
  const int at = first_period(detector, 400, ends(0.1), found);
  // Three steps apart, the streams differ by half of 0.1 s · (0.9^-3 - 1)·0.9^t = 0.0186 s · 0.9^t, or 0.7 of it in two
  // steps of three. All steps to come differ by 0.134 s · 0.9^t. This is 1e-6 of 6 s from t = 95.1 on, and later for
  // other periods. Counting the largest difference for all eight steps of a span gives 1.75 times as much, which is as
  // little 5.3 steps later.
  CHECK(at >= 96);
  CHECK(at <= 104);
  CHECK(found.converges);
  CHECK(found.seconds != 2.0 * found.steps);
  CHECK(std::abs(found.seconds / found.steps - 2.0) < SteadyState::kConverged * 2.0);
  // A wobble that stays, or grows, is not taken for one that goes.
  SteadyState others(1);
  CHECK(first_period(
            others, 400,
            [](int t) {
              return std::vector<double>{2.0 * t, 2.0 * t + 0.1 * std::sin(1.0 * t)};
            },
            found) == -1);
  SteadyState growing(1);
  CHECK(first_period(
            growing, 400,
            [](int t) {
              return std::vector<double>{2.0 * t, 2.0 * t + 1e-7 * std::pow(1.05, t) * (t % 3 == 0 ? 1.0 : 0.7)};
            },
            found) == -1);
}
