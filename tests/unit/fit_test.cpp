// Constants fitted to measurements, beside least squares worked out by hand.
#include "models/validation/fit.hpp"

#include <cmath>

#include "models/validation/row_selection.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr double kX[] = {0, 1, 2, 3}, kY[] = {1.1, 1.9, 3.2, 3.8};

}  // namespace

TEST_CASE("a line through four points, with its intervals") {
  // r = a + b·x - y. Means 1.5 and 2.5, Σ(x - 1.5)(y - 2.5) = 4.7, Σ(x - 1.5)² = 5: b = 0.94, a = 2.5 - 1.5·0.94 = 1.09.
  // Then r = -0.01, 0.13, -0.23, 0.11; Σr² = 0.082, s² = 0.082/2. Standard errors: s/√5 and s·√(1/4 + 1.5²/5).
  // Student's t of 2 degrees: 4.302653.
  const auto fit =
      fit_least_squares({parse_axis_range("0..5.5"), parse_axis_range("0..5.5")}, [](const std::vector<double>& v) {
        std::vector<double> residuals;
        for (int i = 0; i < 4; ++i) residuals.push_back(v[0] + v[1] * kX[i] - kY[i]);
        return residuals;
      });
  REQUIRE(fit);
  const double s = std::sqrt(0.041), t = 4.302653;
  CHECK(fit->constants[0].value == 1.09);
  CHECK(fit->constants[1].value == 0.94);
  require_close(s, fit->spread, 1e-9, "s");
  require_close(std::sqrt(0.082 / 4), fit->rms, 1e-9, "rms");
  const double half_a = t * s * std::sqrt(0.7), half_b = t * s / std::sqrt(5.0);
  require_close(1.09 - half_a, *fit->constants[0].low, 1e-6, "a, low");
  require_close(1.09 + half_a, *fit->constants[0].high, 1e-6, "a, high");
  require_close(0.94 - half_b, *fit->constants[1].low, 1e-6, "b, low");
  require_close(0.94 + half_b, *fit->constants[1].high, 1e-6, "b, high");
  // From one end of its range to the other, a moves each r by 5.5, and b by 5.5·x: √((0 + 1 + 4 + 9)/4)·5.5.
  require_close(5.5, fit->constants[0].moves, 1e-12, "a moves");
  require_close(5.5 * std::sqrt(3.5), fit->constants[1].moves, 1e-12, "b moves");
  CHECK(fit->rows == 4);
  CHECK_FALSE(fit->constants[0].at_end);
}

TEST_CASE("rows that tell only a sum determine neither part") {
  const auto fit =
      fit_least_squares({parse_axis_range("0..5.5"), parse_axis_range("0..5.5")}, [](const std::vector<double>& v) {
        std::vector<double> residuals;
        for (const double y : kY) residuals.push_back(v[0] + v[1] - y);
        return residuals;
      });
  REQUIRE(fit);
  require_close(2.5, fit->constants[0].value + fit->constants[1].value, 1e-3, "the mean");
  CHECK_FALSE(fit->constants[0].low);
  CHECK_FALSE(fit->constants[1].high);
}

TEST_CASE("a single row is met, which tells nothing") {
  const auto fit = fit_least_squares({parse_axis_range("1.5..4.5")},
                                     [](const std::vector<double>& v) { return std::vector{std::log(v[0] / 2.0)}; });
  REQUIRE(fit);
  require_close(2, fit->constants[0].value, 1e-3, "met");
  CHECK_FALSE(fit->constants[0].low);
  CHECK(fit->spread == 0);
  require_close(std::log(3.0), fit->constants[0].moves, 1e-12, "from 1.5 to 4.5");
}

TEST_CASE("a constant without effect moves nothing, and has no interval") {
  const auto fit =
      fit_least_squares({parse_axis_range("1.5..4.5"), parse_axis_range("1.5..4.5")}, [](const std::vector<double>& v) {
        return std::vector{v[0] - 2, v[0] - 2.2, v[0] - 2.4};
      });
  REQUIRE(fit);
  require_close(2.2, fit->constants[0].value, 1e-3, "the mean");
  CHECK(fit->constants[1].moves == 0);
  CHECK_FALSE(fit->constants[1].low);
}

TEST_CASE("the end of a range is found and said") {
  const auto fit = fit_least_squares({parse_axis_range("0..2.5")}, [](const std::vector<double>& v) {
    return std::vector{v[0] + 1, v[0] + 2};  // best below the range
  });
  REQUIRE(fit);
  CHECK(fit->constants[0].value == 0);
  CHECK(fit->constants[0].at_end);
}

TEST_CASE("the best of several valleys is found by the grid") {
  // Two valleys of r = (v - 1)(v - 4) + ...: r vanishes at 4.2 alone; near 1 it stays at 0.5 or more.
  const auto fit = fit_least_squares({parse_axis_range("0..5.5")}, [](const std::vector<double>& v) {
    return std::vector{v[0] < 2.5 ? 0.5 + std::abs(v[0] - 1) : std::abs(v[0] - 4.2)};
  });
  REQUIRE(fit);
  require_close(4.2, fit->constants[0].value, 1e-3, "the deeper one");
}

TEST_CASE("a minimum beside a jump is found") {
  // (v - 0.43)² + 0.0025 up to 0.45, (v - 0.43)² from there: 0.0025 at 0.43, where slopes end, and 0.0004 beyond 0.45.
  const auto fit = fit_least_squares({parse_axis_range("0..1.0")}, [](const std::vector<double>& v) {
    return std::vector<double>{v[0] - 0.43, v[0] > 0.45 ? 0.0 : 0.05};
  });
  REQUIRE(fit);
  CHECK(fit->constants[0].value > 0.45);
  CHECK(fit->constants[0].value < 0.47);
}

TEST_CASE("impossible values are left out") {
  const auto possible_from_2 = [](const std::vector<double>& v) {
    return v[0] < 2 ? std::vector<double>{} : std::vector{v[0] - 1, v[0] - 1.5};
  };
  const auto fit = fit_least_squares({parse_axis_range("0..4.5")}, possible_from_2);
  REQUIRE(fit);
  CHECK(fit->constants[0].value >= 2);
  CHECK(fit->constants[0].value < 2.1);
  CHECK(fit->rows == 2);
  CHECK_FALSE(fit_least_squares({parse_axis_range("0..1.5")}, possible_from_2));
}

TEST_CASE("a fitted value has four digits, unless it is an end or its range is narrow") {
  CHECK(rounded(parse_axis_range("1.0..2.0"), 1.23456) == 1.235);
  CHECK(rounded(parse_axis_range("1.0..1.23456"), 1.23456) == 1.23456);
  CHECK(rounded(parse_axis_range("1.2345..1.2346"), 1.23456) == 1.23456);
}

TEST_CASE("rows are selected by axis or suite, and values may have commas") {
  Validation suite;
  suite.name = "own";
  suite.axes = {"variant", "workers"};
  for (const char* variant : {"a", "a, b", "c"}) {
    suite.rows.emplace_back();
    suite.rows.back().coordinates = {{"variant", variant}, {"workers", "2"}};
  }
  const auto selected = [&](const char* text) {
    const std::vector<RowCondition> conditions{parse_row_condition(text, {suite})};
    std::string found;
    for (const ValidationRow& row : suite.rows) found += is_selected(conditions, suite.name, row) ? 'x' : '.';
    return found;
  };
  CHECK(selected("variant=a") == "x..");
  CHECK(selected("variant=a, b") == ".x.");
  CHECK(selected("variant=a, b,c") == ".xx");
  CHECK(selected("variant!=a, b,c") == "x..");
  CHECK(selected("suite=own") == "xxx");
  CHECK(selected("workers!=2") == "...");
  for (const char* wrong : {"variant", "=a", "colour=a", "variant=d", "variant=a,d", "variant="})
    CHECK_THROWS_AS(parse_row_condition(wrong, {suite}), std::invalid_argument);
}
