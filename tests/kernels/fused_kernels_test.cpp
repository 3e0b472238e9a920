// Kernels that do in one sweep the work of others in several. Results are the same, bit by bit where the same sums are
// taken.
#include <algorithm>

#include "tests/kernels/host_references.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const std::byte* begin(const Workspace& w, std::size_t at) { return static_cast<const std::byte*>(w.data(at)); }
bool same(const Workspace& a, std::size_t at_a, const Workspace& b, std::size_t at_b) {
  return a.bytes(at_a) == b.bytes(at_b) && std::equal(begin(a, at_a), begin(a, at_a) + a.bytes(at_a), begin(b, at_b));
}

/// g + e in float.
std::vector<float> sum_of(std::vector<float> e, const std::vector<float>& g) {
  for (std::size_t i = 0; i < e.size(); ++i) e[i] += g[i];
  return e;
}

}  // namespace

TEST_CASE("decode-sum equals decoding and adding message by message") {
  int methods = 0;
  for (const Kernel& kernel : compressor_kernels()) {
    if (kernel.role != "decode-sum") continue;
    ++methods;
    const std::string method = kernel.method == "fp16" ? "cast/fp16-decode" : "decode/" + kernel.method;
    const Kernel decode = find_kernel(method);
    for (const std::int64_t n : {1, 5, 33, 513, 4097}) {
      Workspace w(kernel, n, Input::normal, 3);
      kernel.reference(w.call());
      std::vector<float> sum(n);
      for (std::int64_t m = 0; m < 8; ++m) {
        Workspace one(decode, n, Input::normal, 1);
        // Message m is an eighth of each buffer of the wire, in decode's order; its codes may be padded.
        const std::size_t wire = one.buffers().size() - 1;
        for (std::size_t i = 0; i < wire; ++i) {
          REQUIRE(w.bytes(i) % 8 == 0);
          REQUIRE(w.bytes(i) / 8 >= one.bytes(i));
          std::memcpy(one.data(i), begin(w, i) + static_cast<std::size_t>(m) * (w.bytes(i) / 8), one.bytes(i));
        }
        decode.reference(one.call());
        const std::vector<float> values = floats(one, wire);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
      }
      const std::vector<float> got = floats(w, w.buffers().size() - 1);
      for (std::size_t i = 0; i < sum.size(); ++i)
        if (!(got[i] == sum[i] || (std::isnan(got[i]) && std::isnan(sum[i]))))
          FAIL(kernel.name() << ", n " << n << ", element " << i << ": expected " << sum[i] << ", got " << got[i]);
    }
  }
  CHECK(methods == 9);
}

TEST_CASE("decode-sum: two halves") {
  // 1 and 2, the other six messages 0: 0x3c00 and 0x4000 at the begin of messages of four elements.
  const Kernel kernel = find_kernel("decode-sum/fp16");
  Workspace w(kernel, 2, Input::normal, 1);
  std::memset(w.data(0), 0, w.bytes(0));
  static_cast<std::uint16_t*>(w.data(0))[0] = 0x3c00;
  static_cast<std::uint16_t*>(w.data(0))[4 * 5] = 0x4000;
  kernel.reference(w.call());
  CHECK(floats(w, 1) == std::vector<float>{3, 0});
}

TEST_CASE("error feedback in the encoder: the codes of g + e, and their error") {
  struct Method {
    std::string name, encode, decode;
    std::vector<std::size_t> wire;  ///< buffers of the fused kernel, as decode wants them
    std::size_t codes, codes_of_encode;
    std::vector<std::size_t> scales, scales_of_encode;  ///< filled before encode runs
    float tolerance;                                    ///< for sent + residual against g + e; each is rounded once
  };
  const Method methods[] = {
      {"fp16", "cast/fp16-encode", "cast/fp16-decode", {2}, 2, 1, {}, {}, 1e-6F},
      {"natural", "round-exponent/natural", "decode/natural", {2}, 2, 1, {}, {}, 1e-6F},
      {"8-bit", "quantize/8-bit", "decode/8-bit", {3, 2}, 3, 2, {2}, {1}, 1e-6F},
      {"qsgd", "quantize/qsgd", "decode/qsgd", {3, 2}, 3, 2, {2}, {1}, 1e-6F},
      {"ef-signsgd", "sign-mean/ef-signsgd", "decode/ef-signsgd", {3, 2}, 3, 1, {}, {}, 1e-6F},
  };
  for (const Method& method : methods)
    for (const std::int64_t n : {1, 3, 511, 513, 4097, 99991}) {
      INFO(method.name << ", n " << n);
      const std::vector<float> g = gradient(n, Input::normal, 5), e = gradient(n, Input::normal, 6), c = sum_of(e, g);
      const Workspace fused = run("compensate-encode-remember/" + method.name, n, {{0, g}, {1, e}}, 9);
      std::vector<std::pair<std::size_t, std::vector<float>>> inputs = {{0, c}};
      for (std::size_t i = 0; i < method.scales.size(); ++i)
        inputs.emplace_back(method.scales_of_encode[i], floats(fused, method.scales[i]));
      CHECK(same(fused, method.codes, run(method.encode, n, inputs, 9), method.codes_of_encode));
      const std::vector<float> sent = decoded(method.decode, fused, method.wire, n), left = floats(fused, 1);
      for (std::size_t i = 0; i < c.size(); ++i)
        if (!(std::abs(sent[i] + left[i] - c[i]) <= method.tolerance * std::max(1.0F, std::abs(sent[i]))))
          FAIL("element " << i << ": sent " << sent[i] << ", left " << left[i] << " of " << c[i]);
    }
}

TEST_CASE("scales of the fused encoders are those of the sweeps they replace") {
  for (const std::int64_t n : {1, 511, 4097}) {
    const std::vector<float> g = gradient(n, Input::normal, 5), e = gradient(n, Input::normal, 6), c = sum_of(e, g);
    CHECK(floats(run("compensate-encode-remember/8-bit", n, {{0, g}, {1, e}}), 2) ==
          floats(run("max-abs/8-bit", n, {{0, c}}), 1));
    CHECK(floats(run("compensate-encode-remember/qsgd", n, {{0, g}, {1, e}}), 2) ==
          floats(run("norm/qsgd", n, {{0, c}}), 1));
    CHECK(floats(run("compensate-encode-remember/ef-signsgd", n, {{0, g}, {1, e}}), 2) ==
          floats(run("sign-mean/ef-signsgd", n, {{0, c}}), 2));
    const std::vector<float> norms = floats(run("norm/qsgd", n, {{0, g}}), 1);
    const Workspace once = run("norm-quantize/qsgd", n, {{0, g}}, 4),
                    twice = run("quantize/qsgd", n, {{0, g}, {1, norms}}, 4);
    CHECK(floats(once, 1) == norms);
    CHECK(same(once, 2, twice, 2));
  }
}

TEST_CASE("top-k with error feedback: the message and the rest add up to g + e") {
  for (const std::int64_t n : {1, 100, 4097, 99991}) {
    const std::vector<float> g = gradient(n, Input::normal, 5), e = gradient(n, Input::normal, 6), c = sum_of(e, g);
    const Workspace fused = run("compensate-encode-remember/top-k", n, {{0, g}, {1, e}}),
                    alone = run("select-compact/top-k", n, {{0, c}});
    CHECK(same(fused, 2, alone, 1));
    CHECK(same(fused, 3, alone, 2));
    std::vector<float> all = floats(fused, 1);
    const std::vector<float> values = floats(fused, 2);
    for (std::size_t j = 0; j < values.size(); ++j) {
      float& left = all[static_cast<const std::uint32_t*>(fused.data(3))[j]];
      if (left != 0) FAIL("sent and kept");
      left = values[j];
    }
    CHECK(all == c);
  }
}

TEST_CASE("scatter-sum: elements of several messages add up") {
  const Kernel kernel = find_kernel("scatter-sum/top-k");
  Workspace w(kernel, 2, Input::normal, 1);
  const std::uint32_t indices[] = {0, 1, 1, 0, 1, 0, 0, 1};
  const float values[] = {1, 2, 4, 8, 16, 32, 64, 128};
  std::memcpy(w.data(0), indices, sizeof indices);
  std::memcpy(w.data(1), values, sizeof values);
  kernel.reference(w.call());
  CHECK(floats(w, 2) == std::vector<float>{1 + 8 + 32 + 64, 2 + 4 + 16 + 128});
}
