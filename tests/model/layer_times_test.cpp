// Layer times from shapes and profiles: the roofline's bounds, and that more work never takes less time.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/scenario/fault.hpp"
#include "models/scenario/study.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/workload/check_shapes.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/workload.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

DeviceProfile device(FlopsPerSecond peak, BytesPerSecond bandwidth, Seconds launch, double bend) {
  DeviceProfile profile;
  profile.name = "device";
  profile.peaks = {{Dtype::fp32, peak, Evidence::assumed, "test"}};
  profile.memory_bandwidth.value = bandwidth;
  profile.launch_overhead.value = launch;
  profile.bend.value = bend;
  return profile;
}

DeviceProfile random_device() {
  DeviceProfile profile = device(FlopsPerSecond(positive_between(1e12, 1e15)), BytesPerSecond(positive_between(1e11, 1e13)), Seconds(positive_between(1e-7, 1e-5)), positive_between(1, 64));
  profile.compute_efficiency.value = real_between(0.1, 1);
  profile.memory_efficiency.value = real_between(0.1, 1);
  return profile;
}

Work random_work() { return {Flops(positive_between(1, 1e13)), Bytes(positive_between(1, 1e10)), static_cast<double>(integer_between(1, 5))}; }

/// One of every kind.
LayerShape random_shape() {
  const auto n = [](int high) { return static_cast<Count>(integer_between(1, high)); };
  const Count size = integer_between(8, 40);
  switch (integer_between(0, 13)) {
    case 0: return Conv2d{n(64), n(64), {n(7), n(7)}, n(3), {n(3), n(3)}, 1, coin(), {size, size}};
    case 1: return ConvTranspose2d{n(64), n(64), {2, 2}, 2, coin(), {size, size}};
    case 2: return Linear{n(1000), n(1000), n(100), coin(), coin()};
    case 3: return Lstm{n(300), n(300), n(40), static_cast<LstmTensors>(integer_between(0, 2)), {}, {}};
    case 4: return Attention{1, n(512), n(128), {}};
    case 5: return Embedding{n(10000), n(512), n(128), coin()};
    case 6: return BatchNorm{n(512), {size, size}, coin()};
    case 7: return LayerNorm{n(512), n(128)};
    case 8: return Activation{static_cast<ActivationFunction>(integer_between(0, 4)), n(100000)};
    case 9: return Pool{PoolFunction::max, n(512), {3, 3}, 2, {1, 1}, {size, size}};
    case 10: return Add{n(100000)};
    case 11: return Multiply{n(100000)};
    case 12: return Concat{n(100000)};
    default: return SoftmaxLoss{n(1000), n(100)};
  }
}

WorkloadTable table_of(LayerShape first, LayerShape second) {
  WorkloadTable table;
  table.layers = {{"first", {}, {}, {}, std::move(first)}, {"second", {}, {}, {}, std::move(second)}};
  return table;
}

std::string fault_of(const WorkloadTable& table) {
  std::vector<Fault> faults;
  check_shapes(table, "/workload", faults);
  std::string text;
  for (const Fault& fault : faults) text += to_string(fault) + "\n";
  return text;
}

}  // namespace

TEST_CASE("the roofline by hand") {
  // 10 TFLOPS at 50 %: 5 GFLOP take 1 ms. 1 TB/s at 80 %: 800 MB take 1 ms. Two launches of 5 us.
  DeviceProfile profile = device(10_TFLOPS, 1000_GBps, 5_us, 4);
  profile.compute_efficiency.value = 0.5;
  profile.memory_efficiency.value = 0.8;
  require_close(10e-6 + 1e-3 * std::pow(2, 0.25), roofline({Flops(5e9), 800_MB, 2}, profile, Dtype::fp32).si(), 1e-12, "both 1 ms: 2^(1/4) ms");
  require_close(10e-6 + 1e-3, roofline({Flops(5e9), 0_B, 2}, profile, Dtype::fp32).si(), 1e-12, "arithmetic alone");
  require_close(10e-6 + 1e-3, roofline({Flops(0), 800_MB, 2}, profile, Dtype::fp32).si(), 1e-12, "traffic alone");
  CHECK(roofline({}, profile, Dtype::fp32) == 0_s);
  CHECK_THROWS_AS(roofline({Flops(1), 1_B, 1}, profile, Dtype::fp16), ModelError);
}

TEST_CASE("the smooth roofline lies between the sharp one and 2^(1/k) times it") {
  property("max(a, b) <= t - launches <= 2^(1/k) max(a, b)", [] {
    const DeviceProfile profile = random_device();
    const Work work = random_work();
    const double a = work.flops.si() / (profile.peaks[0].rate.si() * profile.compute_efficiency.value);
    const double b = work.bytes.si() / (profile.memory_bandwidth.value.si() * profile.memory_efficiency.value);
    const double t = roofline(work, profile, Dtype::fp32).si() - work.kernels * profile.launch_overhead.value.si();
    const double slack = 1e-9 * roofline(work, profile, Dtype::fp32).si();
    RC_ASSERT(t >= std::max(a, b) - slack);
    RC_ASSERT(t <= std::max(a, b) * std::pow(2, 1 / profile.bend.value) + slack);
  }, 1000);
}

TEST_CASE("more work never takes less time, a better device never more") {
  property("monotone in every argument", [] {
    const DeviceProfile profile = random_device();
    const Work work = random_work();
    const double t = roofline(work, profile, Dtype::fp32).si() * (1 + 1e-12);
    Work more = work;
    more.flops *= real_between(1, 3);
    more.bytes *= real_between(1, 3);
    more.kernels += integer_between(0, 2);
    RC_ASSERT(roofline(more, profile, Dtype::fp32).si() * (1 + 2e-12) >= t);
    DeviceProfile better = profile;
    better.peaks[0].rate *= real_between(1, 3);
    better.memory_bandwidth.value *= real_between(1, 3);
    better.launch_overhead.value *= real_between(0.1, 1);
    better.bend.value = std::min(64.0, better.bend.value * real_between(1, 3));
    RC_ASSERT(roofline(work, better, Dtype::fp32).si() <= t);
  }, 1000);
}

TEST_CASE("a larger batch never takes less time, and less than in proportion") {
  property("t(b) <= t(mb) <= m t(b) for every kind", [] {
    const DeviceProfile profile = random_device();
    const int batch = integer_between(1, 64), times = integer_between(1, 8);
    const WorkloadTable table = table_of(Linear{8, 8, 1, true, false}, random_shape());
    const Layer one = time_layers(table, profile, batch).layers[1], many = time_layers(table, profile, batch * times).layers[1];
    RC_ASSERT(one.forward > 0_s);
    RC_ASSERT(one.backward > 0_s);
    RC_ASSERT(many.forward.si() >= one.forward.si() * (1 - 1e-12));
    RC_ASSERT(many.backward.si() >= one.backward.si() * (1 - 1e-12));
    RC_ASSERT(many.forward.si() <= times * one.forward.si() * (1 + 1e-12));
    RC_ASSERT(many.backward.si() <= times * one.backward.si() * (1 + 1e-12));
  }, 1000);
}

TEST_CASE("a convolution's work by hand") {
  // 2 -> 3 channels, 3 x 3, 8 x 8 with padding 1: 3·2·9·64 = 3456 MACs; input 128, output 192, weight 54 elements.
  const LayerWork work = work_of(Conv2d{2, 3, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, 10, Dtype::fp32);
  for (const Work& part : {work.forward, work.data_gradient, work.weight_gradient}) {
    CHECK(part.flops.si() == 2 * 3456 * 10);
    CHECK(part.bytes.si() == 4 * (10 * (128 + 192) + 54));
    CHECK(part.kernels == 1);
  }
}

TEST_CASE("Winograd's gain is for 3 x 3 convolutions of stride 1 in fp32 alone") {
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  profile.winograd.value = 2.25;
  const auto gain = [&](LayerShape shape, Dtype dtype) { return work_of(shape, 4, dtype).weight_gradient.flops / work_on(profile, shape, 4, dtype).weight_gradient.flops; };
  CHECK(gain(Conv2d{4, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, Dtype::fp32) == Approx(2.25));
  CHECK(gain(Conv2d{4, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, Dtype::fp16) == 1);
  CHECK(gain(Conv2d{4, 4, {3, 3}, 2, {1, 1}, 1, false, {8, 8}}, Dtype::fp32) == 1);
  CHECK(gain(Conv2d{4, 4, {5, 5}, 1, {2, 2}, 1, false, {8, 8}}, Dtype::fp32) == 1);
  CHECK(gain(Linear{4, 4, 1, true, false}, Dtype::fp32) == 1);
}

TEST_CASE("the V100's datasheet profile is near what was measured on V100s") {
  // Measured, batch 32, fp32: backward 63.533 ms for ResNet-50 and 85.31 ms for VGG-16 (the tables resnet50-v100 and
  // vgg16-v100, Espresso). A datasheet and assumed efficiencies cannot do better than a rough figure: within 35 %.
  for (const char* name : {"resnet50", "vgg16"}) {
    const WorkloadTable table = load_workload(default_library() / "workloads" / (std::string(name) + ".json"), Json{{"profile", "v100-datasheet"}, {"batch", 32}}, default_library());
    const WorkloadTable measured = load_workload(default_library() / "workloads" / (std::string(name) + "-v100.json"), Json::object(), default_library());
    require_close(make_workload(measured).backward, make_workload(table).backward, 0.35, std::string(name) + " backward");
  }
}

TEST_CASE("the update reads and writes what its optimizer keeps") {
  // fp32: gradient 4, weight read and write 8, each state 8. fp16: gradient 2, and a copy of the weight 2.
  CHECK(update_work(1000, 3, Optimizer::sgd, Dtype::fp32).bytes == 12_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp32).bytes == 20_kB);
  CHECK(update_work(1000, 3, Optimizer::adam, Dtype::fp32).bytes == 28_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp16).bytes == 20_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp32).kernels == 3);
}

TEST_CASE("the first layer has no data gradient, and the timed table is the workload's") {
  const DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  WorkloadTable table = table_of(Linear{100, 200, 1, false, false}, Linear{200, 300, 1, true, false});
  table.batch = 7;
  const WorkloadTable timed = time_layers(table, profile, 7);
  const LayerWork first = work_of(*table.layers[0].shape, 7, Dtype::fp32), second = work_of(*table.layers[1].shape, 7, Dtype::fp32);
  CHECK(timed.layers[0].backward == roofline(first.weight_gradient, profile, Dtype::fp32));
  CHECK(timed.layers[1].backward == roofline(second.weight_gradient, profile, Dtype::fp32) + roofline(second.data_gradient, profile, Dtype::fp32));
  CHECK(timed.update == roofline(update_work(20000 + 60300, 3, Optimizer::momentum, Dtype::fp32), profile, Dtype::fp32));
  table.profile = profile;
  const Workload a = make_workload(table), b = make_workload(timed);
  CHECK(a.compute() == b.compute());
  CHECK(a.gradients.size() == 3);
  CHECK(a.gradients.back().gap == timed.layers[0].backward);
}

TEST_CASE("every shipped profile times every shipped network") {
  for (const char* profile : {"v100-datasheet", "p100-datasheet", "titan-xp-datasheet", "a100-datasheet", "h100-datasheet"}) {
    for (const char* name : {"resnet50", "lstm-wikitext2", "transformer-multi30k"}) {
      INFO(name << " on " << profile);
      const auto load = [&](const char* variant) {
        return make_workload(load_workload(default_library() / "workloads" / (std::string(name) + ".json"), Json{{"profile", profile}, {"variant", variant}}, default_library()));
      };
      const Workload whole = load("vanilla"), low = load("pufferfish");
      CHECK(whole.forward > 0_s);
      CHECK(whole.backward > whole.forward);
      CHECK(whole.update > 0_s);
      CHECK(whole.gradient_bytes > low.gradient_bytes);
    }
  }
}

TEST_CASE("bad shapes are faults that say what is allowed") {
  CHECK(fault_of(table_of(Linear{}, Linear{})).empty());
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {0, 0}, 1, false, {2, 2}})), ContainsSubstring("/workload/layers/1/shape/kernel: found [3, 3]; allowed: at most the padded input, [2, 2]"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {-1, 0}, 1, false, {8, 8}})), ContainsSubstring("/workload/layers/1/shape/padding"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3}, 1, {0, 0}, 1, false, {8, 8}})), ContainsSubstring("[height, width], two integers"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {1, 1}, 2, false, {8, 8}})), ContainsSubstring("a divisor of both"));
  CHECK_THAT(fault_of(table_of(Linear{}, Attention{3, 8, 4, {}})), ContainsSubstring("a divisor of the width"));
  CHECK_THAT(fault_of(table_of(Add{4}, Add{4})), ContainsSubstring("no gradient tensor"));
  WorkloadTable table = table_of(Linear{10, 10, 1, true, false}, Linear{10, 5, 1, true, false});
  table.parameters = 164;  // 10·10 + 10 + 10·5 + 5 = 165
  CHECK_THAT(fault_of(table), ContainsSubstring("164, but the layers hold 165"));
  table.parameters = 165;
  table.variant = WorkloadVariant{"low", "", Factorize{0.25, "secnd", {}, {}}};
  CHECK_THAT(fault_of(table), ContainsSubstring("did you mean \"second\"?"));
  table.variant.reset();
  table.layers[1].forward = 1_ms;
  CHECK_THAT(fault_of(table), ContainsSubstring("times beside a shape"));
  table.layers[1].shape.reset();
  CHECK_THAT(fault_of(table), ContainsSubstring("a layer without shape"));
}

TEST_CASE("a scenario names network, variant and profile, and each may be an axis") {
  const std::string scenario = R"({"name": "s", "workload": {"from": "resnet50", "variant": ["vanilla", "pufferfish"], "profile": ["v100-datasheet", "a100-datasheet"], "batch": 16},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
  const Study study = parse_study(scenario, "test", {}, default_library());
  REQUIRE(study.points.size() == 4);
  CHECK(study.axes == std::vector<std::string>{"variant", "profile"});
  CHECK(study.points[2].coordinates[0].value == "pufferfish");
  const Workload whole = make_workload(*study.points[0].scenario.workload), low = make_workload(*study.points[2].scenario.workload);
  CHECK(whole.gradients.size() == 161);
  CHECK(low.gradients.size() == 171);
  CHECK(low.batch == 16);
  // The canonical document stands for the same scenario.
  const Study again = parse_study(to_json(study.points[2].scenario).dump(), "again", {}, default_library());
  CHECK(*again.points[0].scenario.workload == *study.points[2].scenario.workload);
}

TEST_CASE("the rank ratio of a named variant is an axis") {
  const std::string scenario = R"({"name": "s", "workload": {"from": "resnet50", "variant": {"from": "pufferfish", "factorize": {"rank_ratio": [0.125, 0.25]}}, "profile": "v100-datasheet"},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
  const Study study = parse_study(scenario, "test", {}, default_library());
  REQUIRE(study.points.size() == 2);
  const auto elements = [&](std::size_t i) { return make_workload(*study.points[i].scenario.workload).gradient_bytes / 4_B; };
  CHECK(elements(1) == 15202344);
  CHECK(elements(0) < elements(1));
}

TEST_CASE("what a scenario gets wrong about a network is a fault") {
  const auto faults = [](const std::string& workload) -> std::string {
    try {
      parse_study(R"({"name": "s", "workload": )" + workload + R"(, "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})", "test", {}, default_library());
    } catch (const ScenarioError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(faults(R"("resnet50")"), ContainsSubstring("a device profile, inline or by name"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datashet"})"), ContainsSubstring("did you mean \"v100-datasheet\"?"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": "puferfish"})"), ContainsSubstring("did you mean \"pufferfish\"?"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": {"factorize": {"rank_ratio": 0}}})"), ContainsSubstring("/variant/factorize/rank_ratio: found 0"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": {"factorize": {"rank_ratio": 1.5}}})"), ContainsSubstring("found 1.5"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "titan-xp-datasheet", "dtype": "bf16"})"), ContainsSubstring("bf16 on the device \"titan-xp-datasheet\""));
  CHECK_THAT(faults(R"({"from": "vgg16-v100", "profile": "v100-datasheet"})"), ContainsSubstring("a profile for layers without shapes"));
  CHECK_THAT(faults(R"({"name": "n", "batch": 1, "profile": "v100-datasheet", "layers": [{"name": "a", "shape": {"kind": "liner", "in": 1, "out": 1}}]})"), ContainsSubstring("did you mean \"linear\"?"));
  CHECK_THAT(faults(R"({"name": "n", "batch": 1, "profile": "v100-datasheet", "layers": [{"name": "a", "shape": {"kind": "linear", "in": -3, "out": 1}}]})"), ContainsSubstring("found -3"));
}
