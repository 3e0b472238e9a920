#include "tests/support/property.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "tests/support/catch.hpp"

namespace stepcast::test {
namespace {

/// In [0, 1], on a grid fine enough for any test and exact in binary.
double unit_interval() {
  constexpr std::int64_t steps = std::int64_t{1} << 40;
  return static_cast<double>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, steps + 1))) /
         static_cast<double>(steps);
}

}  // namespace

void check_property(const std::string& statement, const rc::detail::Property& testable, int cases) {
  // RapidCheck reads RC_PARAMS once, before its first property.
  static const bool chosen = std::getenv("RC_PARAMS") || (setenv("RC_PARAMS", "seed=20240917", 1), false);
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (!chosen) params.maxSuccess = cases;
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = statement;
  const auto result = rc::detail::checkProperty(testable, metadata, params);
  if (result.is<rc::detail::SuccessResult>()) {
    SUCCEED(statement);
    return;
  }
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL("property \"" << statement << "\" (seed " << params.seed << ")\n" << text.str());
}

int integer_between(int low, int high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1)); }
double real_between(double low, double high) { return low + (high - low) * unit_interval(); }
double positive_between(double low, double high) { return low * std::pow(high / low, unit_interval()); }
bool coin() { return integer_between(0, 1) == 1; }

}  // namespace stepcast::test
