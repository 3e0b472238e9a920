// The mathematics of the kernels' CPU references: error bounds, unbiasedness, exact oracles, and NaN as input.
// Descriptors move the bytes that models/compressor/ prices for kernels of the same name.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/code/half.hpp"
#include "kernels/code/permutation.hpp"
#include "kernels/code/quantizers.hpp"
#include "kernels/cpu/lists.hpp"
#include "models/compressor/compressor.hpp"
#include "tests/kernels/host_references.hpp"
#include "tests/kernels/total.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::kernels;

TEST_CASE("Philox gives the published numbers") {
  // Random123's kat_vectors, philox4x32 with 10 rounds.
  const auto check = [](RandomWords counter, std::uint32_t key0, std::uint32_t key1, RandomWords expected) {
    const RandomWords got = philox(counter, key0, key1);
    CHECK(std::equal(got.word, got.word + 4, expected.word));
  };
  check({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  constexpr std::uint32_t ones = 0xffffffff;
  check({{ones, ones, ones, ones}}, ones, ones, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
        {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("half precision") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    // sign, exponent e and mantissa m: (1 + m/1024)·2^(e-15); e = 0: m·2^-24.
    const int e = (half >> 10) & 31, m = half & 1023;
    if (e == 31 && m != 0) {
      CHECK(std::isnan(value));
      CHECK(half_bits(value) == 0x7fff);
      continue;
    }
    const double size = e == 31  ? std::numeric_limits<double>::infinity()
                        : e == 0 ? std::ldexp(m, -24)
                                 : std::ldexp(1024 + m, e - 25);
    if (static_cast<double>(value) != ((half & 0x8000) != 0 ? -size : size) || half_bits(value) != half)
      FAIL("half " << half << " is " << value);
    // Halfway to the next one the even one wins; an ulp of float beyond, the upper.
    if (e >= 31 || (half & 0x8000) != 0) continue;
    const double upper =
        m == 1023 && e == 30 ? 65536 : static_cast<double>(float_of_half(static_cast<std::uint16_t>(half + 1)));
    const auto middle = static_cast<float>((size + upper) / 2);
    if (half_bits(middle) != half + (half & 1)) FAIL("middle above half " << half);
    if (half_bits(std::nextafter(middle, kInfinity)) != half + 1) FAIL("above the middle above half " << half);
  }
}

TEST_CASE("8-bit: within 0.45/64 of the largest") {
  std::vector<float> values;
  for (int code = 0; code < 128; ++code) values.push_back(eight_bit_value(code));
  CHECK(std::is_sorted(values.begin(), values.end()));
  require_close(1, static_cast<double>(values[127]), 1e-7, "code 127");
  require_close(1e-6, static_cast<double>(values[1]), 1e-6, "code 1: six leading zeros");
  for (const std::int64_t n : kSizes)
    for (const Input input : {Input::normal, Input::zeros}) {
      const std::vector<float> x = gradient(n, input, 7);
      const float most = floats(run("max-abs/8-bit", n, {{0, x}}), 1)[0];
      const std::vector<float> back =
          decoded("decode/8-bit", run("quantize/8-bit", n, {{0, x}, {1, {most}}}), {2, 1}, n);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::abs(back[i] - x[i]) <= 0.4501F / 64 * most))
          FAIL("n " << n << ": " << x[i] << " became " << back[i] << ", largest " << most);
    }
}

TEST_CASE("8-bit: each value is coded as itself") {
  EightBitTable table{};
  for (int i = 0; i < 128; ++i) set_entry(table, i);
  for (int code = 0; code < 128; ++code) CHECK(eight_bit_code(eight_bit_value(code), 1, table) == code);
  property("the nearest", [&] {
    const auto y = static_cast<float>(real_between(0, 1));
    const float got = eight_bit_value(eight_bit_code(y, 1, table));
    // Edges are rounded: two values as near as that to y are as good.
    for (int code = 0; code < 128; ++code) RC_ASSERT(std::abs(got - y) <= std::abs(eight_bit_value(code) - y) + 1e-7F);
  });
}

TEST_CASE("signs: bit i mod 32 of word i/32, and back") {
  for (const std::int64_t n : kSizes)
    for (const Input input : kInputs) {
      const std::vector<float> x = gradient(n, input, 3);
      const Workspace packed = run("sign-pack/signsgd", n, {{0, x}});
      const std::vector<float> back = decoded("decode/signsgd", packed, {1}, n);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (back[i] != (x[i] < 0 ? -1.0F : 1.0F)) FAIL(x[i] << " became " << back[i]);
      if (n % 32 != 0) CHECK(static_cast<const std::uint32_t*>(packed.data(1))[n / 32] >> (n % 32) == 0);
    }
}

TEST_CASE("majority of packed signs is the majority of counted ones") {
  property("bit by bit", [] {
    const int p = integer_between(1, 255);
    std::vector<std::uint32_t> words(p);
    for (int m = 0; m < p; ++m)
      words[m] =
          philox({{static_cast<std::uint32_t>(m), 0, 0, 0}}, static_cast<std::uint32_t>(integer_between(0, 1 << 30)), 0)
              .word[0];
    const std::uint32_t majority = majority_word(words.data(), 1, p);
    for (int bit = 0; bit < 32; ++bit) {
      const auto ones =
          std::count_if(words.begin(), words.end(), [=](std::uint32_t word) { return ((word >> bit) & 1U) != 0; });
      RC_ASSERT(((majority >> bit) & 1U) == (2 * ones >= p ? 1U : 0U));
    }
  });
}

TEST_CASE("1-bit: means of either sign keep both sums; EF-sign leaves what was not sent") {
  for (const std::int64_t n : kSizes) {
    const std::vector<float> x = gradient(n, Input::normal, 11);
    const std::vector<float> back = decoded("decode/1-bit", run("sign-means/1-bit", n, {{0, x}}), {1, 2}, n);
    // Replacing elements by their group's mean keeps the group's sum.
    for (const bool below : {false, true}) {
      double expected = 0, got = 0, size = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if ((x[i] < 0) != below) continue;
        expected += static_cast<double>(x[i]);
        got += static_cast<double>(back[i]);
        size += 1;
      }
      if (size > 0) require_close(expected, got, 1e-6, "sum of one sign");
    }
    // sent + residual = gradient + old residual.
    const std::vector<float> residual = gradient(n, Input::normal, 12);
    const Workspace fused = run("compensate-encode-remember/ef-signsgd", n, {{0, x}, {1, residual}});
    const std::vector<float> sent = decoded("decode/ef-signsgd", fused, {3, 2}, n), left = floats(fused, 1);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += std::abs(static_cast<double>(x[i] + residual[i]));
      if (!(std::abs(sent[i] + left[i] - (x[i] + residual[i])) <= 1e-5F)) FAIL("element " << i << " of " << n);
    }
    require_close(sum / static_cast<double>(n), static_cast<double>(floats(fused, 2)[0]), 1e-6, "mean magnitude");
  }
}

TEST_CASE("QSGD: within N/s, zeros stay zeros") {
  for (const std::int64_t n : kSizes) {
    const std::vector<float> x = gradient(n, Input::normal, 5);
    const std::vector<float> norms = floats(run("norm/qsgd", n, {{0, x}}), 1);
    for (std::size_t b = 0; b < norms.size(); ++b) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(512 * b);
      require_close(
          norm_of({begin, x.begin() + std::min<std::ptrdiff_t>(n, static_cast<std::ptrdiff_t>(512 * (b + 1)))}),
          static_cast<double>(norms[b]), 1e-6, "norm of a bucket");
    }
    const std::vector<float> back = decoded("decode/qsgd", run("quantize/qsgd", n, {{0, x}, {1, norms}}), {2, 1}, n);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(std::abs(back[i] - x[i]) <= norms[i / 512] / 127 * 1.00001F)) FAIL(x[i] << " became " << back[i]);
  }
  const auto through = [](float x, float norm) {
    return qsgd_decode(qsgd_code(x, qsgd_scale(norm, 127), 127, 0), qsgd_step(norm, 127), 127);
  };
  CHECK(through(0, 0) == 0);
  // The largest element of a bucket of one keeps all but rounding, whatever its size. For 2^-120, a level is 2^-127,
  // rounded to 2^-149.
  for (const float norm : {0x1p-120F, 0x1p-100F, 0x1p-99F, 1.0F, 3.0F, 0x1.8p127F})
    for (const float x : {norm, -norm})
      require_close(static_cast<double>(x), static_cast<double>(through(x, norm)), norm == 0x1p-120F ? 1e-6 : 3e-7,
                    "the largest");
  // Rounded down, half of it is level 63 of 127. The least denormals have levels too.
  for (const float norm : {0x1p-148F, 0x1p-101F, 0x1p-100F, 2.0F, 0x1p127F})
    CHECK(qsgd_code(norm / 2, qsgd_scale(norm, 127), 127, 0xffffffffU) == 127 + 63);
  CHECK(std::isnan(through(1, kInfinity)));
  CHECK(qsgd_code(kInfinity, qsgd_scale(kInfinity, 127), 127, 0) == 127);
}

// A mean of N independent values of standard deviation s lies within 5s/√N of its expectation but once in 1.7 million.
TEST_CASE("QSGD, TernGrad and natural compression are unbiased") {
  constexpr int draws = 100000;
  const auto check = [](float x, double spread, const std::string& what, auto code_and_back) {
    double sum = 0;
    for (std::uint64_t i = 0; i < draws; ++i)
      sum += static_cast<double>(code_and_back(x, random_words(99, i).word[i % 4]));
    const double mean = sum / draws;
    INFO(what << ": expected " << x << ", got " << mean);
    CHECK(std::abs(mean - static_cast<double>(x)) <= 5 * spread / std::sqrt(draws));
  };
  for (const float x : {0.001F, -0.3F, 0.77F, 1.0F, -1.9F}) {
    // Levels are N/s apart, so the deviation is at most half of that.
    check(x, 2.0 / 15 / 2, "QSGD, N = 2, s = 15", [](float value, std::uint32_t r) {
      return qsgd_decode(qsgd_code(value, qsgd_scale(2, 15), 15, r), qsgd_step(2, 15), 15);
    });
    // ±S or 0: at most S/2.
    check(x, 2.0 / 2, "TernGrad, S = 2",
          [](float value, std::uint32_t r) { return ternary_decode(ternary_code(value, 10, 2, r), 2); });
    // Powers of two, 2^e <= |x| apart.
    check(x, std::abs(static_cast<double>(x)) / 2, "natural",
          [](float value, std::uint32_t r) { return natural_decode(natural_code(value, r)); });
  }
}

TEST_CASE("natural: a power of two next to the element") {
  property("2^floor(lg|x|) or twice that", [] {
    const auto x = static_cast<float>(positive_between(1e-30, 6e4) * (coin() ? 1 : -1));
    const float back = natural_decode(natural_code(x, static_cast<std::uint32_t>(integer_between(0, 1 << 30)) << 2));
    const double low = std::exp2(std::floor(std::log2(std::abs(static_cast<double>(x)))));
    RC_ASSERT(std::signbit(back) == std::signbit(x));
    RC_ASSERT(std::abs(static_cast<double>(back)) == low || std::abs(static_cast<double>(back)) == 2 * low);
  });
  CHECK(natural_decode(natural_code(0, 0xffffffff)) == 0);
  CHECK(natural_decode(natural_code(1e-40F, 0xffffffff)) == 0);
  for (const float large : {kInfinity, kNan, 1e30F}) CHECK(natural_decode(natural_code(large, 0)) == 65536);
}

TEST_CASE("TernGrad: scale is the largest of the clipped, codes are -S, 0, S") {
  for (const std::int64_t n : kSizes) {
    const std::vector<float> x = gradient(n, Input::normal, 21);
    const std::vector<float> moments = floats(run("moments/terngrad", n, {{0, x}}), 1);
    double sum = 0, squares = 0;
    for (const float value : x) sum += static_cast<double>(value);
    const double mean = sum / static_cast<double>(n);
    for (const float value : x) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(n));
    CHECK(std::abs(static_cast<double>(moments[1]) - deviation) <= 1e-6);
    const float scale = floats(run("clipped-max/terngrad", n, {{0, x}, {1, moments}}), 2)[0];
    double largest = 0;
    for (const float value : x)
      largest = std::max(largest, std::min(std::abs(static_cast<double>(value)), 2.5 * deviation));
    CHECK(std::abs(static_cast<double>(scale) - largest) <= 1e-5);
    const std::vector<float> back =
        decoded("decode/terngrad", run("quantize/terngrad", n, {{0, x}, {1, moments}, {2, {scale}}}), {3, 2}, n);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(back[i] == 0 || back[i] == (x[i] < 0 ? -scale : scale)))
        FAIL(x[i] << " became " << back[i] << ", scale " << scale);
  }
}

TEST_CASE("random-k: k distinct indices; every element as often as any other") {
  for (const std::int64_t n : kSizes) {
    const Workspace drawn = run("random-indices/random-k", n, {});
    const auto* first = static_cast<const std::uint32_t*>(drawn.data(0));
    const std::set<std::uint32_t> distinct(first, first + kept_of(n));
    CHECK(static_cast<std::int64_t>(distinct.size()) == kept_of(n));
    CHECK(*distinct.rbegin() < n);
  }
  // n = 37, k = 5, 20,000 seeds. Each element is drawn with probability q = 5/37. A count with mean 20,000·q has a
  // deviation of sqrt(20,000·q(1-q)) = 48.4. Kept elements scaled by n/k are therefore unbiased.
  std::map<std::uint32_t, int> counts;
  for (std::uint64_t seed = 0; seed < 20000; ++seed)
    for (std::uint64_t j = 0; j < 5; ++j) ++counts[permuted(j, 37, seed)];
  for (std::uint32_t i = 0; i < 37; ++i) {
    INFO("element " << i << " drawn " << counts[i] << " times, expected 2702.7");
    CHECK(std::abs(counts[i] - 2702.7) <= 5 * 48.4);
  }
}

TEST_CASE("top-k: k elements, none left out is larger; equal ones in index order") {
  for (const std::int64_t n : kSizes)
    for (const Input input : kInputs) {
      const std::vector<float> x = gradient(n, input, 31);
      const Kernel kernel = find_kernel("select-compact/top-k");
      Workspace w(kernel, n, input, 31);
      REQUIRE(std::memcmp(w.data(0), x.data(), w.bytes(0)) == 0);
      kernel.reference(w.call());
      // By a stable sort of all elements.
      std::vector<std::uint32_t> order(x.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return magnitude_bits(x[a]) > magnitude_bits(x[b]); });
      order.resize(kept_of(n));
      std::sort(order.begin(), order.end());
      const auto* indices = static_cast<const std::uint32_t*>(w.data(2));
      CHECK(std::equal(order.begin(), order.end(), indices));
      for (std::size_t j = 0; j < order.size(); ++j)
        if (bits_of(floats(w, 1)[j]) != bits_of(x[order[j]])) FAIL("value " << j);
      if (n > 100000) break;  // one sort of a million is enough
    }
}

TEST_CASE("threshold: exactly the elements above it, counted by tile") {
  for (const std::int64_t n : kSizes) {
    const Kernel kernel = find_kernel("compact/threshold");
    Workspace w(kernel, n, Input::non_finite, 41);
    kernel.reference(w.call());
    const std::vector<float> x = floats(w, 0), values = floats(w, 2);
    std::size_t next = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(x[i] > 2.03F || x[i] < -2.03F)) continue;
      if (static_cast<const std::uint32_t*>(w.data(3))[next] != i || values[next] != x[i]) FAIL("element " << i);
      ++next;
    }
    CHECK(static_cast<const std::uint32_t*>(w.data(4))[0] == next);
    std::uint64_t counted = 0;
    for (std::int64_t tile = 0; tile < ceil_div(n, 4096); ++tile)
      counted += static_cast<const std::uint64_t*>(w.data(1))[tile];
    CHECK(counted == next);
  }
}

TEST_CASE("input that is no number makes scales and means so, and is not lost in the result") {
  std::vector<float> x(100, 1.0F);
  x[17] = kNan;
  CHECK(std::isnan(floats(run("max-abs/8-bit", 100, {{0, x}}), 1)[0]));
  CHECK(std::isnan(floats(run("norm/qsgd", 100, {{0, x}}), 1)[0]));
  CHECK(std::isnan(floats(run("moments/terngrad", 100, {{0, x}}), 1)[1]));
  CHECK(std::isnan(floats(run("sign-mean/ef-signsgd", 100, {{0, x}}), 2)[0]));
  CHECK(std::isnan(floats(run("sign-means/1-bit", 100, {{0, x}}), 2)[1]));
  for (const float scale : {kNan, kInfinity}) {
    const std::vector<float> eight =
        decoded("decode/8-bit", run("quantize/8-bit", 100, {{0, x}, {1, {scale}}}), {2, 1}, 100);
    const std::vector<float> levels =
        decoded("decode/qsgd", run("quantize/qsgd", 100, {{0, x}, {1, {scale}}}), {2, 1}, 100);
    for (const std::vector<float>& back : {eight, levels})
      CHECK(std::none_of(back.begin(), back.end(), [](float value) { return std::isfinite(value); }));
  }
}

TEST_CASE("every reference is total: any input, any size, the same twice") {
  for (const Kernel& kernel : compressor_kernels())
    for (const std::int64_t n : {1, 2, 33, 4097}) check_total(kernel, n);
}

TEST_CASE("a difference is found") {
  const Buffer exact{"x", Element::f32, 2}, loose{"x", Element::f32, 2, Fill::zero, true, 1e-3};
  const float a[] = {1, 100}, b[] = {1.05F, 100}, zero[] = {0, kNan}, minus[] = {-0.0F, kNan};
  CHECK(difference(exact, a, b));
  CHECK_FALSE(difference(loose, a, b));  // 0.05 of the largest, 100, is 5e-4
  CHECK(difference(exact, zero, minus));
  CHECK_FALSE(difference(exact, zero, zero));
  CHECK(difference(loose, zero, a));
}

TEST_CASE("descriptors move the bytes and do the operations of the models' kernels") {
  // One element more than a whole number of buckets, tiles and words, and than the 1024 x 1024 matrix within.
  const std::int64_t n = 128 * 8192 + 1;
  REQUIRE(matrix_view(n).rows == 1024);
  REQUIRE(matrix_view(n).columns == 1024);
  const Tensor vector{{n}}, matrix{{1024, 1024}};
  std::map<std::string, Compressor> methods;
  for (const Compressor& compressor : all_compressors()) methods[kind_of(compressor)] = compressor;
  methods["qsgd"] = Qsgd{.bucket = 512};
  methods["natural"] = Natural{.exponent_bits = 7};  // the kernel that is there writes codes of a byte
  methods["sketchml"] = SketchMl{.quantiles = 256};
  methods["powersgd"] = PowerSgd{.rank = 4};
  // A share erfc(1/√2) of standard normal elements is at least 1 in magnitude; likewise for 2^-5 and 2^-10.
  const double above[] = {std::erfc(1 / std::sqrt(2.0)), std::erfc(0x1p-5 / std::sqrt(2.0)),
                          std::erfc(0x1p-10 / std::sqrt(2.0))};
  methods["inceptionn"] =
      Inceptionn{.share_32 = above[0], .share_16 = above[1] - above[0], .share_8 = above[2] - above[1]};
  const std::map<std::string, std::string> method_of = {
      {"fp16-encode", "fp16"}, {"fp16-decode", "fp16"},    {"sum", "ef-signsgd"},      {"residual", "ef-signsgd"},
      {"zero", "random-k"},    {"powersgd-p", "powersgd"}, {"powersgd-q", "powersgd"}, {"powersgd-decode", "powersgd"}};
  // These are no CodecKernels of the models, which price the kernels that these fuse. Messages summed on the way are
  // decoded once. Signs give either the majority or, in the survey's way, a sum, message by message.
  const std::set<std::string> not_modelled = {
      "compensate-encode-remember", "norm-quantize",      "scatter-sum",       "quantile-edges", "decode-sum/fp16",
      "reconstruct-subtract",       "decode-add/signsgd", "decode-sum/signsgd"};
  for (const Kernel& kernel : compressor_kernels()) {
    INFO(kernel.name());
    const auto other = method_of.find(kernel.method);
    const std::string method = other == method_of.end() ? kernel.method : other->second;
    const CodecPlan plan = make_plan(methods.at(method), method == "powersgd" || method == "atomo" ? matrix : vector);
    std::vector<CodecKernel> modelled = encode_kernels(plan);
    const auto add = [&](const std::vector<CodecKernel>& more) {
      modelled.insert(modelled.end(), more.begin(), more.end());
    };
    add(decode_kernels(plan, 1));
    add(plan.decode.further);
    add(decode_kernels(plan, kMessages));
    if (method == "signsgd") add(make_plan(SignSgd{.packing = Packing::grace}, vector).decode.finish);
    const auto role =
        std::find_if(modelled.begin(), modelled.end(), [&](const CodecKernel& x) { return x.kernel == kernel.role; });
    CHECK((role == modelled.end()) == (not_modelled.contains(kernel.role) || not_modelled.contains(kernel.name())));
    if (role == modelled.end()) continue;
    // 1e-4: the models round densities and samples to whole elements.
    require_close((role->read + role->written).si(), kernel.bytes(n), 1e-4, kernel.name() + ": bytes");
    require_close(role->flops.si(), kernel.flops(n), 1e-4, kernel.name() + ": operations");
    if (kernel.repeats != 1) CHECK(role->repeats == kernel.repeats);
  }
}
