// An implementation's times of encoding and decoding take the place of a method's kernels; messages stay.
#include "models/compressor/codec_rates.hpp"
#include "models/compressor/timed_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

// Kernels: a launch of 5 us and 800 GB/s. An element read twice and written once, in fp32, is 12 B: 15 ps.
constexpr double kLaunch = 5e-6, kAdd = 15e-12;
// Encoding: 3 ms a tensor and 2 ns an element; decoding of a message: 100 us and 1 ns.
const CodecEntry kEntry{
    .method = "", .per_tensor = 3_ms, .per_element = 2_ns, .decode = CodecTime{100_us, 1_ns}, .source = "a test"};

CodecRates rates(std::string method, bool error_feedback = false) {
  CodecRates rates{{5_us, 800_GBps, 5_TFLOPS}, {}};
  CodecEntry entry = kEntry;
  entry.method = method;
  entry.error_feedback = error_feedback;
  rates.codec = entry;
  return rates;
}

double time(const std::vector<CodecKernel>& kernels, const CodecRates& rates) { return price(kernels, rates).si(); }

const std::vector<Tensor> kVectors{{{600}}, {{20, 20}}};  // 1000 elements, one vector to these methods

}  // namespace

TEST_CASE("gathered messages are decoded one by one, and all but the first are added") {
  const TopK method{.ratio = 0.01, .error_feedback = false};
  const CodecRates timed = rates("top-k");
  const CodecPlan plan = timed_plan(method, kVectors, 4, timed);
  CHECK(payload(plan) == payload(make_plan(method, kVectors, 4)));
  require_close(3.002e-3, time(encode_kernels(plan), timed), 1e-12, "encoding: 3 ms + 1000 · 2 ns");
  require_close(101e-6, time(decode_kernels(plan, 1), timed), 1e-12, "one message: 100 us + 1000 · 1 ns");
  require_close(4 * 101e-6 + 3 * (kLaunch + 1000 * kAdd), time(decode_kernels(plan, 4), timed), 1e-12, "four messages");
  require_close(4 * 101e-6 + 3 * (kLaunch + 1000 * kAdd) + 3.002e-3, time(recode_kernels(plan, 4), timed), 1e-12,
                "four messages, their sum encoded");
  CodecRates slow = timed;
  slow.slowdown = 20;  // of kernels alone: 20 · 15 ps
  require_close(4 * 101e-6 + 3 * (kLaunch + 20 * 1000 * kAdd), time(decode_kernels(plan, 4), slow), 1e-12, "slow");
}

TEST_CASE("each column of a matrix's factors takes its time, as Gram-Schmidt has it") {
  CodecRates timed = rates("powersgd");
  timed.codec->per_rank = 20_us;
  timed.codec->decode->per_rank = 1_us;
  const std::vector<Tensor> group{{{30, 10}}, {{100, 2}}, {{50}}};  // the vector stays whole
  const CodecPlan plan = timed_plan(PowerSgd{.rank = 4}, group, 8, timed);
  // 4 columns, and 2 of the matrix that has no more: 2 · 3 ms + 6 · 20 us + 500 · 2 ns. Before, both residuals are added.
  require_close(6.121e-3 + 2 * kLaunch + 500 * kAdd, time(encode_kernels(plan), timed), 1e-12, "both matrices");
  // 2 · 100 us + 6 · 1 us + 500 · 1 ns for the sum, and for the own message, which one kernel subtracts.
  require_close(2 * 206.5e-6 + kLaunch + 500 * kAdd, time(decode_kernels(plan, 8), timed), 1e-12, "both matrices");
  CHECK(rank_of(PowerSgd{.rank = 4}, {{7}}) == 1);  // a vector
  CHECK(rank_of(Atomo{.rank = 3}, {{5, 8}}) == 3);
  CHECK(rank_of(TopK{}, {{5, 8}}) == 1);
}

TEST_CASE("summed messages are decoded once") {
  const CodecRates timed = rates("random-k");
  const CodecPlan plan = timed_plan(RandomK{.ratio = 0.01, .error_feedback = false}, kVectors, 8, timed);
  require_close(101e-6, time(decode_kernels(plan, 8), timed), 1e-12, "100 us + 1000 · 1 ns");
}

TEST_CASE("error feedback decodes the own message, unless encoding includes it") {
  const TopK method{.ratio = 0.01, .error_feedback = true};
  const CodecRates beside = rates("top-k"), within = rates("top-k", true);
  const CodecPlan kernels = timed_plan(method, kVectors, 2, beside), all = timed_plan(method, kVectors, 2, within);
  require_close(kLaunch + 1000 * kAdd, time(kernels.compensate, beside), 1e-12, "gradient + residual");
  require_close(101e-6 + kLaunch + 1000 * kAdd, time(kernels.remember, beside), 1e-12, "own message, then subtraction");
  CHECK((all.compensate.empty() && all.remember.empty()));
  CHECK(all.kept == 1);  // the residual needs its memory
  require_close(3.002e-3, time(encode_kernels(all), within), 1e-12, "encoding");
}

TEST_CASE("votes: decoded signs are added, and one kernel takes the sum's sign") {
  // The kernel reads and writes 8 B an element: 10 ps. Packed signs could not be encoded again without this sum.
  const CodecRates timed = rates("signsgd");
  const CodecPlan plan = timed_plan(SignSgd{.error_feedback = false}, kVectors, 3, timed);
  const double sum = 3 * 101e-6 + 2 * (kLaunch + 1000 * kAdd) + kLaunch + 1000 * 10e-12;
  require_close(sum, time(decode_kernels(plan, 3), timed), 1e-12, "three messages");
  require_close(101e-6, time(decode_kernels(plan, 1), timed), 1e-12, "one message, which is a vote already");
  require_close(sum + 3.002e-3, time(recode_kernels(plan, 3), timed), 1e-12, "three messages, their sum encoded");
}

TEST_CASE("momentum before signs is a kernel of its own, unless encoding includes it") {
  // Reads gradient and momentum, writes momentum: 12 B an element.
  const Signum method{.error_feedback = false};
  const CodecRates beside = rates("signum"), within = rates("signum", true);
  require_close(3.002e-3 + kLaunch + 1000 * kAdd, time(encode_kernels(timed_plan(method, kVectors, 2, beside)), beside),
                1e-12, "beside");
  require_close(3.002e-3, time(encode_kernels(timed_plan(method, kVectors, 2, within)), within), 1e-12, "within");
}

TEST_CASE("low-rank methods encode each matrix, and vectors not at all") {
  // 2 matrices of 400 and 800 elements: 2 · 3 ms + 1200 · 2 ns before the first sum, nothing before the second.
  // It always keeps the residual: 100 us a matrix and 1 ns an element for its own message, before the subtraction.
  const PowerSgd method{.rank = 2};
  const std::vector<Tensor> group{{{20, 20}}, {{600}}, {{40, 20}}};
  const CodecRates timed = rates("powersgd");
  const CodecPlan plan = timed_plan(method, group, 8, timed);
  REQUIRE(plan.stages.size() == 2);
  require_close(6.0024e-3, time(plan.stages[0].encode, timed), 1e-12, "encoding");
  CHECK(plan.stages[1].encode.empty());
  require_close(201.2e-6, time(sum_kernels(plan, 8), timed), 1e-12, "decoding: 2 · 100 us + 1200 · 1 ns");
  require_close(201.2e-6 + kLaunch + 1200 * kAdd, time(plan.remember, timed), 1e-12, "the own message");
  CHECK(time(encode_kernels(timed_plan(method, std::span(group).subspan(1, 1), 8, timed)), timed) == 0);
}

TEST_CASE("a share of the data leaves the time of a tensor as it is") {
  // Half of 1000 elements: 100 us + 500 · 1 ns.
  const CodecRates timed = rates("top-k");
  std::vector<CodecKernel> decode =
      timed_plan(TopK{.ratio = 0.01, .error_feedback = false}, kVectors, 2, timed).decode.first;
  REQUIRE(decode.size() == 1);
  decode.front().fixed *= 0.5;
  require_close(100.5e-6, time(decode, timed), 1e-12, "decoding");
}

TEST_CASE("formulas that list messages alone have codes, too") {
  const Compressor method = read_compressor(Json::parse(R"json({"kind": "formula", "method": {
      "name": "bare", "class": "sparsification",
      "stages": [{"messages": [{"what": "codes", "carried": "gathered", "bytes": "elements * 1 B"}]}]}})json"));
  const CodecRates timed = rates("bare");
  const CodecPlan plan = timed_plan(method, kVectors, 2, timed);
  require_close(3.002e-3, time(encode_kernels(plan), timed), 1e-12, "encoding");
  require_close(2 * 101e-6 + kLaunch + 1000 * kAdd, time(decode_kernels(plan, 2), timed), 1e-12, "two messages");
}

TEST_CASE("a hop of a ring decodes, adds and encodes") {
  const Tensor slice{{1000}};
  const CodecRates timed = rates("fp16");
  const CodecPlan plan = timed_plan(Fp16{}, {&slice, 1}, 4, timed);
  require_close(101e-6 + kLaunch + 1000 * kAdd + 3.002e-3, time(hop_kernels(plan, slice), timed), 1e-12, "hop");
}

TEST_CASE("other methods, and times of the whole codec, leave the plan as it is") {
  const TopK method{.ratio = 0.01};
  const auto same = [&](const CodecRates& with) {
    const CodecPlan plan = timed_plan(method, kVectors, 4, with), own = make_plan(method, kVectors, 4);
    return time(encode_kernels(plan), with) == time(encode_kernels(own), with) &&
           time(decode_kernels(plan, 4), with) == time(decode_kernels(own, 4), with);
  };
  const auto of_profile = [](const std::string& timed) {
    DeviceProfile profile;
    profile.peaks = {{Dtype::fp32, 10_TFLOPS, Evidence::assumed, "test"}};
    profile.memory_bandwidth.value = 1000_GBps;
    profile.codecs = {kEntry};
    profile.codecs.front().method = timed;
    return codec_rates(profile, "top-k");
  };
  CHECK(same(of_profile("qsgd")));
  CHECK_FALSE(same(of_profile("top-k")));
  CodecRates whole = rates("top-k");
  whole.codec->decode.reset();
  CHECK(same(whole));
  CHECK_FALSE(same(rates("top-k")));
}
