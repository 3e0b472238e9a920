// The work of encoding and decoding: kernels, counted by hand, and their price on a device.
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// "kernel: read + written, flops, times"
void require_kernel(const CodecKernel& one, const std::string& kernel, double read, double written,
                    double repeats = 1) {
  INFO(one.kernel << " reads " << one.read.si() << " B, writes " << one.written.si() << " B, " << one.repeats
                  << " times");
  CHECK(one.kernel == kernel);
  CHECK(one.read.si() == read);
  CHECK(one.written.si() == written);
  CHECK(one.repeats == repeats);
}

double bytes_of(const std::vector<CodecKernel>& kernels) {
  double sum = 0;
  for (const CodecKernel& one : kernels) sum += one.repeats * (one.read + one.written).si();
  return sum;
}
double flops_of(const std::vector<CodecKernel>& kernels, const std::string& kernel = "") {
  double sum = 0;
  for (const CodecKernel& one : kernels)
    if (kernel.empty() || one.kernel == kernel) sum += one.repeats * one.flops.si();
  return sum;
}

const Tensor kTensor{{1000}};  // 4000 bytes dense

}  // namespace

TEST_CASE("no compression is no work") {
  CHECK(encode_kernels(make_plan(NoCompressor{}, kTensor)).empty());
  CHECK(decode_kernels(make_plan(NoCompressor{}, kTensor), 8).empty());
}

TEST_CASE("top-k's work, ideally") {
  const CodecPlan plan = make_plan(TopK{.ratio = 0.01}, kTensor);  // k = 10, 80 bytes
  const auto encode = encode_kernels(plan);
  REQUIRE(encode.size() == 2);
  require_kernel(encode[0], "add", 8000, 4000);              // error feedback: gradient and residual in, their sum out
  require_kernel(encode[1], "select-compact", 4000, 40, 2);  // all elements in, twice; the message out
  const auto decode = decode_kernels(plan, 8);
  REQUIRE(decode.size() == 6);
  require_kernel(decode[0], "fill", 0, 4000);
  require_kernel(decode[1], "scatter", 80, 40);          // the message in, 10 values out
  require_kernel(decode[2], "scatter-add", 120, 40, 7);  // seven peers; the 10 values of the sum are read as well
  require_kernel(decode[3], "fill", 0, 4000);            // error feedback: the own message again,
  require_kernel(decode[4], "scatter", 80, 40);
  require_kernel(decode[5], "subtract", 8000, 4000);  // and what it lost
}

TEST_CASE("the survey's implementation makes each of the p messages dense") {
  const CodecPlan plan = make_plan(TopK{.ratio = 0.01, .packing = Packing::grace, .error_feedback = false}, kTensor);
  const auto decode = decode_kernels(plan, 8);
  REQUIRE(decode.size() == 5);
  require_kernel(decode[0], "fill", 0, 4000);
  require_kernel(decode[1], "scatter", 80, 40);
  require_kernel(decode[2], "fill", 0, 4000, 7);
  require_kernel(decode[3], "scatter", 80, 40, 7);
  require_kernel(decode[4], "add", 8000, 4000, 7);  // sum and message in, sum out
}

TEST_CASE("packed codes of all workers are decoded and added by one kernel") {
  // 1000 codes of a byte and a scale: 1004 bytes a message; two operations to decode an element, one to add it.
  const auto decode = decode_kernels(make_plan(EightBit{}, kTensor), 8);
  REQUIRE(decode.size() == 1);
  require_kernel(decode[0], "decode-sum", 8 * 1004, 4000);
  CHECK(flops_of(decode) == 8 * 3 * 1000);
  // One message is decoded alone; the survey's implementation decodes each, and adds it.
  const auto one = decode_kernels(make_plan(EightBit{}, kTensor), 1);
  REQUIRE(one.size() == 1);
  require_kernel(one[0], "decode", 1004, 4000);
  const auto each = decode_kernels(make_plan(EightBit{.packing = Packing::grace}, kTensor), 8);
  REQUIRE(each.size() == 3);
  require_kernel(each[0], "decode", 1004, 4000);
  require_kernel(each[1], "decode", 1004, 4000, 7);
  require_kernel(each[2], "add", 8000, 4000, 7);
}

TEST_CASE("sums on the way are decoded once, gathered messages are decoded one by one") {
  for (const Compressor& compressor : all_compressors()) {
    const CodecPlan plan = make_plan(compressor, Tensor{{64, 576}});
    const auto bytes = [&](int p) { return bytes_of(decode_kernels(plan, p)); };
    INFO(kind_of(compressor));
    CHECK((bytes(2) > bytes(1)) == !plan.summable());
    CHECK(bytes(9) - bytes(2) == 7 * (bytes(3) - bytes(2)));        // whole bytes: exact
    const double least = plan.summable() ? 0 : payload(plan).si();  // each message is read
    CHECK(bytes(3) - bytes(2) >= least);
  }
}

TEST_CASE("error feedback reads three vectors and writes two, beside decoding the own message") {
  for (const Compressor& method : all_compressors()) {
    Compressor with = method, without = method;
    const bool choosable = std::visit(
        [](auto& x) {
          if constexpr (requires { x.error_feedback; }) return x.error_feedback = true;
          else return false;
        },
        with);
    if (!choosable) continue;
    std::visit(
        [](auto& x) {
          if constexpr (requires { x.error_feedback; }) x.error_feedback = false;
        },
        without);
    const Tensor tensor{{64, 576}};  // d = 36,864
    const CodecPlan on = make_plan(with, tensor), off = make_plan(without, tensor);
    INFO(kind_of(method));
    // compensate: 2 in, 1 out; remember: 2 in, 1 out: 6 vectors of 4d bytes.
    CHECK(bytes_of(on.compensate) + bytes_of(on.remember) == 6 * 4 * 36864 + bytes_of(decode_kernels(off, 1)));
    CHECK(off.compensate.empty());
    CHECK(off.remember.empty());
    CHECK(payload(on) == payload(off));
  }
  // Part of these methods, so not to be turned off.
  for (const Compressor& method : {Compressor(OneBit{}), Compressor(EfSignSgd{}), Compressor(Dgc{}),
                                   Compressor(PowerSgd{}), Compressor(ThreeLc{}), Compressor(QsparseLocalSgd{})})
    CHECK(!make_plan(method, Tensor{{64, 576}}).compensate.empty());
}

TEST_CASE("majority vote counts packed signs; the survey's implementation adds them and takes the sign once more") {
  const auto decode = decode_kernels(make_plan(SignSgd{}, kTensor), 4);
  REQUIRE(decode.size() == 2);
  require_kernel(decode[0], "majority-vote", 4 * 125, 125);  // ceil(1000/8) bytes a message
  require_kernel(decode[1], "decode", 125, 4000);            // to 1000 floats
  const auto one = decode_kernels(make_plan(SignSgd{}, kTensor), 1);
  REQUIRE(one.size() == 1);
  require_kernel(one[0], "decode", 125, 4000);
  const auto each = decode_kernels(make_plan(SignSgd{.packing = Packing::grace}, kTensor), 4);
  REQUIRE(each.size() == 4);
  require_kernel(each[0], "decode", 1000, 4000);
  require_kernel(each[1], "decode", 1000, 4000, 3);
  require_kernel(each[2], "add", 8000, 4000, 3);
  require_kernel(each[3], "sign", 4000, 4000);
  // SIGNUM reads gradient and momentum and writes the momentum first.
  const auto encode = encode_kernels(make_plan(Signum{}, kTensor));
  REQUIRE(encode.size() == 2);
  require_kernel(encode[0], "momentum", 8000, 4000);
  require_kernel(encode[1], "sign-pack", 4000, 125);
}

TEST_CASE("DGC keeps two vectors and searches its threshold") {
  const auto encode = encode_kernels(make_plan(Dgc{.ratio = 0.01, .search_sweeps = 3}, kTensor));
  REQUIRE(encode.size() == 5);
  require_kernel(encode[0], "momentum-correction", 12000, 8000);  // g, u, v in; u, v out
  require_kernel(encode[1], "sample", 80, 40);                    // 10 indices and values in
  require_kernel(encode[2], "radix-select", 40, 0, 4);
  require_kernel(encode[3], "count", 4000, 0, 3);
  require_kernel(encode[4], "compact", 4000, 80);
  CHECK(encode_kernels(make_plan(Dgc{.ratio = 0.01, .search_sweeps = 0}, kTensor)).size() == 4);
}

TEST_CASE("random-k permutes all indices in PyTorch only") {
  const auto encode = [](Packing packing, Framework framework) {
    return encode_kernels(make_plan(
        RandomK{.ratio = 0.01, .packing = packing, .framework = framework, .error_feedback = false}, kTensor));
  };
  require_kernel(encode(Packing::ideal, Framework::torch)[0], "random-indices", 0, 40);
  require_kernel(encode(Packing::grace, Framework::tensorflow)[0], "random-indices", 0, 40);
  require_kernel(encode(Packing::grace, Framework::torch)[0], "random-permutation", 0, 8000);
  require_kernel(encode(Packing::ideal, Framework::torch)[1], "gather", 80, 40);
}

TEST_CASE("TernGrad reads two scalars back to the host in PyTorch only") {
  const auto host_reads = [](Framework framework) {
    double count = 0;
    for (const CodecKernel& one :
         encode_kernels(make_plan(TernGrad{.packing = Packing::grace, .framework = framework}, kTensor)))
      if (one.kernel == "host-read") count += one.repeats;
    return count;
  };
  CHECK(host_reads(Framework::torch) == 2);
  CHECK(host_reads(Framework::tensorflow) == 0);
}

TEST_CASE("SketchML sorts") {
  const auto encode = encode_kernels(make_plan(SketchMl{.quantiles = 64, .error_feedback = false}, kTensor));
  REQUIRE(encode.size() == 3);
  require_kernel(encode[0], "radix-sort", 4000, 4000, 4);
  require_kernel(encode[1], "find-bins", 4256, 750);  // 64 edges; 6 bits an element
  require_kernel(encode[2], "segment-means", 4750, 256);
}

TEST_CASE("PowerSGD multiplies 4nmr to encode and 2nmr to decode") {
  const double n = 64, m = 576, r = 4;
  const CodecPlan plan = make_plan(PowerSgd{.rank = 4}, Tensor{{64, 64, 3, 3}});
  CHECK(flops_of(encode_kernels(plan), "matrix-product") == 4 * n * m * r);
  CHECK(flops_of(encode_kernels(plan), "gram-schmidt") == 2 * (n + m) * r * r);
  CHECK(flops_of(plan.decode.first) == 2 * n * m * r);
  // P = MQ: M and Q in, P out.
  require_kernel(plan.stages[0].encode[1], "matrix-product", 4 * (n * m + m * r), 4 * n * r);
  // Gram-Schmidt on P: column i with the r-i-1 after it, n(4 + 3 + 2 + 1) elements in and out, in four kernels.
  require_kernel(plan.stages[1].encode[0], "gram-schmidt", 4 * n * 10 / 4, 4 * n * 10 / 4, 4);
  // Decoded once whatever p.
  CHECK(bytes_of(decode_kernels(plan, 2)) == bytes_of(decode_kernels(plan, 16)));
}

TEST_CASE("ATOMO pays for an SVD and multiplies once per peer") {
  const CodecPlan plan = make_plan(Atomo{.rank = 3}, Tensor{{10, 20}});
  CHECK(flops_of(encode_kernels(plan), "svd") == 14 * 20 * 100 + 8 * 1000);  // 14ab² + 8b³, a = 20, b = 10
  CHECK(flops_of(decode_kernels(plan, 1)) == 2 * 10 * 3 * 20);
  CHECK(flops_of(decode_kernels(plan, 4)) == 2 * 10 * 3 * 20 + 3 * (2 * 10 * 3 * 20 + 200));  // and the adds
  // Both factors in, 3·(10 + 20) elements, and 200 of the product out; of a peer's message the sum is read as well.
  const auto decode = decode_kernels(plan, 4);
  REQUIRE(decode.size() == 2);
  require_kernel(decode[0], "matrix-product", 360, 800);
  require_kernel(decode[1], "matrix-product", 1160, 800, 3);
}

TEST_CASE("matrices that travel together: one message of all, as many sizes, and each decoded on its own") {
  const Tensor wide{{10, 20}}, tall{{30, 5}};
  const CodecPlan fused = make_plan(Atomo{.rank = 2}, std::vector<Tensor>{wide, tall});
  REQUIRE(fused.stages.size() == 1);
  REQUIRE(fused.stages[0].messages.size() == 1);
  CHECK(fused.stages[0].messages[0].bytes ==
        Bytes(4 * 2 * (10 + 20 + 1) + 4 * 2 * (30 + 5 + 1)));  // 4s(n + m + 1) of both
  CHECK(fused.stages[0].messages[0].size_exchange == 8_B);     // how many triplets of each
  const auto decode = decode_kernels(fused, 4);
  REQUIRE(decode.size() == 4);
  require_kernel(decode[0], "matrix-product", 4 * 2 * 30, 800);
  require_kernel(decode[1], "matrix-product", 4 * 2 * 35, 600);
  require_kernel(decode[2], "matrix-product", 4 * 2 * 30 + 800, 800, 3);
  require_kernel(decode[3], "matrix-product", 4 * 2 * 35 + 600, 600, 3);
}

TEST_CASE("adaptive quantization searches a threshold for either sign") {
  // d = 1100: half of it has either sign, of which 1 % is the sample, 5.5 elements, so 6. Sent are sums and counts, 12
  // bytes, and 11 indices.
  const Tensor tensor{{1100}};
  const auto encode = encode_kernels(
      make_plan(Adaptive{.ratio = 0.01, .selected = 1, .search_sweeps = 3, .error_feedback = false}, tensor));
  REQUIRE(encode.size() == 4);
  require_kernel(encode[0], "sample", 48, 24, 2);  // an index and an element of each
  require_kernel(encode[1], "radix-select", 24, 0, 8);
  require_kernel(encode[2], "count", 4400, 0, 6);
  require_kernel(encode[3], "compact-mean", 4400, 28, 2);
}

TEST_CASE("GradiVeQ projects forth and back") {
  const CodecPlan plan = make_plan(GradiVeq{.slice = 100, .dimension = 10}, kTensor);  // 10 slices
  CHECK(flops_of(encode_kernels(plan)) == 2 * 10 * 100 * 10);
  CHECK(flops_of(decode_kernels(plan, 8)) == 2 * 10 * 100 * 10);
  // 50 projections of 50 elements would be as many bytes: they are sent as they are.
  CHECK(encode_kernels(make_plan(GradiVeq{.slice = 100, .dimension = 50}, Tensor{{50}})).empty());
  CHECK_FALSE(encode_kernels(make_plan(GradiVeq{.slice = 100, .dimension = 50}, Tensor{{51}})).empty());
}

TEST_CASE("the price of a kernel is launch and roofline") {
  CodecRates rates;
  rates.all = {5_us, 100_GBps, 10_TFLOPS};
  // 8 MB at 100 GB/s: 80 us; 100 Mflop at 10 Tflop/s: 10 us. Twice 5 + 80.
  const CodecKernel memory{"a", 6_MB, 2_MB, Flops(1e8), 2};
  require_close(170e-6, price({memory}, rates).si(), 1e-15, "bound by memory");
  // 2 Gflop: 200 us.
  const CodecKernel arithmetic{"b", 6_MB, 2_MB, Flops(2e9)};
  require_close(205e-6, price({arithmetic}, rates).si(), 1e-15, "bound by arithmetic");
  require_close(375e-6, price({memory, arithmetic}, rates).si(), 1e-15, "one after the other");
  // A measured kernel has rates of its own: 8 MB at 10 GB/s, 800 us, and no launch.
  rates.measured["b"] = {0_s, 10_GBps, 10_TFLOPS};
  require_close(970e-6, price({memory, arithmetic}, rates).si(), 1e-15, "with a measured kernel");
  CHECK(price({}, rates) == 0_s);
}

TEST_CASE("an abstract ratio has its stated cost whatever the device") {
  CodecRates rates;
  rates.all = {5_us, 100_GBps, 10_TFLOPS};
  const CodecPlan plan =
      make_plan(RatioCompressor{.ratio = 4, .encode_cost = 2_ns_per_B, .decode_cost = 1_ns_per_B}, kTensor);
  require_close(8e-6, price(encode_kernels(plan), rates).si(), 1e-15, "4000 B at 2 ns/B");
  require_close(4e-6, price(decode_kernels(plan, 16), rates).si(), 1e-15, "4000 B at 1 ns/B, once");
  CHECK(encode_kernels(make_plan(RatioCompressor{.ratio = 4}, kTensor)).empty());
}

TEST_CASE("methods whose slices can be summed and encoded again at the same size") {
  std::vector<std::string> recodable;
  for (const Compressor& compressor : all_compressors())
    if (make_plan(compressor, kTensor).recodable) recodable.push_back(kind_of(compressor));
  CHECK(recodable ==
        std::vector<std::string>{"fp16", "8-bit", "1-bit", "qsgd", "terngrad", "natural", "top-k", "dgc", "adaptive"});
}

TEST_CASE("a hop of a ring decodes, adds and encodes a slice") {
  const auto halves = hop_kernels(make_plan(Fp16{}, kTensor), kTensor);
  REQUIRE(halves.size() == 3);
  require_kernel(halves[0], "cast", 2000, 4000);
  require_kernel(halves[1], "add", 8000, 4000);
  require_kernel(halves[2], "cast", 4000, 2000);
  const auto bytes = hop_kernels(make_plan(EightBit{.error_feedback = true}, kTensor),
                                 kTensor);  // the residual is no business of a hop
  REQUIRE(bytes.size() == 3);
  require_kernel(bytes[0], "decode-add", 5004, 4000);  // 1000 codes, a scale, and the own slice
  require_kernel(bytes[1], "max-abs", 4000, 4);
  require_kernel(bytes[2], "quantize", 4000, 1004);
  // Of 10 elements in 1000, values and indices: added to the own slice, and chosen again.
  const auto sparse = hop_kernels(make_plan(TopK{.ratio = 0.01}, kTensor), kTensor);
  REQUIRE(sparse.size() == 2);
  require_kernel(sparse[0], "scatter-add", 120, 40);
  CHECK(sparse[1].kernel == "select-compact");
  CHECK_THROWS_AS(hop_kernels(make_plan(Wangni{}, kTensor), kTensor), std::invalid_argument);
  // Halves that are halves already need no codec, so there is nothing to put inside the collective.
  const Tensor half{{1000}, Dtype::fp16};
  CHECK_THROWS_AS(hop_kernels(make_plan(Fp16{}, half), half), std::invalid_argument);
}
