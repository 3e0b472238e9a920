// DGC and adaptive quantization: sampled elements, the threshold, sent elements and kept elements.
#include <algorithm>
#include <set>

#include "kernels/code/samples.hpp"
#include "tests/kernels/host_references.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const std::uint32_t* words(const Workspace& workspace, std::size_t at) {
  return static_cast<const std::uint32_t*>(workspace.data(at));
}

/// A kernel of one sign run on x: threshold by its `prepare`.
Workspace run_of_sign(const std::string& name, const std::vector<float>& x, int sign) {
  Kernel kernel = find_kernel(name);
  kernel.parameters = {sign};
  Workspace workspace(kernel, static_cast<std::int64_t>(x.size()), Input::normal, 1);
  std::memcpy(workspace.data(0), x.data(), workspace.bytes(0));
  if (kernel.prepare) kernel.prepare(workspace.call());
  kernel.reference(workspace.call());
  return workspace;
}

}  // namespace

TEST_CASE("DGC: u = μu + g, v = v + u") {
  // μ = 0.9: u = 0.9·2 + 1 = 2.8, v = 3 + 2.8 = 5.8; u = 0.9·0 - 4, v = 1 - 4.
  const Workspace w = run("momentum-correction/dgc", 2, {{0, {1, -4}}, {1, {2, 0}}, {2, {3, 1}}});
  require_close(2.8, static_cast<double>(floats(w, 1)[0]), 1e-7, "u");
  require_close(5.8, static_cast<double>(floats(w, 2)[0]), 1e-7, "v");
  CHECK(floats(w, 1)[1] == -4);
  CHECK(floats(w, 2)[1] == -3);
}

TEST_CASE("samples are drawn evenly") {
  // 200,000 draws among 37: each element is drawn with probability q = 1/37, so 5405.4 times with a deviation of
  // sqrt(200,000·q(1-q)) = 72.5.
  std::vector<int> counts(37);
  for (std::uint64_t j = 0; j < 200000; ++j) ++counts[sample_index(5, j, 37)];
  for (const int count : counts) {
    INFO("drawn " << count << " times, expected 5405.4");
    CHECK(std::abs(count - 5405.4) <= 5 * 72.5);
  }
  // The same of one sign: of 0 ... 36 less 18 the 18 above zero, 11111.1 times with a deviation of
  // sqrt(200,000·(1/18)(17/18)) = 102.4.
  std::vector<float> x(37);
  for (int i = 0; i < 37; ++i) x[i] = static_cast<float>(i - 18);
  std::vector<int> positive(19);
  for (std::uint64_t j = 0; j < 200000; ++j) ++positive[static_cast<std::size_t>(sign_sample(x.data(), 37, 1, 5, j))];
  CHECK(positive[0] <= 5);  // no positive element in 32 draws: (19/37)^32 = 5.4e-10 of them
  for (std::size_t value = 1; value < 19; ++value) {
    INFO("drawn " << positive[value] << " times, expected 11111.1");
    CHECK(std::abs(positive[value] - 11111.1) <= 5 * 102.4);
  }
}

TEST_CASE("samples are magnitudes of elements, of the requested sign if any") {
  for (const std::int64_t n : {1, 2, 33, 511, 99991})
    for (const Input input : kInputs) {
      const std::vector<float> x = gradient(n, input, 7);
      std::set<std::uint32_t> all, of[2];
      for (const float value : x) {
        all.insert(magnitude_bits(value));
        for (const int sign : {-1, 1})
          if (of_sign(value, sign)) of[sign > 0].insert(magnitude_bits(value));
      }
      for (const float value : floats(run("sample/dgc", n, {{0, x}}), 1))
        if (!all.contains(bits_of(value))) FAIL(value << " is no magnitude, n " << n);
      for (const int sign : {-1, 1})
        for (const float value : floats(run_of_sign("sample/adaptive", x, sign), 1))
          if (value != 0 && !of[sign > 0].contains(bits_of(value)))
            FAIL(value << " is no magnitude of sign " << sign << ", n " << n);
    }
}

TEST_CASE("DGC: the sampled threshold is reached by about k elements") {
  // The share of all elements that reach the k-th largest of s samples is Beta(k, s - k + 1). Its mean is k/(s + 1),
  // its deviation about √k/s. With n = 2^20: s = 10485, k = 104, so 0.00992 of 1048576 with a deviation of 0.000973.
  const std::int64_t n = 1 << 20;
  const std::vector<float> x = gradient(n, Input::normal, 3);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::vector<float> sample = floats(run("sample/dgc", n, {{0, x}}, seed), 1);
    REQUIRE(sample.size() == 10485);
    const Workspace selected = run("radix-select/dgc", n, {{0, sample}});
    const float threshold = float_of(words(selected, 1)[0]);
    std::vector<float> sorted = sample;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    CHECK(threshold == sorted[103]);
    const auto sent = static_cast<double>(
        std::count_if(x.begin(), x.end(), [&](float value) { return std::abs(value) >= threshold; }));
    INFO(sent << " reach the threshold " << threshold);
    CHECK(std::abs(sent / static_cast<double>(n) - 104.0 / 10486) <= 5 * 0.000973);
  }
}

TEST_CASE("DGC: elements at the threshold are sent and cleared, the rest stays") {
  for (const std::int64_t n : kSizes)
    for (const Input input : kInputs) {
      const std::vector<float> v = gradient(n, input, 5), u = gradient(n, Input::normal, 6);
      const Kernel kernel = find_kernel("compact/dgc");
      Workspace w(kernel, n, input, 5);
      REQUIRE(std::memcmp(w.data(0), v.data(), w.bytes(0)) == 0);
      kernel.reference(w.call());
      const std::uint32_t total = words(w, 5)[0];
      CHECK(total >= static_cast<std::uint32_t>(kept_of(n)));
      std::uint64_t counted = 0;
      for (std::int64_t tile = 0; tile < ceil_div(n, kTile); ++tile)
        counted += static_cast<const std::uint64_t*>(w.data(2))[tile];
      CHECK(counted == total);
      const Workspace cleared = run("clear-sent/dgc", n, {{0, v}, {1, floats(w, 1)}, {2, u}});
      std::vector<float> left = floats(cleared, 0), left_u = floats(cleared, 2), expected_u = u;
      for (std::uint32_t j = 0; j < total; ++j) {
        const std::uint32_t i = words(w, 4)[j];
        if (j > 0 && i <= words(w, 4)[j - 1]) FAIL("not in index order");
        if (left[i] != 0) FAIL("sent and kept");
        left[i] = floats(w, 3)[j];
        expected_u[i] = 0;
        if (total > 1000 && j > 100) break;  // floats() copies; the first hundred tell
      }
      if (total <= 1000) {
        CHECK(std::memcmp(left.data(), v.data(), w.bytes(0)) == 0);
        CHECK(left_u == expected_u);
      }
      // None left reaches the smallest sent: NaN and infinity are sent first.
      if (input == Input::non_finite)
        for (const float value : floats(cleared, 0))
          if (reaches(value, floats(w, 1)[0]) && floats(w, 1)[0] != 0)
            FAIL(value << " stayed, threshold " << floats(w, 1)[0]);
    }
}

TEST_CASE("adaptive: the largest of one sign, and their mean") {
  for (const std::int64_t n : {1, 2, 33, 511, 4097, 99991})
    for (const Input input : kInputs)
      for (const int sign : {-1, 1}) {
        const std::vector<float> x = gradient(n, input, 9);
        const Workspace w = run_of_sign("compact-mean/adaptive", x, sign);
        const std::uint32_t total = words(w, 5)[0];
        // By a sort: the k-th largest of the sign, and all that are no smaller.
        std::vector<float> mine;
        for (const float value : x)
          if (sign > 0 ? value > 0 : value < 0) mine.push_back(std::abs(value));
        std::sort(mine.begin(), mine.end(), std::greater<>());
        const float least = mine.empty() ? kInfinity
                                         : mine[static_cast<std::size_t>(std::max<std::int64_t>(
                                                    1, static_cast<std::int64_t>(mine.size()) / 100)) -
                                                1];
        double sum = 0;
        std::uint32_t j = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (!((sign > 0 ? x[i] > 0 : x[i] < 0) && std::abs(x[i]) >= least)) continue;
          if (j >= total || words(w, 3)[j] != i) FAIL("element " << i << " of " << n << ", " << name_of(input));
          sum += static_cast<double>(x[i]);
          ++j;
        }
        CHECK(total == j);
        const auto mean = static_cast<double>(floats(w, 4)[0]);
        if (j == 0) CHECK(mean == 0);
        else if (std::isfinite(sum))
          CHECK(std::abs(mean - sum / j) <= 1e-6 * std::abs(sum / j) + 0x1p-150);  // half of the least denormal
        else CHECK(std::isinf(mean));
      }
}

TEST_CASE("adaptive: a message is two means and where they belong") {
  const Kernel kernel = find_kernel("scatter/adaptive");
  Workspace w(kernel, 500, Input::normal, 2);
  const std::vector<float> before = floats(w, 3), means = floats(w, 1);
  kernel.reference(w.call());
  REQUIRE(words(w, 2)[0] == 2);  // out of five
  std::vector<float> expected = before;
  for (std::size_t j = 0; j < 5; ++j) expected[words(w, 0)[j]] = means[j < 2 ? 0 : 1];
  CHECK(floats(w, 3) == expected);
}
