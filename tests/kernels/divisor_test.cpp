// Division by multiplication, against the processor's.
#include <limits>

#include "kernels/code/divisor.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast::kernels;

TEST_CASE("quotient and remainder are those of a division") {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  // Around powers of two, where shift and multiplier change; primes; and dividends around multiples of each.
  int checks = 0;
  const std::uint32_t divisors[] = {1,          2,          3,          5,        7,     9,     11,
                                    49,         641,        50176,      65535,    65536, 65537, 6700417,
                                    0x7fffffff, 0x80000000, 0x80000001, most - 1, most};
  for (const std::uint32_t d : divisors) {
    const Divisor divisor(d);
    for (std::uint64_t k = 0; k <= most / d; k += 1 + most / d / 1000)
      for (const std::uint64_t x : {k * d, k * d + 1, k * d + d - 1, std::uint64_t{most} - k}) {
        if (x > most) continue;
        ++checks;
        auto quotient = static_cast<std::uint32_t>(x);
        const std::uint32_t remainder = divisor.split(quotient);
        if (quotient != x / d || remainder != x % d)
          FAIL(x << " / " << d << ": expected " << x / d << " rest " << x % d << ", got " << quotient << " rest "
                 << remainder);
      }
  }
  CHECK(checks > 50000);  // 19 divisors, about 1000 multiples of most, four dividends each
}
