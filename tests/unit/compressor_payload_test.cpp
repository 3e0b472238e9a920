// The bytes that every compressor sends, against the survey's records, the floats that Pufferfish's networks take
// under PowerSGD, and values derived by hand.
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/data_table.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Tensor vector_of(std::int64_t elements) { return {{elements}}; }

std::vector<Tensor> resnet50() {
  std::vector<Tensor> tensors;
  for (const Row& row : read_table("resnet50_1001_elements.csv"))
    tensors.push_back(vector_of(std::stoll(row.at("elements"))));
  return tensors;
}

/// Any L tensors with d elements in all: grace's bytes per element and per tensor do not depend on the cut.
std::vector<Tensor> cut_evenly(std::int64_t d, std::int64_t count) {
  std::vector<Tensor> tensors;
  for (std::int64_t i = 0; i < count; ++i) tensors.push_back(vector_of(d * (i + 1) / count - d * i / count));
  return tensors;
}
std::vector<Tensor> cut_unevenly(std::int64_t d, std::int64_t count) {
  std::vector<Tensor> tensors(count - 1, vector_of(1));
  tensors.push_back(vector_of(d - (count - 1)));
  return tensors;
}

struct Network {
  const char* model;
  std::int64_t elements, tensors;
};
// d and L as the survey's runs exchange them: 4d is the recorded row of "none" in every case.
constexpr Network kNetworks[] = {{"resnet50", 25559081, 161},
                                 {"resnet20_v2", 269467, 51},
                                 {"densenet40_k12", 357491, 158},
                                 {"unet", 1850305, 46},
                                 {"ncf", 31832577, 10}};

/// The compressor of a recorded row, as the survey ran it (TensorFlow).
Compressor recorded_compressor(const Row& row) {
  const std::string& method = row.at("method");
  const std::string& param = row.at("param");
  Compressor compressor = [&]() -> Compressor {
    if (method == "none") return NoCompressor{};
    if (method == "8bit") return EightBit{};
    if (method == "onebit") return OneBit{};
    if (method == "signsgd") return SignSgd{};
    if (method == "signum") return Signum{};
    if (method == "efsignsgd") return EfSignSgd{};
    if (method == "terngrad") return TernGrad{};
    if (method == "natural") return Natural{};
    if (method == "qsgd") return Qsgd{.levels = std::stoi(param)};
    if (method == "sketch") return SketchMl{.quantiles = std::stoi(param)};
    if (method == "topk") return TopK{.ratio = std::stod(param)};
    if (method == "randomk") return RandomK{.ratio = std::stod(param)};
    throw std::runtime_error("unknown method " + method);
  }();
  return with_packing(compressor, Packing::grace);
}

std::vector<Tensor> pufferfish_tensors(const std::string& network, const std::string& variant) {
  std::vector<Tensor> tensors;
  for (const Row& row : read_table("pufferfish_shapes.csv")) {
    if (row.at("network") != network || row.at("variant") != variant) continue;
    Tensor tensor;
    std::istringstream stream(row.at("shape"));
    for (std::string n; std::getline(stream, n, 'x');) tensor.shape.push_back(std::stoll(n));
    tensors.insert(tensors.end(), std::stoul(row.at("tensors")), tensor);
  }
  return tensors;
}

/// Sum of all messages called `what`, in floats.
double floats_of(const std::vector<Tensor>& tensors, int rank, const std::string& what) {
  double sum = 0;
  for (const Tensor& tensor : tensors)
    for (const Stage& stage : make_plan(PowerSgd{.rank = rank}, tensor).stages)
      for (const Payload& message : stage.messages)
        if (message.what == what) sum += message.bytes.si() / 4;
  return sum;
}

}  // namespace

TEST_CASE("GRACE gathers each part of a message on its own; ideally they are one") {
  // grace_dl/tensorflow/compressor: onebit.py returns the mask and the means, qsgd.py levels and norm, topk.py one tensor
  // of values and indices; torch/compressor/topk.py returns these apart.
  const Tensor tensor{{1000}, Dtype::fp32};
  const auto parts = [&](const Compressor& compressor) {
    std::vector<double> bytes;
    const CodecPlan plan = make_plan(compressor, tensor);
    for (const Payload& one : plan.stages[0].messages) bytes.push_back(one.bytes.si());
    return bytes;
  };
  using Parts = std::vector<double>;
  CHECK(parts(OneBit{.packing = Packing::grace}) == Parts{1000, 8});
  CHECK(parts(OneBit{}) == Parts{125 + 8});
  CHECK(parts(EfSignSgd{.packing = Packing::grace}) == Parts{1000, 4});
  CHECK(parts(EightBit{.packing = Packing::grace}) == Parts{1000, 4});
  CHECK(parts(TernGrad{.packing = Packing::grace}) == Parts{1000, 4});
  CHECK(parts(Qsgd{.levels = 64, .packing = Packing::grace}) == Parts{1000, 4});
  CHECK(parts(SketchMl{.quantiles = 64, .packing = Packing::grace}) == Parts{1000, 256});
  CHECK(parts(SignSgd{.packing = Packing::grace}) == Parts{1000});
  CHECK(parts(TopK{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::tensorflow}) == Parts{80});
  CHECK(parts(TopK{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::torch}) == Parts{40, 80});
}

TEST_CASE("with packing grace, payloads are the recorded bytes") {
  int compared = 0;
  for (const Row& row : read_table("grace_data_volume.csv")) {
    const Compressor compressor = recorded_compressor(row);
    const double expected = std::stod(row.at("data_volume"));
    for (const Network& network : kNetworks) {
      if (row.at("model") != network.model) continue;
      const std::string what = row.at("model") + ", " + row.at("method") + " " + row.at("param");
      if (row.at("model") == "resnet50") {
        require_close(expected, payload_bytes(compressor, resnet50()), 0, what);
      } else {
        require_close(expected, payload_bytes(compressor, cut_evenly(network.elements, network.tensors)), 0,
                      what + ", even tensors");
        require_close(expected, payload_bytes(compressor, cut_unevenly(network.elements, network.tensors)), 0,
                      what + ", uneven tensors");
      }
      ++compared;
    }
  }
  // 14 rows for each of five networks: none, 8bit, onebit, three sign methods, terngrad, natural, three each of qsgd
  // and sketch. Top-k and random-k have four ratios for ResNet-50.
  CHECK(compared == 5 * 14 + 8);
}

TEST_CASE("the survey's ResNet-50 has 161 tensors and 25,559,081 elements") {
  const auto tensors = resnet50();
  CHECK(tensors.size() == 161);
  std::int64_t elements = 0;
  for (const Tensor& tensor : tensors) elements += tensor.elements();
  CHECK(elements == 25559081);  // 25,557,032 with 1000 classes, and 2048 + 1 for the 1001st
}

TEST_CASE("PyTorch's 8-byte indices lengthen top-k from 8 to 12 bytes an element kept") {
  const Tensor tensor = vector_of(1000);  // k = 10
  CHECK(payload_bytes(TopK{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::tensorflow}, tensor) ==
        80);
  CHECK(payload_bytes(TopK{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::torch}, tensor) == 120);
  CHECK(payload_bytes(TopK{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::dist}, tensor) == 80);
  CHECK(payload_bytes(TopK{.ratio = 0.01, .packing = Packing::ideal, .framework = Framework::torch}, tensor) == 80);
  CHECK(payload_bytes(Threshold{.density = 0.01, .packing = Packing::grace, .framework = Framework::torch}, tensor) ==
        120);
  CHECK(payload_bytes(Dgc{.ratio = 0.01, .packing = Packing::grace, .framework = Framework::dist}, tensor) == 120);
}

TEST_CASE("indices of 4 bytes tell 2^32 elements apart, not more") {
  const auto per_element = [](std::int64_t d) {
    const Tensor tensor = vector_of(d);
    return payload_bytes(TopK{.ratio = 0.01}, tensor) / std::floor(0.01 * static_cast<double>(d));
  };
  CHECK(per_element(std::int64_t{1} << 32) == 8);
  CHECK(per_element((std::int64_t{1} << 32) + 1) == 12);
}

TEST_CASE("defaults taken from recorded runs give those runs' bytes") {
  // Within what four digits of the default allow.
  const auto tensors = resnet50();
  require_close(8677823.2, payload_bytes(Threshold{.packing = Packing::grace}, tensors), 2e-3,
                "threshold 0.01 without error feedback");
  require_close(15785250.6, payload_bytes(Inceptionn{.packing = Packing::grace}, tensors), 1e-4, "inceptionn");
  require_close(2060054.4, payload_bytes(Dgc{.selected = 1.008, .packing = Packing::grace}, tensors), 1e-3,
                "dgc at ratio 0.01");
  require_close(1053961.2, payload_bytes(Adaptive{.selected = 1.029, .packing = Packing::grace}, tensors), 1e-3,
                "adaptive at ratio 0.01");
}

TEST_CASE("PowerSGD sends the floats of Pufferfish's networks") {
  int compared = 0;
  for (const Row& row : read_table("pufferfish_powersgd_floats.csv")) {
    const auto tensors = pufferfish_tensors(row.at("network"), row.at("variant"));
    const int rank = std::stoi(row.at("rank"));
    const std::string what = row.at("network") + " " + row.at("variant") + ", rank " + row.at("rank");
    require_close(std::stod(row.at("p")), floats_of(tensors, rank, "P"), 0, what + ": P");
    require_close(std::stod(row.at("q")), floats_of(tensors, rank, "Q"), 0, what + ": Q");
    require_close(std::stod(row.at("one_d")), floats_of(tensors, rank, "gradient"), 0, what + ": 1-D tensors");
    require_close(std::stod(row.at("total")), payload_bytes(PowerSgd{.rank = rank}, tensors) / 4, 0, what + ": total");
    ++compared;
  }
  CHECK(compared == 6 * 2 * 2);
}

TEST_CASE("PowerSGD depends on the order of dimensions") {
  // [c_out, c_in, 1, 1]: 4·(256 + 64). TensorFlow's [1, 1, c_in, c_out] is one row of 16,384: 4·(1 + 16384), longer
  // than the 65,536 B sent raw.
  CHECK(payload_bytes(PowerSgd{}, Tensor{{256, 64, 1, 1}}) == 1280);
  CHECK(payload_bytes(PowerSgd{}, Tensor{{1, 1, 64, 256}}) == 65540);
}

TEST_CASE("PowerSGD's two messages depend on each other and both are summed") {
  const CodecPlan plan = make_plan(PowerSgd{.rank = 4}, Tensor{{64, 32, 3, 3}});  // n = 64, m = 288
  REQUIRE(plan.stages.size() == 2);
  REQUIRE(plan.stages[0].messages.size() == 1);
  CHECK(plan.stages[0].messages[0].what == "P");
  CHECK(plan.stages[0].messages[0].bytes == 1024_B);  // 4·64·4
  CHECK(plan.stages[1].messages[0].what == "Q");
  CHECK(plan.stages[1].messages[0].bytes == 4608_B);  // 4·288·4
  CHECK(plan.summable());
  // min(n, m) = 3 cuts the rank of a single matrix: 4·3·(3 + 100).
  CHECK(payload_bytes(PowerSgd{.rank = 8}, Tensor{{3, 100}}) == 1236);
  // 64·288 = 18,432 elements for 352·4 of the factors: 13.09 times as few.
  CHECK(payload_bytes(PowerSgd{.rank = 4, .min_rate = 13}, Tensor{{64, 32, 3, 3}}) == 5632);
  CHECK(payload_bytes(PowerSgd{.rank = 4, .min_rate = 13.1}, Tensor{{64, 32, 3, 3}}) == 73728);
  // 2 is not more than 2: 8·8 = 64 elements for 16·2.
  CHECK(payload_bytes(PowerSgd{.rank = 2, .min_rate = 2}, Tensor{{8, 8}}) == 256);
  // ATOMO, three triplets of 64 + 288 + 1 numbers: 18,432 elements over 1,059 are 17.4.
  CHECK(payload_bytes(Atomo{.rank = 3, .min_rate = 17.4}, Tensor{{64, 32, 3, 3}}) == 4236);
  CHECK(payload_bytes(Atomo{.rank = 3, .min_rate = 17.5}, Tensor{{64, 32, 3, 3}}) == 73728);
  // A method's traits do not depend on it.
  CHECK(traits_of(PowerSgd{.min_rate = 1000}, Dtype::fp32).stages == 2);
  CHECK_FALSE(traits_of(Atomo{.min_rate = 1000}, Dtype::fp32).summable);
  // One dimension: raw, in one stage.
  CHECK(make_plan(PowerSgd{.rank = 4}, vector_of(100)).stages.size() == 1);
  CHECK(payload_bytes(PowerSgd{.rank = 4}, vector_of(100)) == 400);
}

TEST_CASE("ideal packings by hand") {
  const Tensor t = vector_of(1003);
  CHECK(payload_bytes(NoCompressor{}, t) == 4012);
  CHECK(payload_bytes(RatioCompressor{.ratio = 8}, t) == 501.5);  // an abstract ratio rounds nothing
  CHECK(payload_bytes(Fp16{}, t) == 2006);
  CHECK(payload_bytes(EightBit{}, t) == 1007);  // 1003 + 4
  CHECK(payload_bytes(OneBit{}, t) == 134);     // ceil(1003/8) = 126, two means
  CHECK(payload_bytes(SignSgd{}, t) == 126);
  CHECK(payload_bytes(Signum{}, t) == 126);
  CHECK(payload_bytes(EfSignSgd{}, t) == 130);
  CHECK(payload_bytes(Qsgd{.levels = 127}, t) == 1007);              // 255 values: 8 bits
  CHECK(payload_bytes(Qsgd{.levels = 128}, t) == 1133);              // 257 values: 9 bits, ceil(9027/8) = 1129, and 4
  CHECK(payload_bytes(Qsgd{.levels = 1}, t) == 255);                 // 3 values: 2 bits, ceil(2006/8) = 251, and 4
  CHECK(payload_bytes(Qsgd{.levels = 7, .bucket = 128}, t) == 534);  // 15 values: ceil(4012/8) = 502; 8 norms
  CHECK(payload_bytes(TernGrad{}, t) == 255);                        // ceil(1003/4) + 4
  CHECK(payload_bytes(Natural{}, t) == 1129);                        // sign and 8 exponent bits: ceil(9027/8)
  CHECK(payload_bytes(Natural{.exponent_bits = 7}, t) == 1003);
  CHECK(payload_bytes(Natural{.packing = Packing::grace}, t) == 1003);
  // round(100.3) = 100, round(200.6) = 201, round(300.9) = 301: 400 + 402 + 301, and ceil(1003/4) = 251 of tags
  CHECK(payload_bytes(Inceptionn{.share_32 = 0.1, .share_16 = 0.2, .share_8 = 0.3}, t) == 1354);
  CHECK(payload_bytes(RandomK{.ratio = 0.1}, t) == 400);  // k = floor(100.3)
  CHECK(payload_bytes(TopK{.ratio = 0.1}, t) == 800);
  CHECK(payload_bytes(Threshold{.density = 0.1}, t) == 800);
  CHECK(payload_bytes(Dgc{.ratio = 0.1, .selected = 1.25}, t) == 1000);  // 125 of 8 bytes
  CHECK(payload_bytes(Wangni{.density = 0.1}, t) == 800);
  CHECK(payload_bytes(Adaptive{.ratio = 0.1}, t) == 412);        // 4·(3 + 100)
  CHECK(payload_bytes(SketchMl{.quantiles = 64}, t) == 1009);    // 6 bits: ceil(6018/8) = 753, and 256
  CHECK(payload_bytes(ThreeLc{}, t) == 205);                     // ceil(1003/5) = 201, and 4
  CHECK(payload_bytes(ThreeLc{.run_length_gain = 4}, t) == 55);  // ceil(201/4) = 51, and 4
  // k = 100: 400 of indices, 31 values in 5 bits: ceil(500/8) = 63, and 4
  CHECK(payload_bytes(QsparseLocalSgd{.ratio = 0.1, .levels = 15}, t) == 467);
  CHECK(payload_bytes(Atomo{.rank = 3}, Tensor{{64, 32, 3, 3}}) == 4236);       // 4·3·(64 + 288 + 1)
  CHECK(payload_bytes(GradiVeq{.slice = 100, .dimension = 10}, t) == 440);      // 11 slices of 10 values
  CHECK(payload_bytes(GradiVeq{.slice = 5000, .dimension = 1003}, t) == 4012);  // no shorter than raw: raw
}

TEST_CASE("the survey's packing by hand") {
  const auto grace = [](const Compressor& c, std::int64_t d) {
    return payload_bytes(with_packing(c, Packing::grace), vector_of(d));
  };
  CHECK(grace(Qsgd{.levels = 127}, 1003) == 1007);  // int8
  CHECK(grace(Qsgd{.levels = 128}, 1003) == 2010);  // int16
  CHECK(payload_bytes(Qsgd{.packing = Packing::grace, .framework = Framework::dist}, vector_of(1003)) ==
        1035);                                             // 8 buckets of 128
  CHECK(grace(SketchMl{.quantiles = 255}, 1003) == 2023);  // uint8 and 4·255
  CHECK(grace(SketchMl{.quantiles = 256}, 1003) == 3030);  // uint16 and 4·256
  CHECK(grace(Inceptionn{.share_8 = 0.0}, 1003) == 251);   // padded by 4 - 3 = 1 to 1004 tags
  CHECK(grace(Inceptionn{.share_8 = 0.0}, 1004) == 252);   // padded by 4 to 1008, one byte more than needed
}

TEST_CASE("k is at least 1 and never more than ratio·d") {
  CHECK(payload_bytes(TopK{.ratio = 0.01}, vector_of(1)) == 8);
  CHECK(payload_bytes(TopK{.ratio = 0.01}, vector_of(99)) == 8);
  CHECK(payload_bytes(TopK{.ratio = 0.01}, vector_of(199)) == 8);
  CHECK(payload_bytes(TopK{.ratio = 0.01}, vector_of(200)) == 16);
  CHECK(payload_bytes(TopK{.ratio = 1}, vector_of(200)) == 1600);
  property("random-k", [] {
    const Tensor tensor = random_tensor();
    const double ratio = positive_between(1e-4, 1);
    const double k = payload_bytes(RandomK{.ratio = ratio}, tensor) / 4, d = static_cast<double>(tensor.elements());
    RC_ASSERT(k >= 1);
    RC_ASSERT(k <= std::max(1.0, ratio * d));
    RC_ASSERT(k > ratio * d - 1);
  });
}

TEST_CASE("payloads grow with the number of kept elements") {
  property("in ratio, density, levels, quantiles, rank", [] {
    const Tensor t = random_tensor();
    const double low = positive_between(1e-3, 1), high = low + (1 - low) * real_between(0, 1);
    const int few = integer_between(2, 300), many = few + integer_between(0, 300);
    const Packing packing = coin() ? Packing::ideal : Packing::grace;
    const auto grows = [&](Compressor less, Compressor more) {
      RC_ASSERT(payload_bytes(with_packing(less, packing), t) <= payload_bytes(with_packing(more, packing), t));
    };
    grows(RandomK{.ratio = low}, RandomK{.ratio = high});
    grows(TopK{.ratio = low}, TopK{.ratio = high});
    grows(Dgc{.ratio = low}, Dgc{.ratio = high});
    grows(Adaptive{.ratio = low}, Adaptive{.ratio = high});
    grows(Threshold{.density = low}, Threshold{.density = high});
    grows(Wangni{.density = low}, Wangni{.density = high});
    grows(QsparseLocalSgd{.ratio = low, .levels = few}, QsparseLocalSgd{.ratio = high, .levels = many});
    grows(Qsgd{.levels = few}, Qsgd{.levels = many});
    grows(SketchMl{.quantiles = few}, SketchMl{.quantiles = many});
    grows(PowerSgd{.rank = few}, PowerSgd{.rank = many});
    grows(Atomo{.rank = few}, Atomo{.rank = many});
    grows(RatioCompressor{.ratio = many / 2.0}, RatioCompressor{.ratio = few / 2.0});
  });
}

TEST_CASE("ideal packing is never longer than the survey's") {
  property("for every method, framework and shape", [] {
    const Tensor tensor = random_tensor();
    Compressor drawn = Qsgd{.levels = integer_between(1, 32767)};
    if (coin()) drawn = SketchMl{.quantiles = integer_between(2, 65536)};
    auto methods = all_compressors();
    methods.push_back(drawn);
    // The survey's natural has 7 exponent bits, the paper's 8.
    std::erase_if(methods, [](const Compressor& method) { return std::holds_alternative<Natural>(method); });
    methods.emplace_back(Natural{.exponent_bits = 7});
    for (const Compressor& method : methods)
      for (const Framework framework : {Framework::tensorflow, Framework::torch, Framework::dist})
        RC_ASSERT(payload_bytes(with_packing(method, Packing::ideal, framework), tensor) <=
                  payload_bytes(with_packing(method, Packing::grace, framework), tensor));
  });
}

TEST_CASE("a plan is consistent") {
  property(
      "for every method and shape",
      [] {
        const Tensor tensor = random_tensor();
        for (const Compressor& method : all_compressors()) {
          for (const Packing packing : {Packing::ideal, Packing::grace}) {
            const Compressor compressor = with_packing(method, packing);
            RC_ASSERT(check(compressor, {}).empty());
            const CodecPlan plan = make_plan(compressor, tensor);
            // Messages without a sum are decoded one by one or all together, and no others are.
            RC_ASSERT((plan.decode.further.empty() && plan.decode.together.empty()) == plan.summable());
            RC_ASSERT(!plan.stages.empty());
            for (const Stage& stage : plan.stages) {
              RC_ASSERT(!stage.messages.empty());
              for (const Payload& message : stage.messages) {
                // A threshold that no element passes sends nothing.
                RC_ASSERT(message.bytes >= 0_B);
                RC_ASSERT((message.size_exchange > 0_B) == (message.primitive == Primitive::all_gather_unequal));
              }
            }
            // Sizes that differ between workers are the sizes that the data decide.
            const bool unequal = plan.stages[0].messages[0].primitive == Primitive::all_gather_unequal;
            RC_ASSERT(unequal == !plan.assumed.empty());
            for (const auto& kernels : {encode_kernels(plan), decode_kernels(plan, 8)}) {
              for (const CodecKernel& kernel : kernels) {
                RC_ASSERT(kernel.read >= 0_B);
                RC_ASSERT(kernel.written >= 0_B);
                RC_ASSERT(kernel.flops >= Flops{});
                RC_ASSERT(kernel.repeats > 0);
                RC_ASSERT(!kernel.kernel.empty());
              }
            }
          }
        }
      },
      50);
}

TEST_CASE("only random-k, fp16, PowerSGD, GradiVeQ and unchanged gradients can be summed") {
  std::set<std::string> summable;
  for (const Compressor& compressor : all_compressors())
    if (make_plan(compressor, Tensor{{64, 576}}).summable()) summable.insert(kind_of(compressor));
  CHECK(summable == std::set<std::string>{"none", "ratio", "fp16", "random-k", "powersgd", "gradiveq"});
}

TEST_CASE("payloads that depend on the data say so") {
  std::set<std::string> assumed;
  for (const Compressor& compressor : all_compressors())
    if (!make_plan(compressor, Tensor{{64, 576}}).assumed.empty()) assumed.insert(kind_of(compressor));
  CHECK(assumed == std::set<std::string>{"inceptionn", "threshold", "dgc", "wangni", "adaptive", "3lc", "atomo"});
  CHECK_THAT(make_plan(Threshold{.density = 0.25}, vector_of(8)).assumed, ContainsSubstring("0.25"));
  CHECK(make_plan(Threshold{.density = 0.1, .evidence = Evidence::measured, .threshold = 0.5}, vector_of(8)).assumed ==
        "density 0.1 of elements above 0.5, measured, holds in every step, alike on all workers");
}

TEST_CASE("gradients of two bytes an element") {
  const Tensor half{{1000}, Dtype::fp16};
  CHECK(payload_bytes(NoCompressor{}, half) == 2000);
  CHECK(payload_bytes(Fp16{}, half) == 2000);
  CHECK(encode_kernels(make_plan(Fp16{}, half)).empty());
  CHECK(payload_bytes(TopK{.ratio = 0.01}, half) == 60);  // 2-byte values, 4-byte indices
  CHECK(payload_bytes(SignSgd{}, half) == 125);
  CHECK(payload_bytes(PowerSgd{}, Tensor{{10, 20}, Dtype::bf16}) == 60);
}

TEST_CASE("tensors that travel together") {
  const std::vector<Tensor> group = {{{64, 32, 3, 3}}, {{64}}, {{10, 64}}, {{10}}};  // 18,432 + 64 + 640 + 10 elements
  // Low rank: factors of all tensors in one message a stage, vectors with the first.
  const CodecPlan plan = make_plan(PowerSgd{.rank = 2}, group);
  REQUIRE(plan.stages.size() == 2);
  REQUIRE(plan.stages[0].messages.size() == 2);
  CHECK(plan.stages[0].messages[0].bytes == 592_B);  // 4·2·(64 + 10)
  CHECK(plan.stages[0].messages[1].bytes == 296_B);  // 4·(64 + 10)
  REQUIRE(plan.stages[1].messages.size() == 1);
  CHECK(plan.stages[1].messages[0].bytes == 2816_B);  // 4·2·(288 + 64)
  // All others: one vector of 19,146 elements, so one scale where four tensors have four.
  CHECK(payload(make_plan(EightBit{}, group)) == 19150_B);
  CHECK(payload_bytes(EightBit{}, group) == 19162);
  CHECK(payload(make_plan(TopK{.ratio = 0.1}, group)) == 15312_B);  // k = 1914
  CHECK(payload_bytes(TopK{.ratio = 0.1}, group) == 15312);         // 8·(1843 + 6 + 64 + 1)
  property("low rank sends no more together than apart, and no less", [] {
    std::vector<Tensor> tensors;
    for (int count = integer_between(1, 6); count > 0; --count) tensors.push_back(random_tensor());
    for (const Compressor& compressor : {Compressor(PowerSgd{.rank = 2}), Compressor(Atomo{})})
      RC_ASSERT(payload(make_plan(compressor, tensors)).si() == payload_bytes(compressor, tensors));
  });
}

TEST_CASE("bad parameters are refused") {
  const auto faults = [](const Compressor& compressor, std::vector<Tensor> tensors = {}) {
    return check(compressor, tensors);
  };
  const auto one_fault = [&](const Compressor& compressor, const std::string& text, std::vector<Tensor> tensors = {}) {
    const auto found = faults(compressor, tensors);
    INFO(kind_of(compressor) << ": " << text);
    REQUIRE(found.size() == 1);
    CHECK_THAT(kind_of(compressor) + ": " + to_string(found[0]), ContainsSubstring(text));
  };
  one_fault(TopK{.ratio = 0}, "top-k: ratio is 0");
  one_fault(TopK{.ratio = 1.5}, "top-k: ratio is 1.5");
  one_fault(RandomK{.ratio = -0.1}, "random-k: ratio is -0.1");
  one_fault(Dgc{.ratio = std::nan("")}, "dgc: ratio is nan");
  one_fault(Qsgd{.levels = 0}, "qsgd: levels is 0");
  one_fault(Qsgd{.bucket = 0}, "qsgd: bucket is 0");
  one_fault(Qsgd{.bucket = 128, .packing = Packing::grace}, "one norm per tensor");
  CHECK(faults(Qsgd{.bucket = 128, .packing = Packing::grace, .framework = Framework::dist}).empty());
  one_fault(SketchMl{.quantiles = 1}, "sketchml: quantiles is 1");
  one_fault(Threshold{.density = 0}, "threshold: density is 0");
  one_fault(Threshold{.threshold = 0.5}, "threshold: density is 0.0424, recorded at a threshold of 0.01");
  one_fault(ThreeLc{.run_length_gain = 15}, "3lc: run_length_gain is 15");
  one_fault(QsparseLocalSgd{.local_steps = 0}, "local_steps is 0");
  one_fault(Inceptionn{.share_32 = 0.5, .share_16 = 0.5, .share_8 = 0.5}, "add up to 1.5");
  one_fault(GradiVeq{.slice = 64, .dimension = 64}, "less than slice (64)");
  one_fault(RatioCompressor{.ratio = 0.5}, "ratio: ratio is 0.5");
  one_fault(PowerSgd{.rank = 0}, "powersgd: rank is 0");
  // A rank that no matrix has is a fault; one that some have is cut for the others.
  one_fault(PowerSgd{.rank = 11}, "at most 10", {{{10, 20}}, {{4, 20}}, {{64}}});
  CHECK(faults(PowerSgd{.rank = 10}, {{{10, 20}}, {{4, 20}}, {{64}}}).empty());
  one_fault(Atomo{.rank = 5}, "at most 4", {{{4, 20}}});
  one_fault(NoCompressor{}, "tensor 0 of shape []", {Tensor{}});
  one_fault(NoCompressor{}, "tensor 1 of shape [3, 0]", {{{3}}, {{3, 0}}});
  one_fault(NoCompressor{}, "shape [-1]", {{{-1}}});
  // All faults at once.
  CHECK(faults(QsparseLocalSgd{.ratio = 0, .levels = 0}, {Tensor{}}).size() == 3);
}

TEST_CASE("the table has a line for every method, in order") {
  const auto kinds = kinds_of<Compressor>();
  REQUIRE(kinds.size() == compressors().size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(compressors()[i].kind == kinds[i]);
  CHECK(find_compressor("dgc").of == CompressorClass::sparsification);
  CHECK_THROWS_AS(find_compressor("zip"), std::invalid_argument);
  // A method has packing grace if and only if the table gives GRACE's bytes, apart from methods that have one form
  // only.
  for (const Compressor& compressor : all_compressors()) {
    const bool choosable = std::visit(
        [](const auto& x) {
          return requires { x.packing; };
        },
        compressor);
    if (choosable) CHECK(std::string(find_compressor(kind_of(compressor)).grace) != "");
  }
}

TEST_CASE("every compressor is written to JSON and read back") {
  for (const Compressor& compressor : all_compressors()) {
    const Json json = write_value(compressor);
    Compressor back;
    std::vector<Fault> faults;
    read_value(json, "/compressor", back, any, faults);
    INFO(json.dump());
    CHECK(faults.empty());
    CHECK(back == compressor);
  }
  Compressor read;
  std::vector<Fault> faults;
  read_value(Json::parse(R"({"kind": "top-k", "ratio": 0.5, "packing": "grace", "framework": "torch"})"), "/compressor",
             read, any, faults);
  CHECK(faults.empty());
  CHECK(payload_bytes(read, vector_of(10)) == 60);  // k = 5 of 12 bytes
  read_value(Json::parse(R"({"kind": "top-k", "ratio": 0})"), "/compressor", read, any, faults);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].pointer == "/compressor/ratio");
}
