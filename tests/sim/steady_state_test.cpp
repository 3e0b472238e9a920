#include "sim/replay/steady_state.hpp"

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
  CHECK(first_period(detector, 10, [](int t) { return std::vector<double>{3.0 * t + 1, 3.0 * t + 2}; }, found) == 2);
  CHECK(found.steps == 1);
  CHECK(found.seconds == Approx(3.0));
}

TEST_CASE("alternating steps are a period of two") {
  SteadyState detector(1);
  Period found;
  // Steps take 1 s and 2 s in turn: 3 s every 2 steps. Steps 0, 1 repeat in 2, 3.
  CHECK(first_period(detector, 10, [](int t) { return std::vector<double>{3.0 * (t / 2) + (t % 2)}; }, found) == 3);
  CHECK(found.steps == 2);
  CHECK(found.seconds == Approx(3.0));
}

TEST_CASE("a stream that still catches up is no steady state") {
  SteadyState detector(1);
  Period found;
  // The second stream closes in by 0.1 s a step until step 7, then keeps up.
  const int at = first_period(detector, 20, [](int t) { return std::vector<double>{2.0 * t, 2.0 * t + (t < 7 ? 0.7 - 0.1 * t : 0.0)}; }, found);
  CHECK(at == 9);  // ends of 7, 8 repeat in 8, 9
}

TEST_CASE("a longer memory needs more equal steps") {
  SteadyState detector(4);
  Period found;
  CHECK(first_period(detector, 20, [](int t) { return std::vector<double>{1.0 * t}; }, found) == 5);
}

TEST_CASE("growing steps have no period") {
  SteadyState detector(1);
  Period found;
  CHECK(first_period(detector, 100, [](int t) { return std::vector<double>{1.0 * t * t}; }, found) == -1);
}
