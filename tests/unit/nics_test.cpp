// The NIC of a GPU, and the order that takes NICs in turn, by hand and for any machine.
#include "models/part/nics.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

std::vector<int> nics(const Nics& machine) {
  std::vector<int> all;
  for (int gpu = 0; gpu < machine.gpus; ++gpu) all.push_back(machine.of(gpu));
  return all;
}

std::vector<int> order(const Nics& machine, int present) {
  std::vector<int> all;
  for (int j = 0; j < present; ++j) all.push_back(machine.gpu_in_turn(j, present));
  return all;
}

}  // namespace

TEST_CASE("GPUs take NICs in turn, or neighbours share one") {
  CHECK(nics({8, 4, NicOfGpu::in_turn}) == std::vector{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(nics({8, 4, NicOfGpu::neighbours}) == std::vector{0, 0, 1, 1, 2, 2, 3, 3});
  // floor(5l/7) of l = 0..6: 0, 0.71, 1.43, 2.14, 2.86, 3.57, 4.29.
  CHECK(nics({7, 5, NicOfGpu::neighbours}) == std::vector{0, 0, 1, 2, 2, 3, 4});
  CHECK(order({8, 4, NicOfGpu::in_turn}, 8) == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(order({8, 4, NicOfGpu::neighbours}, 8) == std::vector{1, 3, 5, 7, 0, 2, 4, 6});
  CHECK(order({7, 5, NicOfGpu::neighbours}, 7) == std::vector{1, 2, 4, 5, 6, 0, 3});
  // The fourth of four GPUs is alone on the third NIC.
  CHECK(order({7, 5, NicOfGpu::neighbours}, 4) == std::vector{1, 2, 3, 0});
  CHECK(Nics{7, 5, NicOfGpu::neighbours}.in_use(4) == 3);
  CHECK(Nics{8, 4, NicOfGpu::in_turn}.in_use(3) == 3);
}

TEST_CASE(
    "property: the first c of that order leave by ceil(c/k) at most to a NIC, and the GPUs behind them enter so") {
  property(
      "any whole machine",
      [] {
        const int gpus = integer_between(1, 40), count = integer_between(1, gpus), c = integer_between(1, gpus);
        for (const NicOfGpu rule : {NicOfGpu::in_turn, NicOfGpu::neighbours}) {
          const Nics machine{gpus, count, rule};
          std::vector<int> leave(count), enter = leave;
          std::set<int> taken;
          for (int j = 0; j < c; ++j) {
            const int gpu = machine.gpu_in_turn(j, gpus);
            taken.insert(gpu);
            ++leave[machine.of(gpu)];
            ++enter[machine.of((gpu + 1) % gpus)];
          }
          const int most = (c + count - 1) / count;
          const std::string what = fmt::format("{} GPUs, {} NICs, rule {}, c = {}: leave {}, enter {}", gpus, count,
                                               static_cast<int>(rule), c, fmt::join(leave, " "), fmt::join(enter, " "));
          if (static_cast<int>(taken.size()) != c) RC_FAIL("a GPU twice, " + what);
          if (*std::max_element(leave.begin(), leave.end()) > most) RC_FAIL(what);
          if (*std::max_element(enter.begin(), enter.end()) > most) RC_FAIL(what);
        }
      },
      3000);
}
