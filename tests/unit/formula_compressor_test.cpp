// Methods of formulas: the messages of the shipped ones by hand, the same method in C++ and in formulas, and faults.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "models/describe/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// A matrix of n = 64 rows and m = 576 columns: d = 36,864 elements, 147,456 B.
const Tensor kMatrix{{64, 576}};

Json top_k() {
  return Json::parse(R"json({"kind": "formula", "parameters": {"ratio": 0.01}, "method": {
    "name": "my-top-k", "class": "sparsification", "values": {"k": "max(1, floor(ratio * elements))"},
    "stages": [{"encode": [{"kernel": "select-compact", "reads": "elements * element", "writes": "k * 4 B",
                            "operations": "2 * elements", "repeats": 2}],
                "messages": [{"what": "values and indices", "carried": "gathered", "bytes": "k * (element + 4 B)"}]}],
    "decode": {"first": [{"kernel": "fill", "writes": "elements * element"},
                         {"kernel": "scatter", "reads": "k * 8 B", "writes": "k * element"}],
               "further": [{"kernel": "scatter-add", "reads": "k * (8 B + element)", "writes": "k * element",
                            "operations": "k"}]},
    "error_feedback": true}})json");
}

/// The only fault of a method with a change.
CompressorFault fault_of(const std::string& pointer, const Json& value) {
  Json json = top_k();
  json[Json::json_pointer(pointer)] = value;
  const auto faults = check(read_compressor(json), std::vector<Tensor>{kMatrix});
  INFO(json.dump());
  REQUIRE(faults.size() == 1);
  return faults.front();
}

bool same(const std::vector<CodecKernel>& a, const std::vector<CodecKernel>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CodecKernel& x, const CodecKernel& y) {
    return x.kernel == y.kernel && x.read == y.read && x.written == y.written && x.flops == y.flops &&
           x.repeats == y.repeats;
  });
}

}  // namespace

TEST_CASE("shipped methods send what their papers say") {
  std::map<std::string, double, std::less<>> expected{
      // Signs and a scale: 36,864/8 + 4.
      {"1-bit-adam", 4612},
      // ceil(36,864/50) = 738 bins send one element each. 2 + lg 50 = 7.6 bits are a byte. And the scale, 4 B.
      {"adacomp", 742},
      // 36,864/256 = 144 blocks, a hundredth of which is one: 1,024 B and its number.
      {"block-top-k", 1028},
      // min(128, 64, 576) = 64 rows of 576 numbers.
      {"galore", 64 * 576 * 4},
      // Half of 4·(64 + 576) numbers: in one step 4·64 of them, in the next 4·576.
      {"gradzip", 5120},
      // A byte an element, and the step of the codebook, 4 B.
      {"lpc-svrg", 36868},
      // round(14.4) = 14 of 144 blocks, 14·256·4 B, and their numbers, 56 B.
      {"omnireduce", 14392},
      // Two levels are a bit an element; the smallest and the largest take 4 B each: 4,608 + 8.
      {"rotated-quantization", 4616},
      // 5 rows of ceil(368.64) = 369 counters, then 4 candidates for each of floor(36.864) = 36 elements, 4 B each.
      {"sketched-sgd", 5 * 369 * 4 + 4 * 36 * 4},
      // 368 elements of 8.108 + 1 bits: ceil(3,351.744/8) = 419, and the mean, 4 B.
      {"stc", 423},
      // round(36.864) = 37 words of 4 B.
      {"strom", 148},
      // A norm, and sums of 8 codes of up to 30: lg 241 = 7.9, 8 bits an element.
      {"thc", 4 + 36864},
      // 2 B an element.
      {"truncation", 73728},
      {"variance-based", 148},
  };
  for (const Compressor& compressor : shipped_formulas()) {
    INFO(name_of(compressor));
    REQUIRE(expected.contains(name_of(compressor)));
    CHECK(check(compressor, std::vector<Tensor>{kMatrix, Tensor{{1}}}, 8).empty());
    CHECK(payload(make_plan(compressor, kMatrix, 8)).si() == expected.find(name_of(compressor))->second);
    CHECK_FALSE(std::get<FormulaCompressor>(compressor).formulas().source.empty());
    expected.erase(std::string(name_of(compressor)));
  }
  CHECK(expected.empty());  // each is shipped
}

TEST_CASE("a method of formulas is the same as in C++") {
  const CodecPlan own = make_plan(read_compressor(top_k()), kMatrix), built_in = make_plan(TopK{}, kMatrix);
  CHECK(payload(own) == payload(built_in));
  CHECK(same(encode_kernels(own), encode_kernels(built_in)));
  CHECK(same(decode_kernels(own, 8), decode_kernels(built_in, 8)));
  CHECK(own.kept == 1);
  CHECK(class_of(read_compressor(top_k())) == CompressorClass::sparsification);
  CHECK(name_of(read_compressor(top_k())) == "my-top-k");
}

TEST_CASE("the number of workers widens a sum") {
  const std::vector<Compressor> shipped = shipped_formulas();
  const auto thc = std::find_if(shipped.begin(), shipped.end(), [](const auto& x) { return name_of(x) == "thc"; });
  // lg(30·2 + 1) = 5.9 and lg(30·64 + 1) = 10.9: 6 and 11 bits, and the norm.
  CHECK(payload(make_plan(*thc, kMatrix, 2)).si() == 36864 * 6 / 8 + 4);
  CHECK(payload(make_plan(*thc, kMatrix, 64)).si() == 36864 * 11 / 8 + 4);
}

TEST_CASE("methods of matrices leave vectors whole, and take each matrix of a bucket alone") {
  const std::vector<Compressor> shipped = shipped_formulas();
  const auto galore =
      std::find_if(shipped.begin(), shipped.end(), [](const auto& x) { return name_of(x) == "galore"; });
  CHECK(works_on_matrices(*galore));
  CHECK(payload_bytes(*galore, Tensor{{500}}) == 2000);
  // Rank 128 of [256, 512]: 128 rows of 512; the vector's 2,000 B beside it.
  const CodecPlan bucket = make_plan(*galore, std::vector<Tensor>{{{256, 512}}, {{500}}});
  CHECK(payload(bucket).si() == 128 * 512 * 4 + 2000);
}

TEST_CASE("what is left out has a default") {
  Json json = top_k();
  json["method"].erase("decode");
  const CodecPlan plan = make_plan(read_compressor(json), kMatrix);
  // One sweep reads 368 · 8 B and writes 147,456 B. A further message is added by a kernel of its own.
  REQUIRE(plan.decode.first.size() == 1);
  CHECK(plan.decode.first[0].read == Bytes(2944));
  CHECK(plan.decode.first[0].written == Bytes(147456));
  CHECK(plan.decode.further.size() == 2);
}

TEST_CASE("kernels at the end run once, whatever the number of messages") {
  // 36,864 elements read and written once more: 2 · 147,456 B.
  Json json = top_k();
  json["method"]["decode"]["finish"] =
      Json::array({{{"kernel", "scale"}, {"reads", "elements * element"}, {"writes", "elements * element"}}});
  const CodecPlan plan = make_plan(read_compressor(json), kMatrix);
  for (const int p : {1, 8}) {
    const std::vector<CodecKernel> decode = sum_kernels(plan, p);
    REQUIRE_FALSE(decode.empty());
    CHECK(decode.back().kernel == "scale");
    CHECK(decode.back().read + decode.back().written == Bytes(294912));
    CHECK(decode.back().repeats == 1);
  }
}

TEST_CASE("a formula that fails for a bucket alone is no 0") {
  Json json = top_k();
  json["method"]["stages"][0]["messages"][0]["bytes"] = "(10000 - elements) * k * 1 B";
  const Compressor method = read_compressor(json);
  CHECK(check(method, std::vector<Tensor>{Tensor{{6000}}}).empty());
  CHECK_THROWS_WITH(make_plan(method, std::vector<Tensor>{{{6000}}, {{6000}}}),
                    ContainsSubstring("for 12000 elements"));
}

TEST_CASE("formulas are held against the tensors and workers that are there, no others") {
  Json json = top_k();
  json["method"]["stages"][0]["messages"][0]["bytes"] = "(elements - 5000) * k * 1 B / (workers - 2)";
  const Compressor method = read_compressor(json);
  CHECK(check(method, std::vector<Tensor>{kMatrix}, 8).empty());
  CHECK(check(method, std::vector<Tensor>{kMatrix}, 2).size() == 1);
  CHECK(traits_of(method, Dtype::fp32).one_gathered_message);
}

TEST_CASE("a fault of a value shows once, whatever needs it") {
  Json json = top_k();
  json["method"]["values"] = {{"a", "b + 1"}, {"b", "k * 2"}, {"k", "z + 1 B"}, {"z", "floor(a_ratio * elements)"}};
  json["method"]["stages"][0]["messages"][0]["bytes"] = "k * a * 8 B";
  json["parameters"] = {{"a_ratio", 0.01}};
  const auto faults = check(read_compressor(json), std::vector<Tensor>{kMatrix});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].field == "method/values/k");
}

TEST_CASE("a sum has no kernels for further messages") {
  Json json = top_k();
  json["method"]["stages"][0]["messages"][0]["carried"] = "summed";
  const auto faults = check(read_compressor(json), {});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].field == "method/decode/further");
}

TEST_CASE("faults of formulas name the place") {
  CHECK(check(read_compressor(top_k()), std::vector<Tensor>{kMatrix}).empty());
  const CompressorFault unknown = fault_of("/method/stages/0/messages/0/bytes", "kk * 8 B");
  CHECK(unknown.field == "method/stages/0/messages/0/bytes");
  CHECK_THAT(unknown.found, ContainsSubstring("\"kk\""));
  CHECK_THAT(unknown.allowed, ContainsSubstring("elements, rows, columns, element, workers, ratio, k"));
  CHECK_THAT(fault_of("/method/stages/0/messages/0/bytes", "k").found, ContainsSubstring("a count"));
  CHECK(fault_of("/method/stages/0/encode/0/operations", "k * 1 B").allowed == "a count");
  CHECK(fault_of("/method/stages/0/messages/0/bytes", "-8 B * k").allowed == "0, or a value from 1e-30 to 1e+30");
  // k = 368.
  CHECK_THAT(fault_of("/method/stages/0/encode/0/repeats", "1e31 * k").found, ContainsSubstring("the value 3.6"));
  // A fault of a value shows once.
  CHECK(fault_of("/method/values/k", "ratio * element + 1").field == "method/values/k");
  CHECK_THAT(fault_of("/method/values/k", "ratio * k").found, ContainsSubstring("needs itself"));
  CHECK(fault_of("/parameters/rate", 2).field == "parameters/rate");
  CHECK(fault_of("/method/values/other", 2).field == "method/values/other");
  CHECK(fault_of("/method/stages", Json::array()).field == "method/stages");
  CHECK(fault_of("/method/stages/0/messages", Json::array()).allowed == "one or more messages");
  CHECK(fault_of("/method", nullptr).field == "method");
  CHECK_THROWS_WITH(fault_of("/method/values/k", "2 *"), ContainsSubstring("its end at character 4"));
  CHECK_THROWS_WITH(fault_of("/method/values/k", true), ContainsSubstring("a formula"));
}
