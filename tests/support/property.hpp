// Properties: a statement checked on generated cases by RapidCheck, reported as one Catch2 assertion.
//
//     property("addition commutes", [] {
//       const double a = real_between(-1, 1), b = real_between(-1, 1);
//       RC_ASSERT(a + b == b + a);
//     });
//
// Cases are the same in every run; RC_PARAMS="seed=7 max_success=10000" in the environment tries others.
#pragma once

#include <string>
#include <utility>

#include <rapidcheck.h>

namespace stepcast::test {

void check_property(const std::string& statement, const rc::detail::Property& testable, int cases);

/// Fails the test with the smallest counterexample found among `cases` cases.
template <class F>
void property(const std::string& statement, F&& holds, int cases = 200) {
  check_property(statement, rc::detail::toProperty(std::forward<F>(holds)), cases);
}

// Values for use inside a property, uniform over the whole range whatever the size of the case; they shrink
// towards the lower end.
int integer_between(int low, int high);  ///< both included
double real_between(double low, double high);
/// Uniform in the logarithm: 1e-9 as likely as 1e3.
double positive_between(double low, double high);
bool coin();

}  // namespace stepcast::test
