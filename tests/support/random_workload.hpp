// A random workload of few gradients.
#pragma once

#include <utility>
#include <vector>

#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

namespace stepcast::test {

/// 1 to 5 gradients, computed in at most 240 ms.
inline Workload random_workload() {
  std::vector<std::pair<double, double>> gradients;
  for (int i = integer_between(1, 5); i > 0; --i)
    gradients.emplace_back(4.0 * integer_between(1, 2000000), real_between(0, 0.02));
  return workload_of(Seconds(real_between(0, 0.1)), gradients, Seconds(coin() ? real_between(0, 0.02) : 0.0),
                     Seconds(real_between(0, 0.02)));
}

}  // namespace stepcast::test
