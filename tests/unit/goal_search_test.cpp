#include "models/search/goal_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// The search's end, where the score is made up; every value is asked once.
GoalSearch searched(const AxisRange& range, std::size_t grid, std::optional<double> wanted,
                    const std::function<double(double)>& score, double near = kNearBest) {
  GoalSearch search(range, grid_values(range, grid), wanted, near);
  for (int round = 0; round < 300; ++round) {
    const std::vector<double> values = search.requests();
    if (values.empty()) return search;
    std::vector<double> scores;
    for (const double value : values) {
      if (value < range.from || value > range.to) throw std::logic_error("a value beyond the range");
      if (search.scores().contains(value)) throw std::logic_error("a value asked twice");
      scores.push_back(score(value));
    }
    search.answer(values, scores);
  }
  throw std::logic_error("the search does not end");
}

bool near_to(double found, double expected, double width = kCrossoverWidth) {
  return std::abs(found - expected) <= width * expected;
}

const AxisRange kDecades{1e6, 1e9, false, nullptr};

}  // namespace

TEST_CASE("a score that rises: reached from the value that has it, best at the end") {
  // The efficiency of computing c beside an exchange of n/B: c/(c + n/B) = e at B = n/c·e/(1 - e). With n/c = 1e7, e =
  // 0.9: 9e7.
  const GoalSearch s = searched(kDecades, 25, 0.9, [](double b) { return 1 / (1 + 1e7 / b); });
  REQUIRE(s.reached().size() == 1);
  CHECK(near_to(s.reached()[0].from, 9e7));
  CHECK(s.reached()[0].to == 1e9);
  CHECK(s.reached()[0].at_from == Approx(0.9).epsilon(1e-4));
  CHECK(s.reached()[0].at_to == Approx(1 / 1.01));
  CHECK((s.best().value == 1e9 && s.best().score == Approx(1 / 1.01)));
  // Within 1 % of 1/1.01: e = 0.99/1.01 at 1e7·0.99/0.02 = 4.95e8.
  REQUIRE(s.near_best().size() == 1);
  CHECK(near_to(s.near_best()[0].from, 4.95e8));
}

TEST_CASE("the requested distance to the best") {
  // As above, within 5 %: e = 0.95/1.01 at 1e7·0.95/0.06 = 1.5833e8; with half given up e = 0.5/1.01 at 1e7·0.5/0.51.
  const auto from = [](double near) {
    const GoalSearch s = searched(
        kDecades, 25, {}, [](double b) { return 1 / (1 + 1e7 / b); }, near);
    REQUIRE(s.near_best().size() == 1);
    return s.near_best()[0].from;
  };
  CHECK(near_to(from(0.05), 1e7 * 0.95 / 0.06));
  CHECK(near_to(from(0.5), 1e7 * 0.5 / 0.51));
}

TEST_CASE("a peak between two values of the grid, a goal on both its sides") {
  // 1/(v/c + c/v) is largest, 1/2, at c, and 0.4 where x + 1/x = 2.5: at c/2 and 2c.
  property("wherever it is", [] {
    const double c = positive_between(3e6, 3e8);
    const GoalSearch s = searched(kDecades, static_cast<std::size_t>(integer_between(12, 40)), 0.4,
                                  [=](double v) { return 1 / (v / c + c / v); });
    RC_ASSERT(near_to(s.best().score, 0.5, 1e-5));
    RC_ASSERT(
        near_to(s.best().value, c, 0.01));  // flat: within a thousandth of the value the score differs by a millionth
    RC_ASSERT(s.reached().size() == 1u);
    RC_ASSERT(near_to(s.reached()[0].from, c / 2));
    RC_ASSERT(near_to(s.reached()[0].to, 2 * c));
    // Within 1 % of the best: x + 1/x = 2/0.99, x = 1.1526 or its inverse.
    const double sum = 2 / 0.99, x = (sum + std::sqrt(sum * sum - 4)) / 2;
    RC_ASSERT(s.near_best().size() == 1u);
    RC_ASSERT(near_to(s.near_best()[0].from, c / x, 1e-3));
    RC_ASSERT(near_to(s.near_best()[0].to, c * x, 1e-3));
  });
}

TEST_CASE("discrete ranges are exact: the best, and the last and first values that reach the goal") {
  property("in steps and by factors, of a hill", [] {
    AxisRange range;
    if (coin()) {
      const int step = integer_between(1, 16);
      range = {static_cast<double>(step),
               static_cast<double>(step * integer_between(20, 300)),
               true,
               nullptr,
               Spacing::added,
               static_cast<double>(step)};
    } else {
      range = {1, std::pow(2, integer_between(4, 30)), true, nullptr, Spacing::factor, 2};
    }
    const double top = range.after(static_cast<double>(integer_between(0, static_cast<int>(range.steps())))),
                 wanted = real_between(0.05, 0.999);
    const auto score = [=](double v) { return 1 / (1 + std::abs(std::log(v / top))); };
    const GoalSearch s = searched(range, static_cast<std::size_t>(integer_between(2, 20)), wanted, score);
    RC_ASSERT(s.best().value == top);
    RC_ASSERT(s.reached().size() == 1u);
    for (double steps = 0; steps <= range.steps(); ++steps) {
      const double value = range.after(steps);
      const bool inside = value >= s.reached()[0].from && value <= s.reached()[0].to;
      RC_ASSERT(inside == (score(value) >= wanted * (1 - 1e-9)));
    }
  });
}

TEST_CASE("exactly the goal is enough, however the score is rounded") {
  const GoalSearch s =
      searched({1, 64, true, nullptr, Spacing::factor, 2}, 64, 0.3, [](double v) { return v <= 8 ? 0.1 + 0.2 : 0.1; });
  REQUIRE(s.reached().size() == 1);
  CHECK(s.reached()[0].from == 1);
  CHECK(s.reached()[0].to == 8);
}

TEST_CASE("two peaks: a larger one that the search for a goal finds is taken") {
  // At 2e6 there is a broad hill of 1. At 5e7 there is a narrow one of 1.5, which the grid misses, beside a slope that
  // passes the goal there.
  const auto score = [](double v) {
    return std::max(1 / (v / 2e6 + 2e6 / v) * 2, std::abs(v / 5e7 - 1) < 0.02 ? 1.5 : 0.0) + 0.2 * (v > 5e7);
  };
  const GoalSearch s = searched(kDecades, 9, 0.15, score);
  const GoalSearch::Best best = s.best();
  for (const auto& [value, known] : s.scores()) CHECK(known <= best.score);
  for (const FieldInterval& one : s.near_best())
    for (const auto& [value, known] : s.scores())
      if (value >= one.from && value <= one.to) CHECK(known >= 0.99 * best.score);
  CHECK(best.score > 1.4);
}

TEST_CASE("no goal, one never reached, and one always reached") {
  const auto score = [](double v) { return v / 1e9; };
  CHECK(searched(kDecades, 25, {}, score).reached().empty());
  CHECK(searched(kDecades, 25, 1.5, score).reached().empty());
  const GoalSearch always = searched(kDecades, 25, 1e-4, score);
  REQUIRE(always.reached().size() == 1);
  CHECK((always.reached()[0].from == 1e6 && always.reached()[0].to == 1e9));
}

TEST_CASE("scores of nothing, and without end, are scores") {
  // Below 1e7 there is no answer, and from 1e8 on a step takes no time.
  const double infinite = std::numeric_limits<double>::infinity();
  const GoalSearch s = searched(kDecades, 25, 5.0, [=](double v) { return v < 1e7 ? 0.0 : v < 1e8 ? 1.0 : infinite; });
  CHECK(s.best().score == infinite);
  REQUIRE(s.reached().size() == 1);
  CHECK(near_to(s.reached()[0].from, 1e8));
  REQUIRE(s.near_best().size() == 1);
  CHECK(near_to(s.near_best()[0].from, 1e8));
  const GoalSearch nothing = searched(kDecades, 25, 5.0, [](double) { return 0.0; });
  CHECK(nothing.best().score == 0.0);
  CHECK((nothing.reached().empty() && nothing.near_best().empty()));
}
