// A global batch in equal shares and passes.
#include "models/workload/global_batch.hpp"

#include "models/part/workload_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

TEST_CASE("a share is cut into the least number of equal passes that fit") {
  // 4096 samples: 1024 a worker are 32 passes of 32; 16 are one pass of 16.
  CHECK(share_out(4096, 4, {32, 1}) == Passes{32, 32});
  CHECK(share_out(4096, 256, {32, 1}) == Passes{16, 1});
  CHECK(share_out(4096, 4096, {32, 1}) == Passes{1, 1});
  // 36 a worker: two passes of 18 are within 20; 32 + 4 would not be equal. 35: three do not divide it, so five of 7
  // do.
  CHECK(share_out(72, 2, {20, 1}) == Passes{18, 2});
  CHECK(share_out(70, 2, {16, 1}) == Passes{7, 5});
  // At least as many passes as were asked for.
  CHECK(share_out(64, 4, {32, 1}) == Passes{16, 1});
  CHECK(share_out(64, 4, {32, 4}) == Passes{4, 4});
}

TEST_CASE("samples that cannot be divided are refused") {
  CHECK_FALSE(share_out(4096, 48, {32, 1}));
  CHECK_FALSE(share_out(2, 4, {32, 1}));
  CHECK_FALSE(share_out(16, 4, {32, 8}));    // 4 a worker, in 8 passes
  CHECK_FALSE(share_out(65537, 1, {1, 1}));  // a prime beyond the most passes
  CHECK(share_out(65536, 1, {1, 1}) == Passes{1, kMostAccumulation});
}

TEST_CASE("shares hold every sample once, and no fewer passes would") {
  property("share_out", [] {
    const int workers = integer_between(1, 64), batch = integer_between(1, 64), accumulation = integer_between(1, 4);
    const std::int64_t samples = integer_between(1, 5000);
    const auto passes = share_out(samples, workers, {batch, accumulation});
    int fewest = 0;  // by trying every number of passes
    for (int n = accumulation; fewest == 0 && n <= samples; ++n)
      if (samples % (std::int64_t{n} * workers) == 0 && samples / (std::int64_t{n} * workers) <= batch) fewest = n;
    RC_ASSERT(passes.has_value() == (fewest > 0));
    if (!passes) return;
    RC_ASSERT(passes->accumulation == fewest);
    RC_ASSERT(std::int64_t{passes->batch} * passes->accumulation * workers == samples);
  });
}
