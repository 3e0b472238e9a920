// Comparison of a result with an expectation that was derived independently: expectation, result, and
// their deviation.
#pragma once

#include <string>

#include "models/unit/quantity.hpp"

namespace stepcast::test {

/// |got - expected| / |expected|; an expected zero must be met exactly. Infinite for NaN.
double deviation(double expected, double got);

/// "what: expected 2, got 3, deviation 0.5 (allowed 1e-12)"
std::string describe_deviation(double expected, double got, double relative, const std::string& what);

/// In a Catch2 test: fails it with describe_deviation() unless the deviation is at most `relative`.
void require_close(double expected, double got, double relative, const std::string& what);

/// In a property (property.hpp): the same, as a counterexample that RapidCheck can shrink.
void assert_close(double expected, double got, double relative, const std::string& what);

template <int T, int B, int F>
void require_close(Quantity<T, B, F> expected, Quantity<T, B, F> got, double relative, const std::string& what) {
  require_close(expected.si(), got.si(), relative, what);
}
template <int T, int B, int F>
void assert_close(Quantity<T, B, F> expected, Quantity<T, B, F> got, double relative, const std::string& what) {
  assert_close(expected.si(), got.si(), relative, what);
}

}  // namespace stepcast::test
