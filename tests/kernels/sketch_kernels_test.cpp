// SketchML, 3LC and INCEPTIONN: codes within their bounds, messages that decode to the coded elements.
#include <algorithm>

#include "kernels/code/inceptionn.hpp"
#include "kernels/code/samples.hpp"
#include "kernels/code/three_lc.hpp"
#include "tests/kernels/host_references.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const std::uint8_t* bytes(const Workspace& workspace, std::size_t at) {
  return static_cast<const std::uint8_t*>(workspace.data(at));
}
std::uint32_t word(const Workspace& workspace, std::size_t at) {
  return static_cast<const std::uint32_t*>(workspace.data(at))[0];
}

/// A kernel's workspace, its buffer `at` replaced before it runs.
template <class T>
Workspace run_on(const std::string& name, std::int64_t n, std::size_t at, const std::vector<T>& input) {
  const Kernel kernel = find_kernel(name);
  Workspace workspace(kernel, n, Input::normal, 1);
  REQUIRE(workspace.bytes(at) == input.size() * sizeof(T));
  std::memcpy(workspace.data(at), input.data(), workspace.bytes(at));
  kernel.reference(workspace.call());
  return workspace;
}

std::vector<std::uint8_t> runs_of(const std::vector<std::uint8_t>& codes) {
  const Workspace w = run_on("zero-runs/3lc", 5 * static_cast<std::int64_t>(codes.size()), 0, codes);
  return {bytes(w, 1), bytes(w, 1) + word(w, 2)};
}

/// 3LC's whole way for a vector.
std::vector<float> through_three_lc(const std::vector<float>& x, float largest) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Workspace quantized = run("quantize/3lc", n, {{0, x}, {1, {largest}}});
  const Workspace coded = run_on(
      "zero-runs/3lc", n, 0, std::vector<std::uint8_t>(bytes(quantized, 2), bytes(quantized, 2) + quantized.bytes(2)));
  const Kernel decode = find_kernel("decode/3lc");
  Workspace w(decode, n, Input::normal, 1);
  std::memcpy(w.data(0), coded.data(1), w.bytes(0));
  std::memcpy(w.data(1), coded.data(2), w.bytes(1));
  std::memcpy(w.data(2), &largest, sizeof largest);
  decode.reference(w.call());
  return floats(w, 3);
}

float largest_of(const std::vector<float>& x) {
  return floats(run("max-abs/8-bit", static_cast<std::int64_t>(x.size()), {{0, x}}), 1)[0];
}

}  // namespace

TEST_CASE("SketchML: sorted as floats are, NaN beyond the infinity of its sign") {
  for (const std::int64_t n : kSizes) {
    std::vector<float> x = gradient(n, Input::normal, 3);
    const std::vector<float> sorted = floats(run("radix-sort/sketchml", n, {{0, x}}), 1);
    std::sort(x.begin(), x.end());
    CHECK(sorted == x);
  }
  const std::vector<float> sorted =
      floats(run("radix-sort/sketchml", 9, {{0, {kNan, 1, 0.0F, -kInfinity, -0.0F, kInfinity, -kNan, -1, 1e-40F}}}), 1);
  CHECK(std::isnan(sorted[0]));
  CHECK(std::signbit(sorted[0]));
  CHECK(sorted[1] == -kInfinity);
  CHECK(sorted[2] == -1);
  CHECK((sorted[3] == 0 && !std::signbit(sorted[3])));  // the zeros in their order
  CHECK((sorted[4] == 0 && std::signbit(sorted[4])));
  CHECK(sorted[5] == 1e-40F);
  CHECK(sorted[6] == 1);
  CHECK(sorted[7] == kInfinity);
  CHECK(std::isnan(sorted[8]));
}

TEST_CASE("search tree: edges are in order, and counted") {
  for (const int levels : {1, 7, 8}) {
    int next = 0, tree[256] = {};
    const auto walk = [&](const auto& self, int node) -> void {
      if (node >= 1 << levels) return;
      self(self, 2 * node);
      CHECK(edge_of_node(node, levels) == next++);
      tree[node] = edge_of_node(node, levels);
      self(self, 2 * node + 1);
    };
    walk(walk, 1);
    CHECK(next == (1 << levels) - 1);
    for (int x = 0; x < 1 << levels; ++x) CHECK(count_below(tree, levels, [=](int edge) { return edge < x; }) == x);
  }
}

TEST_CASE("SketchML: a code is the number of edges not above the element") {
  for (const Input input : kInputs) {
    const Kernel kernel = find_kernel("find-bins/sketchml");
    Workspace w(kernel, 4097, input, 5);
    kernel.reference(w.call());
    const std::vector<float> x = floats(w, 0), edges = floats(w, 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto expected = std::count_if(edges.begin(), edges.end(),
                                          [&](float edge) { return ordered_bits(edge) <= ordered_bits(x[i]); });
      if (bytes(w, 2)[i] != expected) FAIL(x[i] << " has code " << int{bytes(w, 2)[i]} << ", expected " << expected);
    }
  }
}

TEST_CASE("SketchML: an element moves no farther than its quantile is wide, and sums stay") {
  for (const std::int64_t n : {1, 255, 256, 4097, 99991}) {
    const std::vector<float> x = gradient(n, Input::normal, 11);
    const std::vector<float> sorted = floats(run("radix-sort/sketchml", n, {{0, x}}), 1),
                             edges = floats(run("quantile-edges/sketchml", n, {{0, sorted}}), 1);
    REQUIRE(edges.size() == 255);
    CHECK(std::is_sorted(edges.begin(), edges.end()));
    const Workspace binned = run("find-bins/sketchml", n, {{0, x}, {1, edges}});
    const Kernel kernel = find_kernel("segment-means/sketchml");
    Workspace means(kernel, n, Input::normal, 1);
    std::memcpy(means.data(0), x.data(), means.bytes(0));
    std::memcpy(means.data(1), binned.data(2), means.bytes(1));
    kernel.reference(means.call());
    const std::vector<float> back = decoded("decode/sketchml", means, {1, 2}, n);
    double sum = 0, sent = 0, sizes = 0;
    std::vector<int> counts(256);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint8_t code = bytes(binned, 2)[i];
      const float low = code == 0 ? sorted.front() : edges[code - 1U], high = code == 255 ? sorted.back() : edges[code];
      if (!(back[i] >= low - 1e-6F && back[i] <= high + 1e-6F))
        FAIL(x[i] << " of quantile [" << low << ", " << high << "] became " << back[i]);
      sum += static_cast<double>(x[i]);
      sent += static_cast<double>(back[i]);
      sizes += std::abs(static_cast<double>(x[i]));
      ++counts[code];
    }
    CHECK(std::abs(sum - sent) <= 1e-6 * sizes);
    // Elements are all different: quantiles are as large as each other, but for rounding.
    if (n >= 4097)
      for (const int count : counts) CHECK(std::abs(count - static_cast<double>(n) / 256) <= 1);
  }
}

TEST_CASE("3LC: five trits a byte") {
  int trits[5];
  for (int code = 0; code < 243; ++code) {
    for (int k = 0; k < 5; ++k) trits[k] = trit_at(static_cast<std::uint8_t>(code), k);
    CHECK(quartic_code(trits) == code);
  }
  const int oracle[] = {1, 0, -1, 1, 1};  // 2·81 + 1·27 + 0·9 + 2·3 + 2
  CHECK(quartic_code(oracle) == 197);
  for (const int k : {0, 4}) CHECK(trit_at(kZeroByte, k) == 0);
}

TEST_CASE("3LC: within half of s·max|x|, back over runs of zeros") {
  for (const std::int64_t n : kSizes)
    for (const Input input : {Input::normal, Input::zeros, Input::denormals}) {
      const std::vector<float> x = gradient(n, input, 13);
      const float scale = 1.5F * largest_of(x);
      const std::vector<float> back = through_three_lc(x, largest_of(x));
      for (std::size_t i = 0; i < x.size(); ++i) {
        // In denormals half of the scale is rounded by half of 1.4e-45.
        if (!(std::abs(back[i] - x[i]) <= 0.50001F * scale + 1.5e-45F))
          FAIL(x[i] << " became " << back[i] << ", scale " << scale);
        if (!(back[i] == 0 || std::abs(back[i]) == scale)) FAIL(back[i] << " is neither 0 nor the scale " << scale);
      }
    }
  for (const float largest : {kNan, kInfinity})
    for (const float value : through_three_lc({1, 2, 3, 4, 5, 6}, largest)) CHECK(std::isnan(value));
}

TEST_CASE("3LC: runs of two to fourteen zero bytes are one byte") {
  const auto zeros = [](int count) { return std::vector<std::uint8_t>(count, std::uint8_t{121}); };
  const auto code = [](std::initializer_list<int> values) {
    std::vector<std::uint8_t> all;
    for (const int value : values) all.push_back(static_cast<std::uint8_t>(value));
    return all;
  };
  CHECK(runs_of(code({5})) == code({5}));
  CHECK(runs_of(zeros(1)) == code({121}));
  CHECK(runs_of(zeros(2)) == code({243}));
  CHECK(runs_of(zeros(14)) == code({255}));
  CHECK(runs_of(zeros(15)) == code({255, 121}));
  CHECK(runs_of(zeros(30)) == code({255, 255, 243}));
  CHECK(runs_of(code({7, 121, 121, 121, 9, 121})) == code({7, 244, 9, 121}));
  // 4096 = 292·14 + 8 zero bytes of a tile are 293, and those of the next begin anew.
  CHECK(runs_of(zeros(4096)).size() == 293);
  CHECK(runs_of(zeros(4098)).size() == 294);
  CHECK(runs_of(zeros(4098)).back() == 243);
}

TEST_CASE("3LC: any message decodes") {
  // More than there is room for, less, and bytes that stand for runs.
  const Kernel kernel = find_kernel("decode/3lc");
  for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{121}, std::uint8_t{255}})
    for (const std::uint32_t total : {0U, 1U, 3U}) {
      Workspace w(kernel, 13, Input::normal, 1);
      std::memset(w.data(0), byte, w.bytes(0));
      std::memcpy(w.data(1), &total, sizeof total);
      const float largest = 2;
      std::memcpy(w.data(2), &largest, sizeof largest);
      kernel.reference(w.call());
      // Byte 0 is five trits -1, worth -s·max = -3.
      for (std::size_t i = 0; i < 13; ++i) CHECK(floats(w, 3)[i] == (byte == 0 && i < 5 * total ? -3.0F : 0.0F));
    }
}

TEST_CASE("3LC: timings take the codes of normal input, whatever the seed") {
  constexpr std::int64_t n = 99991;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {  // checks draw the share of zeros by these seeds
    const std::vector<float> x = gradient(n, Input::normal, seed);
    const Workspace quantized = run("quantize/3lc", n, {{0, x}, {1, {largest_of(x)}}});
    const std::vector<std::uint8_t> codes(bytes(quantized, 2), bytes(quantized, 2) + quantized.bytes(2));
    const auto timed = [&](const char* name) {
      Kernel kernel = find_kernel(name);
      kernel.prepare = kernel.prepare_timed;
      return Workspace(kernel, n, Input::normal, seed);
    };
    const Workspace coding = timed("zero-runs/3lc");
    CHECK(std::equal(codes.begin(), codes.end(), bytes(coding, 0)));
    for (const char* name : {"decode/3lc", "decode-add/3lc"}) {
      const Workspace decoding = timed(name);
      const Workspace message = run_on("zero-runs/3lc", n, 0, codes);
      REQUIRE(word(decoding, 1) == word(message, 2));
      CHECK(std::equal(bytes(message, 1), bytes(message, 1) + word(message, 2), bytes(decoding, 0)));
    }
  }
}

TEST_CASE("INCEPTIONN: each class within its bound, the largest as they are") {
  property(
      "one element",
      [] {
        const auto x = static_cast<float>(positive_between(1e-12, 0.999) * (coin() ? 1 : -1));
        const double size = std::abs(static_cast<double>(x));
        const float back = exponent_tag(x) == 2   ? of_inceptionn_16(inceptionn_16(x))
                           : exponent_tag(x) == 1 ? of_inceptionn_8(inceptionn_8(x))
                                                  : 0.0F;
        RC_ASSERT(exponent_tag(x) == (size >= 0x1p-5 ? 2U : size >= 0x1p-10 ? 1U : 0U));
        RC_ASSERT(std::abs(static_cast<double>(back) - static_cast<double>(x)) < (size >= 0x1p-5    ? 0x1p-15
                                                                                  : size >= 0x1p-10 ? 0x1p-12
                                                                                                    : 0x1p-10));
        RC_ASSERT(std::abs(static_cast<double>(back)) <= size);
      },
      2000);
  for (const float x : {1.0F, -1.0F, 1e30F, kInfinity, -kInfinity, kNan}) CHECK(exponent_tag(x) == 3);
  for (const float x : {0.0F, -0.0F, 1e-40F, 0x1.fp-11F}) CHECK(exponent_tag(x) == 0);
}

TEST_CASE("INCEPTIONN: tags and values in order, and back") {
  for (const std::int64_t n : kSizes)
    for (const Input input : kInputs) {
      const Kernel kernel = find_kernel("compact-by-tag/inceptionn"), decode = find_kernel("decode/inceptionn");
      Workspace w(kernel, n, input, 17);
      kernel.reference(w.call());
      const std::vector<float> x = floats(w, 0);
      std::uint32_t totals[3] = {0, 0, 0};
      for (const float value : x)
        if (const std::uint32_t tag = exponent_tag(value); tag > 0) ++totals[3 - tag];
      CHECK(std::memcmp(totals, w.data(5), sizeof totals) == 0);
      Workspace back(decode, n, input, 1);
      for (std::size_t i = 0; i < 4; ++i) {
        REQUIRE(back.bytes(i) == w.bytes(i + 1));
        std::memcpy(back.data(i), w.data(i + 1), back.bytes(i));
      }
      decode.reference(back.call());
      const std::vector<float> got = floats(back, 4);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool whole = !(std::abs(x[i]) < 1);
        if (whole ? bits_of(got[i]) != bits_of(x[i]) : !(std::abs(got[i] - x[i]) < 0x1p-10F))
          FAIL(x[i] << " became " << got[i]);
      }
    }
}
