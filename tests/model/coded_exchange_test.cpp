// Steps with compressors: order of encoding, sending and decoding. Prices of single kernels are tested in
// unit/compressor_work_test.cpp; here they are taken as given and the composition is derived by hand.
//
// Device: 10 us a launch, 100 GB/s, arithmetic for nothing. Star: 1 GB/s, 10 us, so α = 10 us and β = 1 ns/B.
#include <fmt/format.h>

#include "models/strategy/coded_exchange.hpp"
#include "models/unit/format.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr double kAlpha = 10e-6, kBeta = 1e-9;

const CodecRates kRates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};

Cluster star(int p) { return star_cluster(p, BytesPerSecond(1e9), 10_us); }

/// Two tensors, 1000 x 1000 ready after 10 ms and 500 elements after 10 ms more; forward 5 ms, update 1 ms.
Workload two_tensors() {
  Workload w;
  w.forward = 5_ms;
  w.update = 1_ms;
  w.gradients = {{"matrix", 1000000, 4_MB, 10_ms, {1000, 1000}}, {"bias", 500, 2_kB, 10_ms, {500}}};
  w.gradient_bytes = 4.002_MB;
  w.backward = 20_ms;
  return w;
}

/// The matrix alone, ready when backward ends after 20 ms.
Workload one_matrix() {
  Workload w = two_tensors();
  w.gradients.pop_back();
  w.gradients[0].gap = 20_ms;
  w.gradient_bytes = 4_MB;
  return w;
}

Scenario scenario(int p, const Strategy& strategy, const Compressor& compressor, CodecSettings codec = {}) {
  Scenario s = scenario_of(star(p), strategy, compressor);
  codec.device = device_of(kRates.all.launch, kRates.all.bandwidth, kRates.all.peak);
  s.codec = codec;
  return s;
}

AllReduceStrategy carried_by(Carrier carrier, Grouping grouping = Grouping::whole_model) {
  Exchange exchange;
  exchange.grouping = grouping;
  return {ring_choice(), exchange, carrier};
}

double time(const std::vector<CodecKernel>& passes) { return price(passes, kRates).si(); }

double ring_gather(int p, double bytes) { return (p - 1) * (kAlpha + bytes * kBeta); }  // `bytes` from each
double ring_reduce(int p, double n) { return 2 * (p - 1) * (kAlpha + n / p * kBeta); }

}  // namespace

TEST_CASE("messages that cannot be summed are all-gathered and decoded one by one") {
  const Workload w = one_matrix();
  const TopK top_k{.ratio = 0.01};  // k = 10,000 elements of 8 bytes
  const CodecPlan plan = make_plan(top_k, Tensor{{1000, 1000}});
  for (const int p : {1, 2, 4, 7}) {
    const double codec = time(encode_kernels(plan)) + time(decode_kernels(plan, p));
    require_close(0.026 + codec + ring_gather(p, 80000),
                  step_time(scenario(p, carried_by(Carrier::automatic), top_k), w), 1e-9, fmt::format("p = {}", p));
  }
}

TEST_CASE("messages whose sizes differ are preceded by their sizes") {
  const Workload w = one_matrix();
  const Threshold threshold{.density = 0.01};
  const CodecPlan plan = make_plan(threshold, Tensor{{1000, 1000}});
  const double codec = time(encode_kernels(plan)) + time(decode_kernels(plan, 4));
  // 4 bytes of size from each, then 8·10,000 bytes of elements and indices.
  require_close(0.026 + codec + ring_gather(4, 4) + ring_gather(4, 80000),
                step_time(scenario(4, carried_by(Carrier::automatic), threshold), w), 1e-9, "step");
}

TEST_CASE("PowerSGD encodes Q only once P has been summed") {
  const Workload w = one_matrix();
  const PowerSgd power{.rank = 2};
  const CodecPlan plan = make_plan(power, Tensor{{1000, 1000}});
  // P and Q: 2·1000 elements of 4 bytes each.
  const double expected = 0.026 + time(encode_kernels(plan)) + time(decode_kernels(plan, 4)) + 2 * ring_reduce(4, 8000);
  require_close(expected, step_time(scenario(4, carried_by(Carrier::automatic), power), w), 1e-9, "step");
  const StepGraph graph = build_step_graph(scenario(4, carried_by(Carrier::automatic), power), w);
  CHECK(graph.payload == 16_kB);
}

TEST_CASE("all-to-all: decode and add a part, encode the sum, gather it") {
  const Workload w = one_matrix();
  const Qsgd qsgd{.levels = 127, .bucket = {}, .packing = Packing::grace};
  for (const int p : {4, 7}) {
    const std::int64_t share = p == 4 ? 250000 : 142858;  // a seventh, the last one smaller
    const CodecPlan all = make_plan(qsgd, Tensor{{1000, 1000}}), one = make_plan(qsgd, Tensor{{share}});
    // Messages: d + 4 bytes to p hosts, a p-th each; then a share and 4 bytes from each.
    const double exchange = (p - 1) * (kAlpha + 1000004.0 / p * kBeta) + ring_gather(p, static_cast<double>(share + 4));
    const double codec = time(encode_kernels(all)) + time(decode_kernels(one, p)) + time(encode_kernels(one)) +
                         time(decode_kernels(all, 1));
    require_close(0.026 + exchange + codec, step_time(scenario(p, carried_by(Carrier::all_to_all), qsgd), w), 1e-9,
                  fmt::format("p = {}", p));
  }
}

TEST_CASE("all-to-all of messages whose sizes differ: each worker first sends the sizes") {
  // DGC of 1 %: 10,000 elements of 8 B are expected, 80,000 B, and 4 B of size for each part. A part of the sum has 2,500
  // elements, 20,000 B, and its size. By all-to-all-once, a fourth of 4 MB is gathered as it is.
  const Workload w = one_matrix();
  const Dgc dgc{.ratio = 0.01};
  const CodecPlan all = make_plan(dgc, Tensor{{1000, 1000}}), part = make_plan(dgc, Tensor{{250000}});
  CHECK(payload(all) == 80000_B);
  CHECK(size_exchange(all) == 4_B);
  CHECK(build_step_graph(scenario(4, carried_by(Carrier::all_to_all), dgc), w).assumed.find("spread evenly") !=
        std::string::npos);
  const double parts = 3 * (kAlpha + 4 * kBeta) + 3 * (kAlpha + 20000 * kBeta);
  require_close(0.026 + time(encode_kernels(all)) + parts + time(recode_kernels(part, 4)) + ring_gather(4, 4) +
                    ring_gather(4, 20000) + time(decode_kernels(all, 1)),
                step_time(scenario(4, carried_by(Carrier::all_to_all), dgc), w), 1e-9, "all-to-all");
  require_close(
      0.026 + time(encode_kernels(all)) + parts + time(sum_kernels(part, 4)) + ring_gather(4, 1e6) + time(all.remember),
      step_time(scenario(4, carried_by(Carrier::all_to_all_once), dgc), w), 1e-9, "once");
}

TEST_CASE("all-to-all-once: decode and add a part, gather the sum as it is") {
  const Workload w = one_matrix();
  const int p = 4;
  // 1,000,004 B to 4 hosts, a fourth each; then a fourth of 4 MB from each. A worker encodes once. EF-SignSGD also
  // writes what its own message leaves.
  const Qsgd qsgd{.levels = 127, .bucket = {}, .packing = Packing::grace};
  const EfSignSgd signs{};  // 125,000 B and a scale of 4 B
  for (const auto& [method, bytes] : {std::pair<Compressor, double>{qsgd, 1000004}, {signs, 125004}}) {
    const CodecPlan all = make_plan(method, Tensor{{1000, 1000}}), one = make_plan(method, Tensor{{250000}});
    const double exchange = (p - 1) * (kAlpha + bytes / p * kBeta) + ring_gather(p, 1e6);
    const double codec = time(encode_kernels(all)) + time(sum_kernels(one, p)) + time(all.remember);
    const Scenario once = scenario(p, carried_by(Carrier::all_to_all_once), method);
    require_close(0.026 + exchange + codec, step_time(once, w), 1e-9, kind_of(method));
  }
}

TEST_CASE("auto is the cheapest carrier of the same training") {
  // 8-bit of a million elements: gathered, (p-1) MB arrive; in parts (p-1)/p·(1 + 4) MB: less from 6 workers on.
  const EightBit method{};
  const auto step = [](int p, Carrier carrier, const Compressor& compressor, Grouping grouping, const Workload& w,
                       bool overlap = true) {
    AllReduceStrategy strategy = carried_by(carrier, grouping);
    strategy.exchange.overlap = overlap;
    return step_time(scenario(p, strategy, compressor), w);
  };
  const auto by = [&](int p, Carrier carrier) { return step(p, carrier, method, Grouping::whole_model, one_matrix()); };
  for (const int p : {2, 3, 4, 8, 16}) {
    INFO(p);
    const double gathered = by(p, Carrier::all_gather), once = by(p, Carrier::all_to_all_once);
    CHECK(by(p, Carrier::automatic) == std::min(gathered, once));
    CHECK((gathered < once) == (p <= 4));
    const std::string said =
        build_step_graph(scenario(p, carried_by(Carrier::automatic), method), one_matrix()).carrier;
    const std::string shorter = human_text(Seconds(std::min(gathered, once))),
                      longer = human_text(Seconds(std::max(gathered, once)));
    CHECK(said == (gathered < once ? fmt::format("all-gather: {} a step, for {} by all-to-all-once", shorter, longer)
                                   : fmt::format("all-to-all-once: {} a step, for {} by all-gather", shorter, longer)));
  }
  // An exchange that overlaps costs nothing: the matrix is gathered while the bias is computed. Its sum in parts is not.
  CHECK(step(8, Carrier::automatic, method, Grouping::per_tensor, two_tensors()) ==
        step(8, Carrier::all_gather, method, Grouping::per_tensor, two_tensors()));
  for (const int p : {2, 5, 8, 30})
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor})
      for (const bool overlap : {false, true})
        for (const Compressor& compressor :
             {Compressor(EightBit{}), Compressor(Qsgd{}), Compressor(TopK{.ratio = 0.3}), Compressor(Threshold{})})
          CHECK(step(p, Carrier::automatic, compressor, grouping, two_tensors(), overlap) ==
                std::min(step(p, Carrier::all_gather, compressor, grouping, two_tensors(), overlap),
                         step(p, Carrier::all_to_all_once, compressor, grouping, two_tensors(), overlap)));
  // The majority of packed signs is a message itself, so all-to-all trains the same way: an eighth of the bits twice.
  for (const bool error_feedback : {false, true}) {
    const SignSgd signs{.error_feedback = error_feedback};
    CHECK(step(8, Carrier::automatic, signs, Grouping::whole_model, one_matrix()) ==
          step(8, Carrier::all_to_all, signs, Grouping::whole_model, one_matrix()));
  }
  // Sums have no choice, nor have factors of matrices.
  for (const Compressor& other : {Compressor(Fp16{}), Compressor(Atomo{}), Compressor(PowerSgd{})}) {
    const Scenario plain = scenario(8, carried_by(Carrier::automatic), other);
    CHECK(build_step_graph(plain, one_matrix()).carrier.empty());
    CHECK(step_time(plain, one_matrix()) ==
          step_time(scenario(8, carried_by(Carrier::sum_or_gather), other), one_matrix()));
  }
}

TEST_CASE("a share of a whole codec has a share of the elements, and as many tensors") {
  // 1 ms a tensor and 1 ns an element; two machines of 2: (1 + 500,000 ns) + (1 ms + 250 ns), whatever the grouping.
  Scenario s = scenario(4, carried_by(Carrier::sum_or_gather), TopK{.ratio = 0.01});
  DeviceProfile device = *s.codec.device;
  device.codecs = {{.method = "top-k", .per_tensor = 1_ms, .per_element = 1_ns, .source = ""}};
  s.codec.device = device;
  s.cluster.topology = Nodes{.gpus_per_node = 2, .inner = {10_GBps, 3_us}};
  s.codec.scope = CodecScope::machines;
  for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
    s.strategy = carried_by(Carrier::sum_or_gather, grouping);
    require_close(2e-3 + 500250e-9, forecast(s, two_tensors()).breakdown.codec().si(), 1e-9,
                  std::string(name_of(grouping)));
  }
}

TEST_CASE("all-to-all: the sum of all messages can be encoded again, hop by hop it cannot; it has a separate error") {
  const Workload w = one_matrix();
  const int p = 4;
  // 250,000 of 1,000,000 elements: a bit each and the means, or a hundredth of them with 4 bytes of index.
  const std::pair<Compressor, std::pair<double, double>> methods[] = {
      {OneBit{}, {125008, 31258}}, {SignSgd{}, {125000, 31250}}, {TopK{.ratio = 0.01}, {80000, 20000}}};
  for (const auto& [method, bytes] : methods) {
    const CodecPlan all = make_plan(method, Tensor{{1000, 1000}}), one = make_plan(method, Tensor{{250000}});
    const double exchange = (p - 1) * (kAlpha + bytes.first / p * kBeta) + ring_gather(p, bytes.second);
    const double codec = time(encode_kernels(all)) + time(recode_kernels(one, p)) + time(decode_kernels(all, 1));
    require_close(0.026 + exchange + codec, step_time(scenario(p, carried_by(Carrier::all_to_all), method), w), 1e-9,
                  std::string(compressors()[method.index()].kind));
  }
}

TEST_CASE("all-to-all: kernels of signs, of their momentum, and of 1-bit's two errors, by hand") {
  // 1,000,000 elements: 4 MB dense, 125,000 B of signs; of a part, a quarter: 1 MB and 31,250 B. A kernel takes 10 us and
  // 10 us a megabyte. Signs: packed; the majority of 4 messages of a part, which is the message that is gathered;
  // unpacked. SIGNUM also reads gradient and momentum and writes the momentum, 12 MB, once.
  const auto codec = [](const Compressor& method) {
    const Breakdown b = forecast(scenario(4, carried_by(Carrier::all_to_all), method), one_matrix()).breakdown;
    return (b.encode + b.decode).si();
  };
  const double signs = 2 * (10e-6 + 4.125 * 10e-6) + (10e-6 + 5 * 0.03125 * 10e-6);
  require_close(signs, codec(SignSgd{}), 1e-9, "signs");
  require_close(signs + 10e-6 + 12 * 10e-6, codec(Signum{}), 1e-9, "SIGNUM");
  // 1-bit, with 8 B of means more for each message. The gradient and its error are added, 12 MB, and packed. For the
  // new error, they are unpacked and subtracted, 12 MB. The sum of 4 messages of a part takes the same with 3 MB each.
  const auto both = [](double megabytes, double message) {
    return 4 * 10e-6 + (2 * 3 * megabytes + 2 * (megabytes + message)) * 10e-6;
  };
  const double sum = 10e-6 + (4 * 0.031258 + 1) * 10e-6, unpacked = 10e-6 + 4.125008 * 10e-6;
  require_close(both(4, 0.125008) + sum + both(1, 0.031258) + unpacked, codec(OneBit{}), 1e-9, "1-bit");
}

TEST_CASE("a slower codec: every kernel takes so many times as long, but its launch") {
  const Workload w = one_matrix();
  const Qsgd qsgd;
  const CodecPlan plan = make_plan(qsgd, Tensor{{1000, 1000}});
  CodecSettings slow;
  slow.slowdown = 20;
  const std::vector<CodecKernel> encode = encode_kernels(plan), decode = decode_kernels(plan, 4);
  double launches = 0;
  for (const auto* kernels : {&encode, &decode})
    for (const CodecKernel& kernel : *kernels) launches += kernel.repeats * kRates.all.launch.si();
  require_close(19 * (time(encode) + time(decode) - launches),
                step_time(scenario(4, carried_by(Carrier::sum_or_gather), qsgd, slow), w) -
                    step_time(scenario(4, carried_by(Carrier::sum_or_gather), qsgd), w),
                1e-9, "19 more");
}

TEST_CASE("in-collective: every hop of the ring decodes, adds and encodes") {
  const Workload w = one_matrix();
  for (const auto& [p, share] : {std::pair{2, 500000}, {4, 250000}, {5, 200000}, {7, 142858}})
    for (const bool feedback : {false, true}) {
      const EightBit method{.error_feedback = feedback};
      const Tensor slice{{share}};
      const CodecPlan whole = make_plan(method, Tensor{{1000, 1000}}), part = make_plan(method, slice);
      // p-1 rounds that reduce and p-1 that gather, each of d/p + 4 bytes. Error feedback adds and remembers whole
      // vectors.
      const double exchange = 2 * (p - 1) * (kAlpha + (share + 4) * kBeta) + (p - 1) * time(hop_kernels(part, slice));
      require_close(
          0.026 + time(whole.compensate) + time(part.stages.front().encode) + exchange + time(decode_kernels(whole, 1)),
          step_time(scenario(p, carried_by(Carrier::in_collective), method), w), 1e-9,
          fmt::format("p = {}, error feedback {}", p, feedback));
    }
}

TEST_CASE("in-collective: a sparse method sends the same share of each hop's sum") {
  // Dryden et al.'s all-reduce of 4 workers: 1 % of a slice of 250,000, 4 B each, and two means with a count.
  const Adaptive method{.error_feedback = false};
  const Tensor slice{{250000}};
  const CodecPlan whole = make_plan(method, Tensor{{1000, 1000}}), part = make_plan(method, slice);
  const double exchange = 2 * 3 * (kAlpha + (4 * 2500 + 12) * kBeta) + 3 * time(hop_kernels(part, slice));
  require_close(0.026 + time(part.stages.front().encode) + exchange + time(decode_kernels(whole, 1)),
                step_time(scenario(4, carried_by(Carrier::in_collective), method), one_matrix()), 1e-9, "adaptive");
}

TEST_CASE("the codec's own device encodes, whatever the workload's profile") {
  // fp16 of 1,000,000 elements at no launch: 6 MB through 1 GB/s to encode and as much to decode, by whatever the table
  // was timed.
  WorkloadTable table;
  table.name = "shapes";
  table.batch = 1;
  table.layers.resize(1);
  table.layers[0].name = "one";
  table.layers[0].shape = Linear{1000, 1000, 1, false, false};
  table.profile = device_of(0_us, BytesPerSecond(1e15), FlopsPerSecond(1e25));
  Scenario s = scenario_of(star(4), carried_by(Carrier::automatic), Fp16{});
  s.workload = std::make_shared<const WorkloadTable>(table);
  s.codec.device = device_of(0_us, BytesPerSecond(1e9), FlopsPerSecond(1e25));
  const Breakdown with = forecast(s, one_matrix()).breakdown;
  require_close(6_ms, with.encode, 1e-9, "encode");
  require_close(6_ms, with.decode, 1e-9, "decode");
  s.codec.device.reset();
  require_close(6_ns, forecast(s, one_matrix()).breakdown.encode, 1e-9, "without one the profile's is");
}

TEST_CASE("layer by layer overlaps with backward; the whole model does not, but is one message") {
  const Workload w = two_tensors();
  const SignSgd sign;
  const int p = 4;
  const CodecPlan matrix = make_plan(sign, Tensor{{1000, 1000}}), bias = make_plan(sign, Tensor{{500}}),
                  flat = make_plan(sign, Tensor{{1000500}});
  const double e1 = time(encode_kernels(matrix)), e2 = time(encode_kernels(bias)), d1 = time(decode_kernels(matrix, p)),
               d2 = time(decode_kernels(bias, p));
  // Layer-wise: the matrix' 125,000 bytes from each travel (0.4 ms) while backward goes on for 10 ms.
  require_close(0.005 + 0.010 + e1 + 0.010 + e2 + std::max(ring_gather(p, 63), d1) + d2 + 0.001,
                step_time(scenario(p, carried_by(Carrier::sum_or_gather, Grouping::per_tensor), sign), w), 1e-9,
                "per tensor");
  require_close(0.026 + time(encode_kernels(flat)) + ring_gather(p, 125063) + time(decode_kernels(flat, p)),
                step_time(scenario(p, carried_by(Carrier::sum_or_gather), sign), w), 1e-9, "whole model");
  // Codec not overlapped: both are encoded after backward, and the matrix leaves while the bias is encoded.
  CodecSettings after;
  after.overlap = false;
  const double sent = 0.025 + e1 + ring_gather(p, 125000),
               second = std::max(0.025 + e1 + e2, sent) + ring_gather(p, 63);
  require_close(std::max(std::max(sent, 0.025 + e1 + e2) + d1, second) + d2 + 0.001,
                step_time(scenario(p, carried_by(Carrier::sum_or_gather, Grouping::per_tensor), sign, after), w), 1e-9,
                "encoded afterwards");
}

TEST_CASE("local SGD exchanges in one of H steps") {
  const Workload w = one_matrix();
  QsparseLocalSgd local;
  local.local_steps = 1;
  const double every = step_time(scenario(4, carried_by(Carrier::automatic), local), w);
  local.local_steps = 5;
  const Scenario s = scenario(4, carried_by(Carrier::automatic), local);
  const StepForecast f = forecast(s, w);
  // 26 ms of computation in each of five steps, the rest once.
  require_close(0.026 + (every - 0.026) / 5, f.step.si(), 1e-12, "mean step");
  require_close(f.step.si(), f.breakdown.total().si(), 1e-12, "parts");
  require_close(0.005, f.breakdown.forward.si(), 1e-12, "one forward pass a step");
}

TEST_CASE("a parameter server decodes and adds p messages; its answer is compressed only two-way") {
  const Workload w = one_matrix();
  const TopK top_k{.ratio = 0.01};
  const CodecPlan plan = make_plan(top_k, Tensor{{1000, 1000}});
  CodecPlan sum = plan;
  sum.remember.clear();
  const double own = time(plan.remember), encode = time(encode_kernels(plan)), serve = time(decode_kernels(sum, 4));
  ParameterServerStrategy server;
  // Push: 4 flows of 80 kB on the server's link. Pull: 4 of 4 MB. The server updates, 1 ms; two-way the worker does,
  // and the server has error feedback of its own.
  require_close(0.025 + encode + own + (kAlpha + 4 * 80e3 * kBeta) + serve + 0.001 + (kAlpha + 4 * 4e6 * kBeta),
                step_time(scenario(4, server, top_k), w), 1e-9, "one way");
  server.two_way = true;
  require_close(0.025 + encode + own + 2 * (kAlpha + 4 * 80e3 * kBeta) + serve + encode + own +
                    time(decode_kernels(sum, 1)) + 0.001,
                step_time(scenario(4, server, top_k), w), 1e-9, "two ways");
}

TEST_CASE("small tensors travel as they are, before the first messages") {
  // The matrix is compressed, the 500 elements of the bias are not: 2000 B by an all-reduce. Whole model, top-k 1 %.
  const Workload w = two_tensors();
  const TopK top_k{.ratio = 0.01};
  const CodecPlan matrix = make_plan(top_k, Tensor{{1000, 1000}});
  CodecSettings codec;
  codec.min_elements = 501;
  const double kernels = time(encode_kernels(matrix)) + time(decode_kernels(matrix, 4));
  const Scenario whole = scenario(4, carried_by(Carrier::sum_or_gather), top_k, codec);
  require_close(0.026 + kernels + ring_reduce(4, 2000) + ring_gather(4, 80000), step_time(whole, w), 1e-9, "a bucket");
  CHECK(build_step_graph(whole, w).payload == 82_kB);
  // Tensor by tensor, the bias has nothing to encode. The matrix is sent and decoded while the bias is computed.
  const Scenario each = scenario(4, carried_by(Carrier::sum_or_gather, Grouping::per_tensor), top_k, codec);
  require_close(
      0.025 + time(encode_kernels(matrix)) + std::max(ring_reduce(4, 2000), time(decode_kernels(matrix, 4))) + 0.001,
      step_time(each, w), 1e-9, "tensor by tensor");
  // All tensors have 500 elements or more, and are compressed.
  codec.min_elements = 500;
  CHECK(step_time(scenario(4, carried_by(Carrier::sum_or_gather), top_k, codec), w) ==
        step_time(scenario(4, carried_by(Carrier::sum_or_gather), top_k), w));
  // Note that auto's choice is of the compressed ones.
  codec.min_elements = 501;
  const Scenario bytes = scenario(8, carried_by(Carrier::automatic), EightBit{}, codec);
  CHECK(build_step_graph(bytes, w).carrier.starts_with("all-to-all-once: "));
}

TEST_CASE("vectors and tensors by name travel as they are, like small ones") {
  const Workload w = two_tensors();
  const auto step = [&](const CodecSettings& codec) {
    return step_time(scenario(4, carried_by(Carrier::sum_or_gather), TopK{.ratio = 0.01}, codec), w);
  };
  CodecSettings small, vectors, named, other;
  small.min_elements = 501;
  vectors.whole_vectors = true;
  named.whole = std::vector<std::string>{"head.*", "b?as"};
  other.whole = std::vector<std::string>{"bi", "*norm*"};  // a pattern is of the whole name
  CHECK(step(vectors) == step(small));
  CHECK(step(named) == step(small));
  CHECK(step(other) == step({}));
  CHECK(step(small) != step({}));
  named.whole = std::vector<std::string>{"m*x"};  // the bias alone is compressed
  const CodecPlan bias = make_plan(TopK{.ratio = 0.01}, Tensor{{500}});
  require_close(
      0.026 + time(encode_kernels(bias)) + time(decode_kernels(bias, 4)) + ring_reduce(4, 4e6) + ring_gather(4, 5 * 8),
      step(named), 1e-9, "5 values and indices of the bias");
}

TEST_CASE("small tensors are pushed as they are, and added by γ") {
  // A server of 4 workers: 80,000 B of the matrix and 2000 B of the bias each; 4.002 MB come back. γ = 1 ns/B.
  const Workload w = two_tensors();
  const TopK top_k{.ratio = 0.01};
  const CodecPlan plan = make_plan(top_k, Tensor{{1000, 1000}});
  ParameterServerStrategy server{.server_reduction_cost = 1_ns_per_B};
  CodecSettings codec;
  codec.min_elements = 501;
  const double own = time(encode_kernels(plan)) + time(plan.remember), serve = time(sum_kernels(plan, 4)) + 4 * 2000e-9;
  require_close(0.025 + own + (kAlpha + 4 * 82e3 * kBeta) + serve + 0.001 + (kAlpha + 4 * 4.002e6 * kBeta),
                step_time(scenario(4, server, top_k, codec), w), 1e-9, "one way");
  // The bias alone, a bucket of its own, is pushed and pulled like any uncompressed gradient.
  server.exchange.grouping = Grouping::per_tensor;
  const StepGraph graph = build_step_graph(scenario(4, server, top_k, codec), w);
  std::vector<Bytes> sent;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<ShardWork>(&task.work)) sent.push_back(work->shard_bytes.front());
  CHECK(sent == std::vector<Bytes>{80_kB, 2_kB, 4_MB, 2_kB});
}

TEST_CASE("a shard's share of the arithmetic is its share of the parameters") {
  // A device that moves bytes for nothing and computes at 1 GFLOPS; 1,000,000 elements on 4 shards. A shard decodes and
  // adds 4 messages of 8-bit, 3 operations an element each: 12 of 250,000. Two ways it also encodes the sum, in 2
  // operations for the largest and 10 to quantize: 12 more.
  for (const auto& [two_way, operations] : {std::pair{false, 12.0}, {true, 24.0}}) {
    Scenario s = scenario_of(star(4), ParameterServerStrategy{.shards = 4, .two_way = two_way}, EightBit{});
    s.codec.device = device_of(0_us, BytesPerSecond(1e25), FlopsPerSecond(1e9));
    Workload w = one_matrix();
    w.update = 0_s;
    const StepGraph graph = build_step_graph(s, w);
    int shards = 0;
    for (const Task& task : graph.tasks)
      if (const auto* serve = std::get_if<ServeWork>(&task.work))
        for (const Seconds time : serve->time) {
          require_close(operations * 250000 / 1e9, time.si(), 1e-9, two_way ? "two ways" : "one way");
          ++shards;
        }
    CHECK(shards == 4);
  }
}

TEST_CASE("pipelined SGD hides the whole exchange, codec work stays on the GPU") {
  const Workload w = one_matrix();
  const TopK top_k{.ratio = 0.5};
  const CodecPlan plan = make_plan(top_k, Tensor{{1000, 1000}});
  PipelinedStrategy pipelined;
  pipelined.collective = ring_choice();
  const double A = 0.026 + time(encode_kernels(plan)) + time(decode_kernels(plan, 4)), B = ring_gather(4, 4e6);
  require_close(std::max(A, B), step_time(scenario(4, pipelined, top_k), w), 1e-9, "max(A, B)");
}

TEST_CASE("no compressor changes the computation's part of the step") {
  const Workload w = two_tensors();
  for (const Compressor& compressor : all_compressors()) {
    INFO(kind_of(compressor));
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor, Grouping::bucketed}) {
      const StepForecast f = forecast(scenario(4, carried_by(Carrier::automatic, grouping), compressor), w);
      require_close(0.005, f.breakdown.forward.si(), 1e-9, "forward");
      require_close(0.020, f.breakdown.backward.si(), 1e-9, "backward");
      require_close(0.001, f.breakdown.update.si(), 1e-9, "update");
      require_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts add up");
    }
  }
}

TEST_CASE("assumptions about a payload are noted") {
  const Workload w = one_matrix();
  CHECK(build_step_graph(scenario(4, carried_by(Carrier::automatic), TopK{}), w).assumed.empty());
  CHECK_THAT(build_step_graph(scenario(4, carried_by(Carrier::automatic), Threshold{.density = 0.02}), w).assumed,
             ContainsSubstring("density 0.02"));
  ParameterServerStrategy server;
  CHECK_THAT(build_step_graph(scenario(4, server, Dgc{}), w).assumed, ContainsSubstring("pass the threshold"));
}

TEST_CASE("a device's whole codec takes the place of a method's kernels") {
  // Two tensors of 1,000,000 and 500 elements: 2·3 ms + 1,000,500·1 ns before they are sent, and nothing after. Top-k has no
  // rank, so a tensor has one column: 2 ms + 1 ms.
  Scenario s = scenario(2, carried_by(Carrier::automatic), TopK{.ratio = 0.01});
  DeviceProfile device = *s.codec.device;
  device.codecs = {{.method = "top-k", .per_tensor = 2_ms, .per_element = 1_ns, .per_rank = 1_ms, .source = "a test"},
                   {.method = "qsgd", .per_tensor = 1_ms, .per_element = 1_ns, .source = "a test"}};
  s.codec.device = device;
  s.codec.slowdown = 20;  // of kernels alone
  const Seconds codec = 6_ms + 1.0005_ms;
  const auto work = [&](Phase phase) {
    Seconds sum{};
    for (const Task& task : build_step_graph(s, two_tensors()).tasks)
      if (task.phase == phase) sum += std::get<ComputeWork>(task.work).duration;
    return sum;
  };
  require_close(codec.si(), work(Phase::encode).si(), 1e-12, "encoding");
  CHECK(work(Phase::decode) == 0_s);
  ParameterServerStrategy server;
  server.shards = 2;
  s.strategy = server;
  require_close(codec.si(), work(Phase::encode).si(), 1e-12, "for two shards, which each get half of every tensor");
  Seconds served{};  // by the method's kernels: the whole codec is a worker's
  for (const Task& task : build_step_graph(s, two_tensors()).tasks)
    if (const auto* serve = std::get_if<ServeWork>(&task.work)) served += serve->time.front();
  CHECK(served > 0_s);
  s.strategy = carried_by(Carrier::automatic);
  s.compressor = SignSgd{};  // not timed: kernels
  CHECK(work(Phase::decode) > 0_s);
}

TEST_CASE("encoding and decoding timed apart: the number of messages counts, and servers decode as workers do") {
  // 1,000,500 elements in one group: 3 ms + 1 us · 1000.5 to encode, 0.2 ms + 0.5 ns each to decode: 0.70025 ms. The
  // rest of gathers is a kernel that adds. It reads and writes 12 B an element at kRates, for all but one message.
  Scenario s = scenario(4, carried_by(Carrier::sum_or_gather, Grouping::whole_model),
                        TopK{.ratio = 0.01, .error_feedback = false});
  DeviceProfile device = *s.codec.device;
  device.codecs = {
      {.method = "top-k", .per_tensor = 3_ms, .per_element = 1_ns, .decode = CodecTime{200_us, 0.5_ns}, .source = ""}};
  s.codec.device = device;
  const auto codec = [&] { return forecast(s, two_tensors()).breakdown.codec().si(); };
  const double encode = 4.0005e-3, decode = 0.70025e-3;
  const auto add = [](double elements) { return time({{"add", Bytes(8 * elements), Bytes(4 * elements)}}); };
  require_close(encode + 4 * decode + 3 * add(1000500), codec(), 1e-9, "gathered");
  // Parts of 250,125 elements: decoded in 0.2 ms + 125.0625 us each, and sums travel as they are.
  s.strategy = carried_by(Carrier::all_to_all_once, Grouping::whole_model);
  require_close(encode + 4 * 0.3250625e-3 + 3 * add(250125), codec(), 1e-9, "all-to-all, once");
  // The sum of a part is encoded again in 3 ms + 250.125 us, and decoded with the others' as one message.
  s.strategy = carried_by(Carrier::all_to_all, Grouping::whole_model);
  require_close(encode + 4 * 0.3250625e-3 + 3 * add(250125) + 3.250125e-3 + decode, codec(), 1e-9, "all-to-all");
  ParameterServerStrategy server;  // one shard, whose answer is not compressed
  s.strategy = server;
  Seconds served{};
  for (const Task& task : build_step_graph(s, two_tensors()).tasks)
    if (const auto* serve = std::get_if<ServeWork>(&task.work)) served += serve->time.front();
  require_close(4 * decode + 3 * add(1000500) + 1e-3, served.si(), 1e-9, "server, which also updates in 1 ms");
  server.shards = 2;  // each has half of the elements, of the sums and of the update, and decodes as many messages
  s.strategy = server;
  served = {};
  for (const Task& task : build_step_graph(s, two_tensors()).tasks)
    if (const auto* serve = std::get_if<ServeWork>(&task.work)) served += serve->time.front();
  require_close(4 * (0.2e-3 + 0.250125e-3) + 3 * add(500250) + 0.5e-3, served.si(), 1e-9, "the first of two shards");
}

TEST_CASE("a slowdown leaves launches alone") {
  CodecRates slow = kRates;
  slow.slowdown = 20;
  // 1 MB read and 1 MB written at 100 GB/s: 20 us and a launch of 10 us. Slow: 10 + 20·20 us; twice that for two.
  const CodecKernel kernel{"any", 1_MB, 1_MB, {}, 2, {}};
  require_close(60e-6, price({kernel}, kRates).si(), 1e-12, "plain");
  require_close(820e-6, price({kernel}, slow).si(), 1e-12, "slow");
}
