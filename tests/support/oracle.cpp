#include "tests/support/oracle.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "tests/support/catch.hpp"

namespace stepcast::test {

double deviation(double expected, double got) {
  if (got == expected) return 0.0;
  const double relative = std::abs(got - expected) / std::abs(expected);
  return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
}

std::string describe_deviation(double expected, double got, double relative, const std::string& what) {
  return fmt::format("{}: expected {:.17g}, got {:.17g}, deviation {:.3g} (allowed {:.3g})", what, expected, got,
                     deviation(expected, got), relative);
}

void require_close(double expected, double got, double relative, const std::string& what) {
  INFO(describe_deviation(expected, got, relative, what));
  REQUIRE(deviation(expected, got) <= relative);
}

void assert_close(double expected, double got, double relative, const std::string& what) {
  if (deviation(expected, got) > relative) RC_FAIL(describe_deviation(expected, got, relative, what));
}

}  // namespace stepcast::test
