#include "sim/replay/engine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/replay/processes.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/sanitized.hpp"

using namespace stepcast;
using namespace stepcast::test;

TEST_CASE("stacks are protected while that takes half of a process's mappings at most") {
  // Two mappings each: 16382 actors have 32764, 16383 have 32766, of 65530 / 2 = 32765.
  CHECK(protects_stacks(16382, 65530));
  CHECK_FALSE(protects_stacks(16383, 65530));
  const auto options =
      run_in_processes(2, 1, [](std::size_t i) { return Json(prepare_stacks(i == 0 ? 1 : most_mappings())); });
  const auto is_unprotected = [&](std::size_t i) {
    const auto all = options[i].value.get<std::vector<std::string>>();
    return std::find(all.begin(), all.end(), "--cfg=contexts/guard-size:0") != all.end();
  };
  CHECK_FALSE(is_unprotected(0));
  CHECK(is_unprotected(1));
}

TEST_CASE("more actors than a process may have mappings for") {
  // 33,000 workers on one stream each, whose protected stacks would be 66,000 mappings. AddressSanitizer has mappings of
  // its own for each of them, and gets no more.
  const int workers = kSanitized ? 3300 : 33000;
  const auto answers = evaluate_both(
      {{"broadcast", collective_of(star(workers), Operation::broadcast, Algorithm::binomial_tree, 1_MB)}});
  require_close(answers[0].equations.step, answers[0].replay.step, 1e-9, "step");
}
