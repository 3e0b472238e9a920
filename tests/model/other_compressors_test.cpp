// Compressors of tensors by name: which tensor has which, and a bucket's messages and kernels by hand. Prices of single
// kernels are tested in unit/compressor_work_test.cpp; here they are taken as given.
//
// Device: 10 us a launch, 100 GB/s, arithmetic for nothing. Star: 1 GB/s, 10 us, so α = 10 us and β = 1 ns/B.
#include <fmt/format.h>

#include "models/report/worker_memory.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr double kAlpha = 10e-6, kBeta = 1e-9;
constexpr double kComputing = 0.005 + 0.020 + 0.001;  // forward, backward, update

const CodecRates kRates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};

/// Two matrices of 1000 x 1000 and a vector of 50,000, all ready when backward ends.
Workload three_tensors() {
  Workload w;
  w.forward = 5_ms;
  w.update = 1_ms;
  w.gradients = {{"head.weight", 1000000, 4_MB, 20_ms, {1000, 1000}},
                 {"body.weight", 1000000, 4_MB, 0_ms, {1000, 1000}},
                 {"body.bias", 50000, 200_kB, 0_ms, {50000}}};
  w.gradient_bytes = 8.2_MB;
  w.backward = 20_ms;
  return w;
}

using Others = std::vector<OtherCompressor>;

Scenario scenario(int p, const Strategy& strategy, const Compressor& compressor, const Others& others) {
  Scenario s = scenario_of(star_cluster(p, BytesPerSecond(1e9), 10_us), strategy, compressor);
  s.codec.device = device_of(kRates.all.launch, kRates.all.bandwidth, kRates.all.peak);
  s.workload = std::make_shared<const WorkloadTable>();
  if (!others.empty()) s.other_compressors = others;
  return s;
}

AllReduceStrategy carried_by(Carrier carrier) {
  return {ring_choice(), Exchange{.grouping = Grouping::whole_model}, carrier};
}

double time(const std::vector<CodecKernel>& kernels) { return price(kernels, kRates).si(); }
double all_kernels(const CodecPlan& plan, int p) { return time(encode_kernels(plan)) + time(decode_kernels(plan, p)); }

double ring_gather(int p, double bytes) { return (p - 1) * (kAlpha + bytes * kBeta); }  // `bytes` from each
double ring_reduce(int p, double n) { return 2 * (p - 1) * (kAlpha + n / p * kBeta); }

const Tensor kMatrix{{1000, 1000}}, kVector{{50000}};
const PowerSgd kRank2{.rank = 2};
const TopK kTop{.ratio = 0.01};

}  // namespace

TEST_CASE("a pattern may name a layer's kind before a tensor's name") {
  // A convolution with bias, its norm, and a classifier: kinds in the order of back-propagation.
  WorkloadTable table;
  table.name = "kinds";
  table.batch = 1;
  table.layers.resize(3);
  table.layers[0].name = "stem";
  table.layers[0].shape = Conv2d{.in = 3, .out = 8, .kernel = {3, 3}, .bias = true, .input = {8, 8}};
  table.layers[1].name = "norm";
  table.layers[1].shape = BatchNorm{.channels = 8, .input = {6, 6}};
  table.layers[2].name = "fc";
  table.layers[2].shape = Linear{288, 10};
  table.profile = device_of(0_us, BytesPerSecond(1e9), FlopsPerSecond(1e12));
  const Workload w = make_workload(table);
  const auto matching = [&](const std::string& pattern) {
    std::vector<std::string> names;
    for (const Gradient& gradient : w.gradients)
      if (matches(pattern, gradient)) names.push_back(gradient.name);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(matching("conv2d:*") == Names{"stem.bias", "stem.weight"});
  CHECK(matching("conv2d:*.weight") == Names{"stem.weight"});
  CHECK(matching("!(conv2d|batch_norm):*") == matching("fc.*"));
  CHECK(matching("*norm:*") == matching("norm.*"));
  CHECK(matching("norm:*").empty());  // a layer's name is no kind
  CHECK(matching("linear").empty());
  for (const Gradient& gradient : three_tensors().gradients)
    CHECK_FALSE(matches("linear:*", gradient));  // without shapes
}

TEST_CASE("the first match has a tensor, after the codec's choice of whole ones") {
  const Workload w = three_tensors();
  const auto of = [&](const CodecSettings& codec, const Others& others) {
    std::vector<int> all;  // -1: whole
    for (const Gradient& gradient : w.gradients) {
      const auto own = compressor_of(codec, others, gradient);
      all.push_back(own ? static_cast<int>(*own) : -1);
    }
    return all;
  };
  CodecSettings whole;
  whole.whole = std::vector<std::string>{"*bias"};
  CHECK(of({}, {}) == std::vector{0, 0, 0});
  CHECK(of({}, {{{"body.*"}, kTop}}) == std::vector{0, 1, 1});
  CHECK(of({}, {{{"*bias", "head.*"}, kTop}, {{"body.*"}, kRank2}}) == std::vector{1, 2, 1});
  CHECK(of({}, {{{"body"}, kTop}}) == std::vector{0, 0, 0});  // a pattern is of the whole name
  CHECK(of(whole, {{{"body.*"}, kTop}}) == std::vector{0, 1, -1});
  whole.whole = std::vector<std::string>{"!(head.*|*bias)"};  // all but these
  CHECK(of(whole, {}) == std::vector{0, -1, 0});
}

TEST_CASE("a bucket of two compressors: their messages follow stage by stage") {
  // PowerSGD sums P of both matrices, then Q: 2 ranks of 2 · 1000 elements of 4 B, 16 kB each. Top-k gathers 500 values
  // and indices of the vector, 4 kB, before Q is encoded.
  const std::vector<Tensor> matrices{kMatrix, kMatrix};
  for (const int p : {1, 4, 7}) {
    const double codec = all_kernels(make_plan(kRank2, matrices), p) + all_kernels(make_plan(kTop, kVector), p);
    const Scenario s = scenario(p, carried_by(Carrier::automatic), kRank2, {{{"*bias"}, kTop}});
    require_close(kComputing + codec + 2 * ring_reduce(p, 16e3) + ring_gather(p, 4e3), step_time(s, three_tensors()),
                  1e-9, fmt::format("p = {}", p));
    CHECK(build_step_graph(s, three_tensors()).payload == 36_kB);
  }
  CHECK(compressor_text(scenario(4, carried_by(Carrier::automatic), kRank2, {{{"*bias"}, kTop}})) == "powersgd+top-k");
}

TEST_CASE("ranks by layer: one method, and messages of each rank") {
  // Rank 8 for the head, 2 for the body: P and Q are 32 kB and 8 kB. The vector has no factors, and is summed with the
  // body's P.
  const int p = 4;
  const PowerSgd rank_8{.rank = 8};
  const std::vector<Tensor> body{kMatrix, kVector};
  const double codec = all_kernels(make_plan(rank_8, kMatrix), p) + all_kernels(make_plan(kRank2, body), p);
  const double sums = ring_reduce(p, 8e3) + ring_reduce(p, 200e3) + 2 * ring_reduce(p, 32e3) + ring_reduce(p, 8e3);
  const Scenario s = scenario(p, carried_by(Carrier::automatic), kRank2, {{{"head.*"}, rank_8}});
  require_close(kComputing + codec + sums, step_time(s, three_tensors()), 1e-9, "step");
  CHECK(compressor_text(s) == "powersgd");
  // With one rank for all, the same bytes in two messages instead of four: 2 · 2(p-1) delays less. Kernels are those of
  // each tensor.
  const double apart = step_time(scenario(p, carried_by(Carrier::automatic), kRank2, {{{"head.*"}, kRank2}}),
                                 three_tensors()),
               together = step_time(scenario(p, carried_by(Carrier::automatic), kRank2, {}), three_tensors());
  require_close(together + 2 * 2 * (p - 1) * kAlpha, apart, 1e-9, "apart");
}

TEST_CASE("a carrier is for the messages that it fits; auto compares the whole steps") {
  // 8-bit of the vector in parts: 50,004 B to 4, then parts of 12,500 elements as they are, 50 kB. PowerSGD is summed.
  const int p = 4;
  const EightBit bytes;
  const std::vector<Tensor> matrices{kMatrix, kMatrix};
  const CodecPlan power = make_plan(kRank2, matrices), all = make_plan(bytes, kVector),
                  part = make_plan(bytes, Tensor{{12500}});
  const Others others{{{"*bias"}, bytes}};
  const auto step = [&](Carrier carrier) {
    return step_time(scenario(p, carried_by(carrier), kRank2, others), three_tensors());
  };
  const double sums = kComputing + all_kernels(power, p) + 2 * ring_reduce(p, 16e3);
  require_close(sums + all_kernels(all, p) + ring_gather(p, 50004), step(Carrier::all_gather), 1e-9, "gathered");
  require_close(sums + time(encode_kernels(all)) + time(sum_kernels(part, p)) + time(all.remember) +
                    (p - 1) * (kAlpha + 50004.0 / p * kBeta) + ring_gather(p, 50e3),
                step(Carrier::all_to_all_once), 1e-9, "in parts");
  CHECK(step(Carrier::automatic) == std::min(step(Carrier::all_gather), step(Carrier::all_to_all_once)));
  CHECK(step(Carrier::sum_or_gather) == step(Carrier::all_gather));
  // The sums of 8-bit's parts are decoding, and Q is encoded in the same stage.
  const Breakdown once =
      forecast(scenario(p, carried_by(Carrier::all_to_all_once), kRank2, others), three_tensors()).breakdown;
  require_close(time(encode_kernels(power)) + time(encode_kernels(all)), once.encode.si(), 1e-9, "encoding");
  require_close(time(decode_kernels(power, p)) + time(sum_kernels(part, p)) + time(all.remember), once.decode.si(),
                1e-9, "decoding");
}

TEST_CASE("assumptions are told by the compressor that makes them, each once") {
  const auto assumed = [](const Compressor& compressor, const Others& others) {
    return build_step_graph(scenario(4, carried_by(Carrier::automatic), compressor, others), three_tensors()).assumed;
  };
  const Threshold threshold{.density = 0.02};
  CHECK(assumed(kRank2, {{{"*bias"}, kTop}}).empty());
  const std::string one = assumed(threshold, {});
  CHECK_THAT(one, ContainsSubstring("payload of threshold assumed: "));
  CHECK(assumed(Fp16{}, {{{"*bias"}, threshold}}) == one);
  const std::string both = assumed(threshold, {{{"*bias"}, Dgc{}}});
  CHECK_THAT(both, ContainsSubstring(one + "; payload of dgc assumed: "));
}

TEST_CASE("servers decode each compressor's messages, and answer with parameters") {
  // 4 workers push 1 % of the matrices, 2 · 80 kB, and 1-byte codes of the vector, 50,004 B. 8.2 MB come back.
  const int p = 4;
  const EightBit bytes;
  const std::vector<Tensor> matrices{kMatrix, kMatrix};
  const CodecPlan top = make_plan(kTop, matrices), codes = make_plan(bytes, kVector);
  const double worker = time(encode_kernels(top)) + time(top.remember) + time(encode_kernels(codes)),
               server = time(sum_kernels(top, p)) + time(sum_kernels(codes, p)) + 0.001;
  require_close(0.025 + worker + (kAlpha + p * 210004 * kBeta) + server + (kAlpha + p * 8.2e6 * kBeta),
                step_time(scenario(p, ParameterServerStrategy{}, kTop, {{{"*bias"}, bytes}}), three_tensors()), 1e-9,
                "one shard");
  // Greedy shards: the head, the body, and the bias on the first of two that are equal. Each matrix is 80 kB.
  const StepGraph graph = build_step_graph(
      scenario(p, ParameterServerStrategy{.shards = 2, .balance = ShardBalance::greedy}, kTop, {{{"*bias"}, bytes}}),
      three_tensors());
  std::vector<Bytes> pushed;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<ShardWork>(&task.work); work && pushed.empty()) pushed = work->shard_bytes;
  CHECK(pushed == std::vector<Bytes>{130004_B, 80_kB});
}

TEST_CASE("sharded gradients: each compressor's hop, and whole tensors beside them") {
  // 4 workers: 1-byte codes of the matrices, 2,000,004 B, to their owners; fp16 of the vector, 100 kB, by reduce-scatter.
  const int p = 4;
  const EightBit bytes;
  const std::vector<Tensor> matrices{kMatrix, kMatrix};
  const CodecPlan codes = make_plan(bytes, matrices), part = make_plan(bytes, Tensor{{500000}}),
                  halves = make_plan(Fp16{}, kVector), half_part = make_plan(Fp16{}, Tensor{{12500}});
  const double codec = time(encode_kernels(codes)) + time(sum_kernels(part, p)) + time(encode_kernels(halves)) +
                       time(sum_kernels(half_part, 1));
  const double exchange = (p - 1) * (kAlpha + 2000004.0 / p * kBeta) + (p - 1) * (kAlpha + 25e3 * kBeta),
               gather = (p - 1) * (kAlpha + 2.05e6 * kBeta);
  const ShardedStrategy sharded{
      .stage = ShardingStage::gradients, .collective = ring_choice(), .exchange = {.grouping = Grouping::whole_model}};
  require_close(0.025 + codec + exchange + 0.001 / p + gather,
                step_time(scenario(p, sharded, bytes, {{{"*bias"}, Fp16{}}}), three_tensors()), 1e-9, "step");
}

TEST_CASE("gossip: the kernels of the difference and the average once, each compressor's once") {
  // On a ring of 4, two neighbours. The message has top-k of the matrices, 160 kB, and 8-bit codes of the vector.
  const EightBit bytes;
  const auto graph_of = [](const Compressor& compressor, const Others& others) {
    return build_step_graph(scenario(4, GossipStrategy{}, compressor, others), three_tensors());
  };
  CHECK(graph_of(kTop, {{{"*bias"}, bytes}}).payload == 210004_B);
  const auto codec = [&](const Compressor& compressor, const Others& others) {
    return forecast(scenario(4, GossipStrategy{}, compressor, others), three_tensors()).breakdown.codec().si();
  };
  const std::vector<Tensor> matrices{kMatrix, kMatrix}, all{kMatrix, kMatrix, kVector};
  const auto of = [](const CodecPlan& plan) {
    return time(plan.stages.front().encode) + time(sum_kernels(plan, 1)) + time(sum_kernels(plan, 2));
  };
  require_close(
      codec(kTop, {}) - of(make_plan(kTop, all)) + of(make_plan(kTop, matrices)) + of(make_plan(bytes, kVector)),
      codec(kTop, {{{"*bias"}, bytes}}), 1e-9, "kernels");
}

TEST_CASE("error feedback is kept of the tensors whose compressor has it") {
  // Top-k keeps the rest of the matrices, 8 MB; DGC two copies of the vector, 400 kB; TernGrad nothing.
  const auto feedback = [](const Compressor& compressor, const Others& others) {
    return worker_memory(scenario(4, AllReduceStrategy{}, compressor, others), three_tensors()).feedback;
  };
  require_close(8.2e6, feedback(kTop, {}).si(), 1e-12, "all");
  CHECK(feedback(kTop, {{{"*bias"}, TernGrad{}}}) == 8_MB);
  CHECK(feedback(kTop, {{{"*bias"}, Dgc{}}}) == 8.4_MB);
  CHECK(feedback(TernGrad{}, {{{"body.*"}, kTop}}) == 4.2_MB);
  // All-to-all encodes a quarter of top-k's sums again, with an error of their own: 50 kB of the vector. PowerSGD's sums
  // come as they are.
  const auto recoded = [](const Compressor& compressor, const Others& others) {
    return worker_memory(scenario(4, carried_by(Carrier::all_to_all), compressor, others), three_tensors()).feedback;
  };
  CHECK(recoded(kRank2, {{{"*bias"}, kTop}}) == 8.25_MB);
  CHECK(recoded(kTop, {{{"*.weight"}, kRank2}}) == 8.25_MB);
}
