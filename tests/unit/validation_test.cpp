// Errors, their summary and the share of pairs ordered as measured, on numbers worked out by hand.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/unit/units.hpp"
#include "models/validation/validation_writers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

ValidationRow row(const char* variant, const char* workers, double measured, double predicted) {
  return {{{"variant", variant}, {"workers", workers}},
          MeasuredQuantity::step_time,
          measured,
          {},
          predicted,
          Evidence::measured,
          {}};
}

ValidationRow fitted(ValidationRow one, const char* constant) {
  one.fitted = constant;
  return one;
}

ValidationRow with_spread(ValidationRow one, double spread) {
  one.spread = spread;
  return one;
}

/// A point whose step takes so long.
PointReport point_of(std::vector<Coordinate> coordinates, double step, double samples_per_second = 0) {
  PointReport point;
  point.coordinates = std::move(coordinates);
  point.answers.equations = StepForecast{};
  point.answers.equations->step = Seconds(step);
  point.samples_per_second = samples_per_second;
  return point;
}

std::optional<double> prediction(const PointReport& point, MeasuredQuantity quantity) {
  return number_of(metric_of(quantity), point);
}

}  // namespace

TEST_CASE("the summary is over rows that were not fitted") {
  // Errors: fitted +300 % (left out), +10 %, -20 %, +40 %; sorted sizes 10, 20, 40.
  std::vector<ValidationRow> rows{fitted(row("a", "1", 100, 400), "the link"), row("a", "2", 100, 110),
                                  row("a", "4", 200, 160), row("a", "8", 50, 70)};
  ValidationSummary s = summary_of(rows, {});
  CHECK(s.errors.count == 3);
  CHECK(std::abs(*s.errors.median - 0.2) < 1e-12);
  CHECK(std::abs(*s.largest_error - 0.4) < 1e-12);
  CHECK(s.worst == 3);
  // One more of -60 %: sizes 10, 20, 40, 60, median (20 + 40)/2 = 30; the largest keeps its sign.
  rows.push_back(row("a", "16", 100, 40));
  s = summary_of(rows, {});
  CHECK(std::abs(*s.errors.median - 0.3) < 1e-12);
  CHECK(std::abs(*s.largest_error + 0.6) < 1e-12);
  CHECK(s.worst == 4);
}

TEST_CASE("a summary of errors: median, nine of ten, and the mean of logarithms") {
  // Twice too slow and twice too fast: e = 1 and -1/2. |e| is 0.5 and 1: the middle 0.75, nine tenths of the way 0.95.
  ErrorSummary s = summary_of(std::vector<double>{1, -0.5});
  CHECK(s.count == 2);
  CHECK(std::abs(*s.median - 0.75) < 1e-12);
  CHECK(std::abs(*s.p90 - 0.95) < 1e-12);
  CHECK(std::abs(*s.bias) < 1e-12);
  // Eleven errors of 0 to -10 %: the ninth step of ten ends at 9 %.
  std::vector<double> errors;
  for (int i = 0; i <= 10; ++i) errors.push_back(-0.01 * i);
  s = summary_of(errors);
  CHECK(std::abs(*s.median - 0.05) < 1e-12);
  CHECK(std::abs(*s.p90 - 0.09) < 1e-12);
  // Errors that are alike are their own bias.
  CHECK(std::abs(*summary_of(std::vector<double>(3, -0.2)).bias + 0.2) < 1e-12);
}

TEST_CASE("a rate errs as the time that it is inverse to") {
  ValidationRow one = row("a", "1", 100, 125);
  CHECK(std::abs(one.error() - 0.25) < 1e-12);
  for (const auto rate : {MeasuredQuantity::throughput, MeasuredQuantity::speedup, MeasuredQuantity::scaling_efficiency,
                          MeasuredQuantity::algbw, MeasuredQuantity::busbw}) {
    one.quantity = rate;
    CHECK(std::abs(one.error() + 0.2) < 1e-12);  // 100/125 - 1
  }
}

TEST_CASE("all suites as one, and by number of workers") {
  Validation a, b;
  a.name = "a";
  b.name = "b";
  a.rows = {row("x", "2", 100, 110), row("y", "2", 50, 45), fitted(row("x", "1", 1, 9), "c")};  // +10 %, -10 %
  b.rows = {row("x", "2", 100, 130)};                                                           // +30 %
  a.rows[0].workers = 2;
  a.rows[1].workers = b.rows[0].workers = 4;
  a.summary = summary_of(a.rows, "variant");
  b.summary = summary_of(b.rows, "variant");
  const ValidationSummary all = summary_of_all({a, b});
  CHECK(all.errors.count == 3);
  CHECK(std::abs(*all.errors.median - 0.1) < 1e-12);
  CHECK(all.pairs == 1);
  CHECK(all.tau() == 1.0);
  CHECK(std::abs(*all.largest_error - 0.3) < 1e-12);
  const auto by = errors_by_workers({a, b});
  REQUIRE(by.size() == 2);
  CHECK(by.at(2).count == 1);
  CHECK(std::abs(*by.at(4).median - 0.2) < 1e-12);  // between 10 and 30 %
}

TEST_CASE("with all rows fitted there is nothing to judge") {
  const ValidationSummary s =
      summary_of({fitted(row("a", "1", 100, 100), "all"), fitted(row("b", "1", 90, 80), "all")}, "variant");
  CHECK(s.errors.count == 0);
  CHECK_FALSE(s.errors.median);
  CHECK_FALSE(s.errors.p90);
  CHECK_FALSE(s.errors.bias);
  CHECK_FALSE(s.tau());
  CHECK_FALSE(s.largest_error);
  CHECK(s.pairs == 0);
}

TEST_CASE("pairs differ on the axis of alternatives alone") {
  // With 4 workers a > b > c measured, a > c > b predicted: pairs ab and ac in order, bc not. With 8 workers b > a
  // measured and predicted. a and b at unlike workers are no pair, though all would be in order.
  const std::vector<ValidationRow> rows{row("a", "4", 30, 33), row("b", "4", 20, 10), row("c", "4", 10, 12),
                                        row("a", "8", 50, 50), row("b", "8", 60, 51)};
  const ValidationSummary s = summary_of(rows, "variant");
  CHECK(s.pairs == 4);
  CHECK(s.ordered == 3);
  CHECK(summary_of(rows, {}).pairs == 0);
}

TEST_CASE("a tie in the forecast is not in order, one in the measurement no pair") {
  CHECK(summary_of({row("a", "4", 30, 20), row("b", "4", 20, 20)}, "variant").pairs == 1);
  CHECK(summary_of({row("a", "4", 30, 20), row("b", "4", 20, 20)}, "variant").ordered == 0);
  CHECK(summary_of({row("a", "4", 20, 30), row("b", "4", 20, 20)}, "variant").pairs == 0);
}

TEST_CASE("measurements within their spreads rank nothing") {
  // 100 ± 4 and 108 ± 4.32: 8 apart, 8.32 together. With half of the second's spread, 4 + 2.16 = 6.16, they are two.
  CHECK(summary_of({with_spread(row("a", "4", 100, 1), 0.04), with_spread(row("b", "4", 108, 2), 0.04)}, "variant")
            .pairs == 0);
  CHECK(summary_of({with_spread(row("a", "4", 100, 1), 0.04), with_spread(row("b", "4", 108, 2), 0.02)}, "variant")
            .pairs == 1);
}

TEST_CASE("quantities of unlike kinds are no pair, and fitted rows neither") {
  std::vector<ValidationRow> rows{row("a", "4", 1, 2), row("b", "4", 2, 3)};
  rows[1].quantity = MeasuredQuantity::speedup;
  CHECK(summary_of(rows, "variant").pairs == 0);
  rows[1].quantity = rows[0].quantity;
  CHECK(summary_of(rows, "variant").pairs == 1);
  rows[0].fitted = "a constant";
  CHECK(summary_of(rows, "variant").pairs == 0);
}

TEST_CASE("the summary does not depend on the order of rows") {
  property("rows reversed", [] {
    std::vector<ValidationRow> rows;
    const char* variants[] = {"a", "b", "c"};
    for (int i = integer_between(1, 12); i > 0; --i) {
      rows.push_back(row(variants[integer_between(0, 2)], integer_between(0, 1) == 0 ? "4" : "8",
                         positive_between(1, 100), positive_between(1, 100)));
      if (coin()) rows.back().spread = real_between(0, 0.3);
      if (integer_between(0, 4) == 0) rows.back().fitted = "x";
    }
    const ValidationSummary one = summary_of(rows, "variant");
    std::reverse(rows.begin(), rows.end());
    const ValidationSummary other = summary_of(rows, "variant");
    if (one.errors.count != other.errors.count || one.errors.median != other.errors.median ||
        one.pairs != other.pairs || one.ordered != other.ordered)
      RC_FAIL("another summary");
    if (one.ordered > one.pairs) RC_FAIL("more in order than there are pairs");
    if (one.errors.median && *one.errors.median > std::abs(*one.largest_error))
      RC_FAIL("the median beyond the largest");
  });
}

TEST_CASE("each quantity is read where the report has it") {
  PointReport p = point_of({}, 0.25, 128);
  CHECK(prediction(p, MeasuredQuantity::step_time) == 0.25);
  CHECK(prediction(p, MeasuredQuantity::throughput) == 128.0);
  for (const auto quantity : {MeasuredQuantity::speedup, MeasuredQuantity::scaling_efficiency, MeasuredQuantity::algbw,
                              MeasuredQuantity::busbw})
    CHECK_FALSE(prediction(p, quantity));
  p.speedup = 3;
  p.scaling_efficiency = 0.75;
  p.algbw = 1_GBps;
  p.busbw = 1.5_GBps;
  CHECK(prediction(p, MeasuredQuantity::speedup) == 3.0);
  CHECK(prediction(p, MeasuredQuantity::scaling_efficiency) == 0.75);
  CHECK(prediction(p, MeasuredQuantity::algbw) == 1e9);
  CHECK(prediction(p, MeasuredQuantity::busbw) == 1.5e9);
  p.samples_per_second = 0;
  CHECK_FALSE(prediction(p, MeasuredQuantity::throughput));
}

TEST_CASE("a suite beside its report") {
  Suite suite;
  suite.name = "s";
  suite.alternatives = "workers";
  suite.measurements = {{1, MeasuredQuantity::step_time, 0.2, 0.01, Evidence::recalled, {}},
                        {0, MeasuredQuantity::step_time, 0.1, {}, Evidence::measured, "latency"}};
  Report report;
  report.axes = {"workers"};
  report.points = {point_of({{"workers", "2"}}, 0.1), point_of({{"workers", "4"}}, 0.25),
                   point_of({{"workers", "8"}}, 0.5)};
  report.points[1].notes = {{NoteCode::estimate, "estimated"}};
  report.points[2].notes = {{NoteCode::estimate, "of a point that was not measured"}};
  const Validation v = validate(suite, report);
  REQUIRE(v.rows.size() == 2);
  CHECK(v.rows[0].coordinates == report.points[1].coordinates);
  CHECK(std::abs(v.rows[0].error() - 0.25) < 1e-12);  // 0.25/0.2 - 1
  CHECK(v.rows[1].fitted == "latency");
  CHECK(v.unmeasured == 1);
  CHECK(v.notes == report.points[1].notes);
  CHECK(summary_table({v}) ==
        "errors of time  rows  median     p90     bias  tau  in band  largest  of the row\n"
        "s                  1  25.0 %  25.0 %  +25.0 %    -        -  +25.0 %  workers = 4\n");

  suite.measurements.push_back({2, MeasuredQuantity::algbw, 1e9, {}, Evidence::measured, {}});
  try {
    validate(suite, report);
    FAIL("a forecast that is not there");
  } catch (const ModelError& error) {
    CHECK(std::string(error.what()) == "s: the forecast of workers = 8 has no algbw");
  }
}

TEST_CASE("a limit is missed only if it is stated and exceeded") {
  Validation v;
  v.name = "s";
  v.rows = {row("a", "1", 100, 110), row("a", "2", 100, 70)};  // +10 % and -30 %: median 20 %, largest 30 %
  v.summary = summary_of(v.rows, {});
  CHECK(missed_limits(v).empty());
  v.tolerance = {0.2001, 0.3001};
  CHECK(missed_limits(v).empty());
  v.tolerance = {0.1999, {}};
  CHECK(missed_limits(v) ==
        std::vector<std::string>{"s: the median |error| is 20 %, more than the 20 % that the suite states"});
  v.tolerance = {0.1, 0.25};
  CHECK(missed_limits(v) ==
        std::vector<std::string>{"s: the median |error| is 20 %, more than the 10 % that the suite states",
                                 "s: the largest |error| is 30 %, more than the 25 % that the suite states"});
  for (auto& fitted : v.rows) fitted.fitted = "bandwidth";
  v.summary = summary_of(v.rows, {});
  CHECK(missed_limits(v) ==
        std::vector<std::string>{
            "s: all rows are fitted, so nothing is left to hold against the tolerance that the suite states"});
  v.tolerance = {};
  CHECK(missed_limits(v).empty());
}

TEST_CASE("tables and CSV name fitted and recalled rows") {
  Validation v;
  v.name = "s";
  v.description = "a question";
  v.source = "somebody";
  v.axes = {"variant", "workers"};
  v.rows = {fitted(row("a", "1", 100, 100), "the step"), row("b", "1", 80, 88)};
  v.rows[1].evidence = Evidence::recalled;
  v.rows[1].spread = 0.5;
  for (ValidationRow& one : v.rows) one.quantity = MeasuredQuantity::throughput;
  v.summary = summary_of(v.rows, "variant");
  CHECK(to_table(v) ==
        "s: a question\nsource: somebody\n\n"
        "variant  workers  quantity    measured  predicted   error\n"
        "a        1        throughput    100 /s     100 /s   0.0 %    fitted\n"
        "b        1        throughput     80 /s      88 /s  -9.1 %  recalled\n"
        "fitted to 1 row: the step\n");
  // Rates of 80 and 88 per second are times of 1/80 and 1/88 s: (1/88)/(1/80) - 1 = -1/11.
  const std::string csv = to_csv({v});
  CHECK(csv.starts_with(
      "suite,point,quantity,unit,measured,spread,predicted,error,inside,workers,evidence,fitted\ns,\"variant = a, workers = 1\",throughput,samples/s,100,,100,0,,1,measured,the step\ns,\"variant = b, workers = 1\",throughput,samples/s,80,0.5,88,-0.0909090909"));
}

TEST_CASE("measurements inside the forecast's error band are counted") {
  // A forecast of 100 ms with a band of 0.8 to 1.25 of it: 80 to 125 ms. Fitted rows and rows without a band do not count.
  std::vector<ValidationRow> rows{row("a", "1", 0.081, 0.1), row("a", "2", 0.124, 0.1), row("a", "4", 0.126, 0.1),
                                  fitted(row("b", "1", 0.1, 0.1), "the link"), row("b", "2", 0.1, 0.1)};
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) rows[i].band = Band{0.8_s, 1.25_s};
  // A rate of 10 /s is a time of 0.1 s: measured 8 /s is 1.25 times as long.
  rows.push_back(row("c", "1", 8.1, 10));
  rows.back().quantity = MeasuredQuantity::throughput;
  rows.back().band = Band{0.8_s, 1.25_s};
  const ValidationSummary summary = summary_of(rows, {});
  CHECK(summary.banded == 4);
  CHECK(summary.inside == 3);
  CHECK(rows[2].is_inside() == std::optional(false));
  CHECK_FALSE(rows[4].is_inside());
}
