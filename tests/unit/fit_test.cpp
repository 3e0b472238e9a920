// Constants fitted to measurements, on errors whose least median is worked out by hand.
#include "models/validation/fit.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace stepcast;

TEST_CASE("the median is the least half way between the two nearest measurements") {
  // |v-1.2|, |v-1.3| and |v-1.9|: the middle one is at least half of 1.3-1.2, at 1.25.
  const Fit fit = fit_least_median({parse_axis_range("1.0..2.0")}, [](const std::vector<double>& v) {
    return std::vector{std::abs(v[0] - 1.2), std::abs(v[0] - 1.3), std::abs(v[0] - 1.9)};
  });
  INFO(fit.values[0] << " " << fit.median);
  CHECK(std::abs(fit.values[0] - 1.25) < 0.002);
  CHECK(std::abs(fit.median - 0.05) < 0.002);
  CHECK(fit.measurements == 3);
  CHECK(fit.tried <= 40);
}

TEST_CASE("measurements that are left out are forecast from the others") {
  // Each of two measurements alone is met exactly, at 0.5 and at 1 (values of the grid), where the other one is 0.5 off.
  // Together their median is the mean of both, 0.25 anywhere between them.
  const Fit fit = fit_least_median({parse_axis_range("0..2.0")}, [](const std::vector<double>& v) {
    return std::vector{std::abs(v[0] - 0.5), std::abs(v[0] - 1.0)};
  });
  CHECK(std::abs(fit.median - 0.25) < 1e-12);
  CHECK(std::abs(fit.median_left_out - 0.5) < 1e-12);
}

TEST_CASE("a single measurement is met, which proves nothing") {
  const Fit fit = fit_least_median({parse_axis_range("0..2.0")},
                                   [](const std::vector<double>& v) { return std::vector{std::abs(v[0] - 0.5)}; });
  CHECK(fit.values == std::vector{0.5});
  CHECK(fit.median == 0);
  CHECK(fit.median_left_out == 0);
}

TEST_CASE("each of several constants is fitted, and whole numbers stay whole") {
  const Fit fit = fit_least_median(
      {parse_axis_range("1.0..2.0"), parse_axis_range("1..9")},
      [](const std::vector<double>& v) { return std::vector{std::abs(v[0] - 1.4) + std::abs(v[1] - 7)}; });
  INFO(fit.values[0]);
  CHECK(std::abs(fit.values[0] - 1.4) < 0.002);
  CHECK(fit.values[1] == 7);
}

TEST_CASE("impossible values are left out") {
  // Among 1 to 8 the odd ones are impossible; of the even ones 4 is the nearest to 4.4.
  const auto even = [](const std::vector<double>& v) {
    return static_cast<int>(v[0]) % 2 ? std::vector<double>{} : std::vector{std::abs(v[0] - 4.4)};
  };
  const Fit fit = fit_least_median({parse_axis_range("1..8")}, even);
  CHECK(fit.values == std::vector{4.0});
  CHECK(fit.tried == 8);
  CHECK(fit.impossible == 4);
  CHECK(fit.measurements == 1);
  const Fit none =
      fit_least_median({parse_axis_range("1..8")}, [](const std::vector<double>&) { return std::vector<double>{}; });
  CHECK(none.measurements == 0);
  CHECK(none.impossible == none.tried);
}

TEST_CASE("constants without influence are recognized") {
  const Fit fit = fit_least_median({parse_axis_range("1.0..2.0"), parse_axis_range("1..9")},
                                   [](const std::vector<double>& v) { return std::vector{std::abs(v[1] - 7)}; });
  CHECK(fit.matters == std::vector{false, true});
}

TEST_CASE("values found are rounded to four digits, and stay in their range") {
  CHECK(rounded(parse_axis_range("1.0..2.0"), 1.23456) == 1.235);
  CHECK(rounded(parse_axis_range("1.00004..2.0"), 1.000041) == 1.00004);     // 1.000 is below the range
  CHECK(rounded(parse_axis_range("0.123456..1.0"), 0.123456) == 0.123456);   // an end
  CHECK(rounded(parse_axis_range("20001..20005"), 20003) == 20003);          // one of the range's own values
  CHECK(rounded(parse_axis_range("20001.5..20002.5"), 20002.1) == 20002.1);  // 20000 is none of the range
}
