// Layer times from shapes and profiles: the roofline's bounds, and that more work never takes less time.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/expansion.hpp"
#include "models/workload/check_shapes.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/timing_notes.hpp"
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
  DeviceProfile profile =
      device(FlopsPerSecond(positive_between(1e12, 1e15)), BytesPerSecond(positive_between(1e11, 1e13)),
             Seconds(positive_between(1e-7, 1e-5)), positive_between(1, 64));
  profile.compute_efficiency.value = real_between(0.1, 1);
  profile.memory_efficiency.value = real_between(0.1, 1);
  return profile;
}

KernelWork random_work() {
  return {Flops(positive_between(1, 1e13)), Bytes(positive_between(1, 1e10)),
          static_cast<double>(integer_between(1, 5))};
}

/// One of every kind.
LayerShape random_shape() {
  const auto n = [](int high) { return static_cast<Count>(integer_between(1, high)); };
  const Count size = integer_between(8, 40);
  switch (integer_between(0, 15)) {
    case 0: return Conv2d{n(64), n(64), {n(7), n(7)}, n(3), {n(3), n(3)}, 1, coin(), {size, size}};
    case 1: return ConvTranspose2d{n(64), n(64), {2, 2}, 2, coin(), {size, size}};
    case 2: return Linear{n(1000), n(1000), n(100), coin(), coin()};
    case 3: return Lstm{n(300), n(300), n(40), static_cast<LstmTensors>(integer_between(0, 2)), {}, {}};
    case 4: {
      const Count kv_heads = n(3), heads = kv_heads * n(3);
      return Attention{heads, heads * n(64), n(128), {}, kv_heads, coin(), coin()};
    }
    case 5: return Embedding{n(10000), n(512), n(128), coin()};
    case 6: return BatchNorm{n(512), {size, size}, coin()};
    case 7: return LayerNorm{n(512), n(128), coin()};
    case 8: return Activation{static_cast<ActivationFunction>(integer_between(0, 5)), n(100000)};
    case 9: return Pool{PoolFunction::max, n(512), {3, 3}, 2, {1, 1}, {size, size}};
    case 10: return Add{n(100000)};
    case 11: return Multiply{n(100000)};
    case 12: return Concat{n(100000)};
    case 13: return LayerNorm{n(512), n(128), false, true};
    case 14: return Rotary{n(100000), n(100000), coin()};
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
  require_close(10e-6 + 1e-3 * std::pow(2, 0.25), roofline({Flops(5e9), 800_MB, 2}, profile, Dtype::fp32).si(), 1e-12,
                "both 1 ms: 2^(1/4) ms");
  require_close(10e-6 + 1e-3, roofline({Flops(5e9), 0_B, 2}, profile, Dtype::fp32).si(), 1e-12, "arithmetic alone");
  require_close(10e-6 + 1e-3, roofline({Flops(0), 800_MB, 2}, profile, Dtype::fp32).si(), 1e-12, "traffic alone");
  CHECK(roofline({}, profile, Dtype::fp32) == 0_s);
  CHECK_THROWS_AS(roofline({Flops(1), 1_B, 1}, profile, Dtype::fp16), ModelError);
}

TEST_CASE("the smooth roofline lies between the sharp one and 2^(1/k) times it") {
  property(
      "max(a, b) <= t - launches <= 2^(1/k) max(a, b)",
      [] {
        const DeviceProfile profile = random_device();
        const KernelWork work = random_work();
        const double a = work.flops.si() / (profile.peaks[0].rate.si() * profile.compute_efficiency.value);
        const double b = work.bytes.si() / (profile.memory_bandwidth.value.si() * profile.memory_efficiency.value);
        const double t = roofline(work, profile, Dtype::fp32).si() - work.kernels * profile.launch_overhead.value.si();
        const double slack = 1e-9 * roofline(work, profile, Dtype::fp32).si();
        RC_ASSERT(t >= std::max(a, b) - slack);
        RC_ASSERT(t <= std::max(a, b) * std::pow(2, 1 / profile.bend.value) + slack);
      },
      1000);
}

TEST_CASE("more work never takes less time, a better device never more") {
  property(
      "monotone in every argument",
      [] {
        const DeviceProfile profile = random_device();
        const KernelWork work = random_work();
        const double t = roofline(work, profile, Dtype::fp32).si() * (1 + 1e-12);
        KernelWork more = work;
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
      },
      1000);
}

TEST_CASE("a larger batch never takes less time, and less than in proportion") {
  property(
      "t(b) <= t(mb) <= m t(b) for every kind",
      [] {
        const DeviceProfile profile = random_device();
        const int batch = integer_between(1, 64), times = integer_between(1, 8);
        const WorkloadTable table = table_of(Linear{8, 8, 1, true, false}, random_shape());
        const Layer one = time_layers(table, profile, batch).layers[1],
                    many = time_layers(table, profile, batch * times).layers[1];
        RC_ASSERT(one.forward > 0_s);
        RC_ASSERT(one.backward > 0_s);
        RC_ASSERT(many.forward.si() >= one.forward.si() * (1 - 1e-12));
        RC_ASSERT(many.backward.si() >= one.backward.si() * (1 - 1e-12));
        RC_ASSERT(many.forward.si() <= times * one.forward.si() * (1 + 1e-12));
        RC_ASSERT(many.backward.si() <= times * one.backward.si() * (1 + 1e-12));
      },
      1000);
}

TEST_CASE("a convolution's work by hand") {
  // 2 -> 3 channels, 3 x 3, 8 x 8 with padding 1: 3·2·9·64 = 3456 MACs; input 128, output 192, weight 54 elements.
  const LayerWork work = work_of(Conv2d{2, 3, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, 10, Dtype::fp32);
  for (const KernelWork& part : {work.forward, work.data_gradient, work.weight_gradient}) {
    CHECK(part.flops.si() == 2 * 3456 * 10);
    CHECK(part.bytes.si() == 4 * (10 * (128 + 192) + 54));
    CHECK(part.kernels == 1);
  }
}

TEST_CASE("Winograd's gain is for 3 x 3 convolutions of stride 1 in fp32 alone") {
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  profile.winograd.value = 2.25;
  const auto gain = [&](LayerShape shape, Dtype dtype) {
    return work_of(shape, 4, dtype).weight_gradient.flops / work_on(profile, shape, 4, dtype).weight_gradient.flops;
  };
  CHECK(gain(Conv2d{4, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, Dtype::fp32) == Approx(2.25));
  CHECK(gain(Conv2d{4, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}, Dtype::fp16) == 1);
  CHECK(gain(Conv2d{4, 4, {3, 3}, 2, {1, 1}, 1, false, {8, 8}}, Dtype::fp32) == 1);
  CHECK(gain(Conv2d{4, 4, {5, 5}, 1, {2, 2}, 1, false, {8, 8}}, Dtype::fp32) == 1);
  CHECK(gain(Linear{4, 4, 1, true, false}, Dtype::fp32) == 1);
}

TEST_CASE("the V100's datasheet profile is near V100 measurements") {
  // Measured, batch 32, fp32: backward 63.533 ms for ResNet-50 and 85.31 ms for VGG-16 (the tables resnet50-v100 and
  // vgg16-v100, Espresso). A datasheet and assumed efficiencies cannot do better than a rough figure: within 35 %.
  for (const char* name : {"resnet50", "vgg16"}) {
    const WorkloadTable table = load_workload(default_library() / "workloads" / (std::string(name) + ".json"),
                                              Json{{"profile", "v100-datasheet"}, {"batch", 32}}, default_library());
    const WorkloadTable measured = load_workload(default_library() / "workloads" / (std::string(name) + "-v100.json"),
                                                 Json::object(), default_library());
    require_close(make_workload(measured).backward, make_workload(table).backward, 0.35,
                  std::string(name) + " backward");
  }
}

TEST_CASE("the update reads and writes its optimizer's state") {
  // fp32: gradient 4, weight read and write 8, each state 8. fp16: gradient 2, and a copy of the weight 2.
  CHECK(update_work(1000, 3, Optimizer::sgd, Dtype::fp32).bytes == 12_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp32).bytes == 20_kB);
  CHECK(update_work(1000, 3, Optimizer::adam, Dtype::fp32).bytes == 28_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp16).bytes == 20_kB);
  CHECK(update_work(1000, 3, Optimizer::momentum, Dtype::fp32).kernels == 3);
}

TEST_CASE("an update that the profile lists is priced tensor by tensor, others by the roofline") {
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  WorkloadTable table = table_of(Linear{100, 200, 1, false, false}, Linear{200, 300, 1, true, false});
  const Seconds by_roofline = time_layers(table, profile, 1).update;
  profile.kernels = {{"adam-update/fp32", 1_s, 1_GBps, {}, Evidence::measured, "test"},
                     {"sgd_momentum-update/bf16", 1_s, 1_GBps, {}, Evidence::measured, "test"}};
  CHECK(time_layers(table, profile, 1).update == by_roofline);  // another optimizer, another type
  profile.kernels.push_back(
      {"sgd_momentum-update/fp32", 2_us, 50_GBps, {}, Evidence::measured, "test", {{100_kB, 6_us}}});
  // An element has 20 bytes. The 20,000 elements are 400 kB: 6 us, and 300 kB at 50 GB/s. The 300 are 6 kB: 2 us, and
  // 6/100 of the 4 us to the knot. The 60,000 are 1.2 MB: 6 us, and 1.1 MB at 50 GB/s.
  require_close(12_us + 2.24_us + 28_us, time_layers(table, profile, 1).update, 1e-12, "update");
  table.dtype = Dtype::tf32;
  profile.peaks.push_back({Dtype::tf32, 1_TFLOPS, Evidence::assumed, "test"});
  require_close(42.24_us, time_layers(table, profile, 1).update, 1e-12, "tf32 is fp32 in memory");
  // 6 operations an element at a peak of 1 GFLOPS of its own: 481.8 us for 80,300, added.
  profile.kernels.back().peak = FlopsPerSecond(1e9);
  require_close(42.24_us + 481.8_us, time_layers(table, profile, 1).update, 1e-12, "with arithmetic");
  // At the device's 1 GFLOPS instead, arithmetic takes longer than the bytes: three launches, and those 481.8 us.
  profile.kernels.back().peak.reset();
  profile.peaks[0].rate = FlopsPerSecond(1e9);
  require_close(3 * 2_us + 481.8_us, time_layers(table, profile, 1).update, 1e-12, "bound by the device's arithmetic");
}

TEST_CASE("a fused update is one kernel over all tensors") {
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  WorkloadTable table = table_of(Linear{100, 200, 1, false, false}, Linear{200, 300, 1, true, false});
  table.fused_update = true;
  // 20 bytes for each of 20,000 + 60,300 elements at 100 GB/s, and 6 operations at 1 TFLOPS, with a bend of 4 between
  // them. There is one launch instead of three.
  require_close(1_us + 1_us * std::pow(std::pow(16.06, 4) + std::pow(0.4818, 4), 0.25),
                time_layers(table, profile, 1).update, 1e-12, "by the roofline");
  profile.kernels = {{"sgd_momentum-update/fp32", 2_us, 50_GBps, {}, Evidence::measured, "test", {{100_kB, 6_us}}}};
  // 1.606 MB: 6 us and 1.506 MB at 50 GB/s.
  require_close(6_us + 30.12_us, time_layers(table, profile, 1).update, 1e-12, "by the entry");
  // The measurement of the whole network was with such an update.
  table.measured = MeasuredTimes{{}, {}, 100_us, table.optimizer, 1, Dtype::fp32, profile};
  require_close(100_us, time_layers(table, profile, 1).update, 1e-12, "as measured");
  // A whole step was measured, its update among the passes: none is added, whatever the optimizer.
  table.measured = MeasuredTimes{100_us, {}, 0_s, {}, 1, Dtype::fp32, profile};
  std::vector<Fault> faults;
  check_shapes(table, "", faults);
  CHECK(faults.empty());
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
    table.optimizer = optimizer;
    CHECK(time_layers(table, profile, 1).update == 0_s);
  }
}

TEST_CASE("measured times of the whole are divided as the profile forecasts") {
  const DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4), faster = device(4_TFLOPS, 100_GBps, 1_us, 4);
  WorkloadTable table = table_of(Linear{100, 200, 1, false, false}, Linear{200, 300, 1, true, false});
  table.layers.emplace_back().name = "relu";
  table.layers.back().shape = Activation{ActivationFunction::relu, 300};
  const auto forward_of = [&](const WorkloadTable& of, const DeviceProfile& by, int batch) {
    Seconds sum{};
    for (const Layer& layer : time_layers(of, by, batch).layers) sum += layer.forward;
    return sum;
  };
  const WorkloadTable said = time_layers(table, profile, 8);
  WorkloadTable measured = table;
  measured.measured = MeasuredTimes{
      forward_of(table, profile, 8) * 3.0, {}, said.update * 0.5, table.optimizer, 8, Dtype::fp32, profile};

  // Where it was measured: 3 times the forecast of each layer's forward pass, and half of the update's. The backward
  // pass is not known.
  const WorkloadTable there = time_layers(measured, profile, 8);
  for (std::size_t i = 0; i < there.layers.size(); ++i) {
    require_close(said.layers[i].forward * 3.0, there.layers[i].forward, 1e-12, "forward");
    CHECK(there.layers[i].backward == said.layers[i].backward);
  }
  require_close(said.update * 0.5, there.update, 1e-12, "update");
  WorkloadTable adam = table, measured_adam = measured;
  adam.optimizer = measured_adam.optimizer = Optimizer::adam;
  require_close(time_layers(adam, profile, 8).update * 0.5, time_layers(measured_adam, profile, 8).update, 1e-12,
                "another optimizer");
  // With other samples, on another device and in a variant, times are 3 times those of the profile.
  require_close(forward_of(table, profile, 16) * 3.0, forward_of(measured, profile, 16), 1e-12, "batch");
  require_close(forward_of(table, faster, 8) * 3.0, forward_of(measured, faster, 8), 1e-12, "device");
  WorkloadTable thin = table, measured_thin = measured;
  thin.variant = measured_thin.variant = WorkloadVariant{"thin", "", Factorize{0.25, "", {}, {}}};
  require_close(forward_of(thin, profile, 8) * 3.0, forward_of(measured_thin, profile, 8), 1e-12, "variant");
  // Computing a block again adds its corrected forward, which the measurement does not contain.
  for (WorkloadTable* one : {&table, &measured}) {
    one->layers[0].name = "block.0.a";
    one->layers[1].name = "block.0.b";
  }
  WorkloadTable again = measured;
  again.recomputation = Recomputation::blocks;
  const WorkloadTable kept = time_layers(measured, profile, 8), computed = time_layers(again, profile, 8);
  require_close(kept.layers[1].backward + kept.layers[0].forward + kept.layers[1].forward, computed.layers[1].backward,
                1e-12, "recomputed");
}

TEST_CASE("the first layer has no data gradient, and the timed table is the workload's") {
  const DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  WorkloadTable table = table_of(Linear{100, 200, 1, false, false}, Linear{200, 300, 1, true, false});
  table.batch = 7;
  const WorkloadTable timed = time_layers(table, profile, 7);
  const LayerWork first = work_of(*table.layers[0].shape, 7, Dtype::fp32),
                  second = work_of(*table.layers[1].shape, 7, Dtype::fp32);
  CHECK(timed.layers[0].backward == roofline(first.weight_gradient, profile, Dtype::fp32));
  CHECK(timed.layers[1].backward ==
        roofline(second.weight_gradient, profile, Dtype::fp32) + roofline(second.data_gradient, profile, Dtype::fp32));
  CHECK(timed.update ==
        roofline(update_work(20000 + 60300, 3, Optimizer::momentum, Dtype::fp32), profile, Dtype::fp32));
  table.profile = profile;
  const Workload a = make_workload(table), b = make_workload(timed);
  CHECK(a.compute() == b.compute());
  CHECK(a.gradients.size() == 3);
  CHECK(a.gradients.back().gap == timed.layers[0].backward);
}

TEST_CASE("a measured entry is used where work, batch and type are its own, the roofline elsewhere") {
  const LayerShape shape = Linear{200, 300, 1, true, false};
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  profile.peaks.push_back({Dtype::fp16, 2_TFLOPS, Evidence::assumed, "test"});
  profile.layers = {{Linear{7, 7, 1, true, false}, 8, Dtype::fp32, 9_s, 9_s, 9_s, Evidence::measured, "test"},
                    {shape, 8, Dtype::fp32, 3_ms, 5_ms, {}, Evidence::measured, "test"}};
  const LayerWork work = work_of(shape, 8, Dtype::fp32);
  const LayerTimes times = times_of(profile, shape, 8, Dtype::fp32);
  CHECK(times.forward == 3_ms);
  CHECK(times.data_gradient == 5_ms);
  CHECK(times.weight_gradient == roofline(work.weight_gradient, profile, Dtype::fp32));  // the entry does not have it
  CHECK(times_of(profile, Linear{200, 300, 1, true, true}, 8, Dtype::fp32).forward == 3_ms);  // tied: the same kernels
  const auto by_roofline = [&](const LayerShape& other, int batch, Dtype dtype) {
    return times_of(profile, other, batch, dtype).forward ==
           roofline(work_on(profile, other, batch, dtype).forward, profile, dtype);
  };
  CHECK(by_roofline(shape, 9, Dtype::fp32));
  CHECK(by_roofline(shape, 8, Dtype::fp16));
  CHECK(by_roofline(Linear{200, 301, 1, true, false}, 8, Dtype::fp32));
  CHECK(by_roofline(Linear{200, 300, 1, false, false}, 8, Dtype::fp32));

  // In a table: backward is both gradients, but for the first layer.
  const WorkloadTable second = time_layers(table_of(Linear{100, 200, 1, true, false}, shape), profile, 8),
                      first = time_layers(table_of(shape, Linear{300, 100, 1, true, false}), profile, 8);
  CHECK(second.layers[1].forward == 3_ms);
  CHECK(second.layers[1].backward == times.weight_gradient + 5_ms);
  CHECK(first.layers[0].backward == times.weight_gradient);
}

TEST_CASE("layers do the same work when no kernel of theirs differs") {
  CHECK(same_work(Linear{4, 5, 6, true, false}, Linear{4, 5, 6, true, true}));
  CHECK(same_work(BatchNorm{4, {8, 8}, true}, BatchNorm{4, {8, 8}, false}));
  CHECK(same_work(Attention{2, 8, 16, {}}, Attention{2, 8, 16, 16}));
  CHECK_FALSE(same_work(Attention{2, 8, 16, {}}, Attention{2, 8, 16, 17}));
  CHECK(same_work(Attention{2, 8, 16, {}}, Attention{2, 8, 16, {}, 2}));
  CHECK_FALSE(same_work(Attention{2, 8, 16, {}}, Attention{2, 8, 16, {}, 1}));
  CHECK(same_work(Attention{2, 8, 16, {}, {}, false, true}, Attention{2, 8, 16, {}, {}, false, false}));
  CHECK_FALSE(same_work(Attention{2, 8, 16, {}, {}, true, true}, Attention{2, 8, 16, {}, {}, true, false}));
  CHECK_FALSE(same_work(Attention{2, 8, 16, {}, {}, true}, Attention{2, 8, 16, {}}));
  CHECK(same_work(LayerNorm{8, 4, true}, LayerNorm{8, 4, false}));
  CHECK_FALSE(same_work(Lstm{4, 4, 4, LstmTensors::gates, {}, {}}, Lstm{4, 4, 4, LstmTensors::fused, {}, {}}));
  CHECK_FALSE(same_work(Activation{ActivationFunction::relu, 8}, Activation{ActivationFunction::gelu, 8}));
  CHECK_FALSE(same_work(Add{8}, Multiply{8}));
  property("and then their work is equal", [] {
    const LayerShape a = random_shape(), b = random_shape();
    if (same_work(a, b))
      RC_ASSERT(work_of(a, 3, Dtype::fp32).forward.bytes == work_of(b, 3, Dtype::fp32).forward.bytes);
    RC_ASSERT(same_work(a, a));
  });
}

TEST_CASE("fused attention keeps no scores, and makes five products backward") {
  // 4 heads of 8, 2 of keys and values, 16 positions, 3 samples. 4·16² = 1024 scores have 8 multiply-accumulates,
  // twice: 16384. q, o and their gradients have 16·32 = 512 elements, k, v and theirs 16·2·8 = 256. A statistic has
  // 4·16 = 64 numbers of 4 bytes.
  const Attention whole{4, 32, 16, {}, 2, true, false}, causal{4, 32, 16, {}, 2, true, true};
  const LayerWork work = work_of(whole, 3, Dtype::bf16);
  CHECK(attention_macs(whole) == 16384);
  CHECK(work.forward.flops == Flops(3 * (2 * 16384 + 6 * 1024.0)));
  CHECK(work.forward.bytes == Bytes(3 * (2 * (512 + 2 * 256 + 512) + 4 * 64.0)));
  CHECK(work.forward.kernels == 1);
  // Five products of 8192 multiply-accumulates; 6 operations a score, 2 an element of o. Reads o and do, writes a
  // statistic; reads q, k, v, do and two statistics, writes dq, dk, dv.
  CHECK(work.data_gradient.flops == Flops(3 * (5 * 16384 + 6 * 1024 + 2 * 512.0)));
  CHECK(work.data_gradient.bytes == Bytes(3 * (2 * (2 * 512 + 512 + 2 * 256 + 512 + 512 + 2 * 256) + 3 * 4 * 64.0)));
  CHECK(work.weight_gradient.kernels == 0);
  // Half of the scores; bytes read and written stay.
  const LayerWork half = work_of(causal, 3, Dtype::bf16);
  CHECK(attention_macs(causal) == 8192);
  CHECK(half.forward.flops == work.forward.flops * 0.5);
  CHECK(half.data_gradient.flops == Flops(3 * (5 * 8192 + 6 * 512 + 2 * 512.0)));
  CHECK(half.forward.bytes == work.forward.bytes);
  // With scores in memory, keys and values alone are fewer: forward 2·256 + 2·512 + 4·1024 elements.
  CHECK(work_of(Attention{4, 32, 16, {}, 2}, 3, Dtype::bf16).forward.bytes ==
        Bytes(3 * 2 * (2 * 256 + 2 * 512 + 4 * 1024.0)));
}

TEST_CASE("fused attention reaches a share of the peak of its own") {
  // 1 TFLOPS and memory that takes no time: arithmetic alone. Half of the peak, a fifth for fused attention.
  DeviceProfile profile = device(1_TFLOPS, BytesPerSecond(1e30), 0_s, 64);
  profile.compute_efficiency.value = 0.5;
  const Attention fused{4, 32, 16, {}, {}, true}, in_memory{4, 32, 16};
  const auto forward = [&](const LayerShape& shape) { return times_of(profile, shape, 2, Dtype::fp32).forward.si(); };
  // 2 samples of 16,384 multiply-accumulates, and 6 operations of each of 1024 scores: 77,824.
  require_close(77824 / 0.5e12, forward(fused), 1e-12, "no share of its own");
  const double before = forward(in_memory);
  profile.attention_efficiency = ProfileShare{0.2, Evidence::assumed, "test"};
  require_close(77824 / 0.2e12, forward(fused), 1e-12, "a fifth");
  CHECK(forward(in_memory) == before);
  CHECK(efficiency_of(profile, Linear{3, 4}) == 0.5);
}

TEST_CASE("an RMSNorm of simple operations reads and writes its rows many times") {
  // 3 samples of 5 rows of 7: 105 elements. Forward in bf16: casts of 2 + 4 bytes there and back. Squares read and
  // write 8, their mean reads 4. The product with its root takes 8, that with the weights 2 + 2.
  const LayerNorm norm{7, 5, false, true};
  const LayerWork halves = work_of(norm, 3, Dtype::bf16);
  CHECK(halves.forward.bytes == Bytes(105 * (6 + 8 + 4 + 8 + 6 + 4.0)));
  CHECK(halves.forward.kernels == 8);  // and eps and the root, of a number a row
  // Backward: g·w 4; cast 6; for x g·r 8; for r g·x 12 and its sum 4. The mean's gradient spread takes 4. For the
  // square, x to the power 1 takes 8, times 2 8, times that 12. The sum of both takes 12, the cast 6. For w, g·x̂ takes
  // 6 and its sum 2.
  CHECK(halves.data_gradient.bytes == Bytes(105 * (4 + 6 + 8 + 12 + 4 + 4 + 8 + 8 + 12 + 12 + 6.0)));
  CHECK(halves.weight_gradient.bytes == Bytes(105 * 8.0));
  // In fp32 nothing is cast.
  const LayerWork whole = work_of(norm, 3, Dtype::fp32);
  CHECK(whole.forward.bytes == Bytes(105 * (8 + 4 + 8 + 8.0)));
  CHECK(whole.forward.kernels == 6);
  CHECK(whole.data_gradient.bytes == Bytes(105 * (8 + 8 + 12 + 4 + 4 + 8 + 8 + 12 + 12.0)));
  CHECK(whole.data_gradient.kernels == halves.data_gradient.kernels - 2);
}

TEST_CASE("rotary positions turn queries and keys, in one kernel or in many") {
  // 2 samples of 10 elements: read and written once, by one kernel each way; by simple operations forward 10 times and
  // backward 15.
  const LayerWork fused = work_of(Rotary{10, 4, false}, 2, Dtype::bf16),
                  composed = work_of(Rotary{10, 4, true}, 2, Dtype::bf16);
  CHECK(fused.forward.bytes == 2_B * 40.0);
  CHECK(fused.data_gradient.bytes == 2_B * 40.0);
  CHECK(composed.forward.bytes == 2_B * 200.0);
  CHECK(composed.data_gradient.bytes == 2_B * 300.0);
  CHECK(output_elements(Rotary{10, 4, false}) == 14);
  CHECK_FALSE(same_work(Rotary{10, 4, false}, Rotary{10, 4, true}));
}

TEST_CASE("GELU is one kernel, or eight forward and eleven backward") {
  // 2 samples of 10 elements. One kernel reads x and writes y. Simple operations have one input each but for three sums
  // and products of two: forward 2 + 2 + 3 + 2 + 2 + 2 + 2 + 3 = 18 times. Backward they have 6 for both factors, 3 for
  // tanh, 6 for three constants, 7 for the cube and 6 for two sums: 28.
  const LayerWork one = work_of(Activation{ActivationFunction::gelu, 10}, 2, Dtype::bf16),
                  many = work_of(Activation{ActivationFunction::gelu, 10, true}, 2, Dtype::bf16);
  CHECK(one.forward.bytes == 2_B * 40.0);
  CHECK(many.forward.bytes == 2_B * 360.0);
  CHECK(many.forward.kernels == 8);
  CHECK(many.data_gradient.bytes == 2_B * 560.0);
  CHECK(many.data_gradient.kernels == 11);
  CHECK_FALSE(same_work(Activation{ActivationFunction::gelu, 10}, Activation{ActivationFunction::gelu, 10, true}));
}

TEST_CASE("a variant fuses attention, and makes GELUs, norms without bias and rotary positions simple operations") {
  WorkloadTable table;
  const std::vector<LayerShape> shapes{Attention{2, 8, 3},
                                       Activation{ActivationFunction::dropout, 18},  // of 2 x 3 x 3 scores
                                       Activation{ActivationFunction::dropout, 24},  // of the output
                                       LayerNorm{8, 3, false},
                                       LayerNorm{8, 3, true},
                                       Activation{ActivationFunction::gelu, 24},
                                       Rotary{16, 8}};
  for (const LayerShape& shape : shapes)
    table.layers.push_back({fmt::format("l{}", table.layers.size()), {}, {}, {}, shape});
  table.variant = WorkloadVariant{"", "", {}, true, true};
  const std::vector<Layer> layers = list_gradients(table).layers;
  REQUIRE(layers.size() == 6);
  CHECK(*layers[0].shape == LayerShape(Attention{2, 8, 3, {}, {}, true}));
  CHECK(*layers[1].shape == shapes[2]);
  CHECK(*layers[2].shape == LayerShape(LayerNorm{8, 3, false, true}));
  CHECK(*layers[3].shape == shapes[4]);
  CHECK(*layers[4].shape == LayerShape(Activation{ActivationFunction::gelu, 24, true}));
  CHECK(*layers[5].shape == LayerShape(Rotary{16, 8, true}));
  table.variant->fused_attention = table.variant->composed = false;
  CHECK(list_gradients(table).layers.size() == shapes.size());
}

TEST_CASE("mixed precision takes the narrow type's times, the wide type's update and gradients") {
  const auto load = [](const char* dtype, const Json& compute) {
    return load_workload(default_library() / "workloads" / "llama-2-7b.json",
                         Json{{"profile", "h100-datasheet"}, {"dtype", dtype}, {"compute_dtype", compute}},
                         default_library());
  };
  const Workload wide = make_workload(load("fp32", nullptr)), narrow = make_workload(load("bf16", "bf16")),
                 mixed = make_workload(load("fp32", "bf16"));
  CHECK(mixed.forward == narrow.forward);
  CHECK(mixed.backward == narrow.backward);
  CHECK(mixed.forward < wide.forward);
  CHECK(mixed.update == wide.update);
  CHECK(mixed.gradient_bytes == 4_B * 6738415616.0);
  // Entries of a profile are those of the narrow type, and so are its notes.
  WorkloadTable table = table_of(Linear{100, 200, 1, true, false}, Linear{200, 300, 1, true, false});
  table.compute_dtype = Dtype::bf16;
  DeviceProfile profile = device(10_TFLOPS, 100_GBps, 5_us, 4);
  CHECK_THAT(
      [&] {
        table.profile = profile;
        return fault_of(table);
      }(),
      ContainsSubstring("/workload/compute_dtype: found bf16 on the device \"device\"; allowed: fp32"));
  profile.peaks.push_back({Dtype::bf16, 20_TFLOPS, Evidence::measured, "test"});
  profile.layers = {{*table.layers[1].shape, 1, Dtype::fp32, 1_ms, 1_ms, 1_ms, Evidence::measured, "test"},
                    {*table.layers[1].shape, 1, Dtype::bf16, 2_ms, 3_ms, 4_ms, Evidence::measured, "test"}};
  CHECK(time_layers(table, profile, 1).layers[1].forward == 2_ms);
  CHECK(time_layers(table, profile, 1).layers[1].backward == 7_ms);
  profile.kernels = {{"sgd_momentum-update/bf16", 1_us, 1_GBps, {}, Evidence::measured, "test"},
                     {"sgd_momentum-update/fp32", 1_us, 1_GBps, {}, Evidence::measured, "test"}};
  CHECK(update_of(list_gradients(table), profile).entry == &profile.kernels[1]);
  table.profile = profile;
  CHECK(fault_of(table).empty());
  table.dtype = Dtype::bf16;
  table.compute_dtype = Dtype::fp32;
  CHECK_THAT(
      fault_of(table),
      ContainsSubstring(
          "/workload/compute_dtype: found fp32 beside a dtype of bf16; allowed: a type at most as wide as dtype"));
  // A narrow type alone is mixed precision, too.
  const Workload alone = make_workload(load("bf16", nullptr));
  CHECK(alone.forward == mixed.forward);
  CHECK(alone.update == mixed.update);
  CHECK(alone.gradient_bytes == mixed.gradient_bytes);
}

TEST_CASE("layers beyond the fitted range are named, each once, and only where the roofline prices them") {
  // Without bias, one kernel a part: 2·in·out·batch operations; in fp32 4(in + out)·batch + 4·in·out bytes.
  //   small   8 -> 8, batch 1:        128 flops,       320 bytes, below the range
  //   middle  100 -> 200:          40,000 flops,    81,200 bytes, inside
  //   large   3000 -> 3000:    18,000,000 flops, 36,024,000 bytes, above
  WorkloadTable table = table_of(Linear{8, 8, 1, false, false}, Linear{100, 200, 1, false, false});
  table.layers[0].name = "small";
  table.layers[1].name = "middle";
  table.layers.push_back({"large", {}, {}, {}, Linear{3000, 3000, 1, false, false}});
  DeviceProfile profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  const auto beyond = [&] { return extrapolated_layers(table, profile, 1); };
  CHECK(beyond().empty());  // nothing was fitted
  // The update: 20 bytes and 6 operations of each of 64 + 20,000 + 9,000,000 elements in three kernels, 60 MB each.
  profile.range = {{Dtype::fp32, {Flops(1000), Flops(1e8)}, {1_kB, 1_GB}}};
  CHECK(beyond() == std::vector<std::string>{"small"});
  profile.range[0].bytes.max = 50_MB;
  CHECK(beyond() == std::vector<std::string>{"small", "update"});
  profile.range[0] = {Dtype::fp32, {Flops(0), Flops(1e7)}, {0_B, 1_GB}};
  CHECK(beyond() == std::vector<std::string>{"large", "update"});  // 18 million operations each
  profile.range[0].flops = {Flops(40000), Flops(1e9)};
  CHECK(beyond() == std::vector<std::string>{"small"});  // the ends belong to the range
  profile.range[0].flops = {Flops(40001), Flops(1e9)};
  CHECK(beyond() == std::vector<std::string>{"small", "middle"});

  // The first layer's data gradient is never computed, so its time need not be known.
  profile.layers = {{*table.layers[0].shape, 1, Dtype::fp32, 1_us, {}, 1_us, Evidence::measured, "test"}};
  CHECK(beyond() == std::vector<std::string>{"middle"});
  profile.layers.push_back({*table.layers[1].shape, 1, Dtype::fp32, 1_us, {}, 1_us, Evidence::measured, "test"});
  CHECK(beyond() == std::vector<std::string>{"middle"});  // here it is
  profile.layers[1].data_gradient = 1_us;
  CHECK(beyond().empty());

  profile.range[0].dtype = Dtype::fp16;
  CHECK(beyond() == std::vector<std::string>{"large", "update"});  // no range for fp32: all that has no entry

  // The update's own entry, by its own range: tensors of 1280 B, 400 kB and 180 MB.
  profile.kernels = {{"sgd_momentum-update/fp32", 1_us, 1_GBps, {}, Evidence::measured, "test"}};
  CHECK(beyond() == std::vector<std::string>{"large"});  // no range: not known
  const auto fitted_from = [&](Bytes least, Bytes most) {
    profile.kernels[0].range = BytesRange{least, most};
    return beyond();
  };
  CHECK(fitted_from(1280_B, 180_MB) == std::vector<std::string>{"large"});
  CHECK(fitted_from(1281_B, 180_MB) == std::vector<std::string>{"large", "update"});
  CHECK(fitted_from(1280_B, 179_MB) == std::vector<std::string>{"large", "update"});
  profile.range.clear();
  CHECK(beyond() == std::vector<std::string>{"update"});  // an entry's range holds without one of the roofline
}

TEST_CASE("a fitted range belongs to one kernel, and several alike multiply it") {
  const DeviceProfile profile = [] {
    DeviceProfile p = device(1_TFLOPS, 100_GBps, 1_us, 4);
    p.range = {{Dtype::fp32, {Flops(100), Flops(200)}, {1_kB, 2_kB}}};
    return p;
  }();
  CHECK(covers(profile, {Flops(150), 1500_B, 1}, Dtype::fp32));
  CHECK(covers(profile, {Flops(1500), 15_kB, 10}, Dtype::fp32));
  CHECK_FALSE(covers(profile, {Flops(1500), 15_kB, 1}, Dtype::fp32));
  CHECK_FALSE(covers(profile, {Flops(150), 1500_B, 2}, Dtype::fp32));
  CHECK(covers(profile, {}, Dtype::fp32));  // no kernel, no time
  property("because the roofline of n alike kernels is n times that of one", [&] {
    KernelWork one = random_work();
    one.kernels = 1;
    const int n = integer_between(1, 1000);
    assert_close(roofline(one, profile, Dtype::fp32).si() * n,
                 roofline({one.flops * n, one.bytes * n, one.kernels * n}, profile, Dtype::fp32).si(), 1e-12,
                 "n kernels");
  });
}

TEST_CASE("notes name unmeasured parts, and a few of the extrapolated layers") {
  const auto notes = [](const WorkloadTable& table) {
    std::string text;
    for (const std::string& note : texts_of(timing_notes(table))) text += note + "\n";
    return text;
  };
  WorkloadTable table = load_workload(default_library() / "workloads" / "resnet50.json",
                                      Json{{"profile", "v100-datasheet"}, {"batch", 32}}, default_library());
  CHECK(
      notes(table) ==
      "layer times in fp32 follow from the profile \"v100-datasheet\", not measured: peak, memory bandwidth datasheet; "
      "launch overhead, compute efficiency, memory efficiency, bend, Winograd's gain assumed\n");
  table.profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  for (Evidence* evidence : {&table.profile->peaks[0].evidence, &table.profile->memory_bandwidth.evidence,
                             &table.profile->launch_overhead.evidence, &table.profile->compute_efficiency.evidence,
                             &table.profile->memory_efficiency.evidence, &table.profile->bend.evidence})
    *evidence = Evidence::measured;
  CHECK(notes(table).empty());
  // No range for fp32: all 175 layers (53 convolutions and norms, 49 activations, 16 sums, 2 pools, 1 linear, 1 loss)
  // and the update.
  table.profile->range = {{Dtype::fp16, {Flops(0), Flops(1)}, {0_B, 1_B}}};
  REQUIRE(table.layers.size() == 175);
  CHECK(
      notes(table) ==
      "176 times are extrapolated beyond the kernels that the profile \"device\" was fitted on: conv1, bn1, relu and 173 more\n");
  table.profile->range.clear();
  table.profile->memory_bandwidth.evidence = Evidence::assumed;
  CHECK(notes(table) ==
        "layer times in fp32 follow from the profile \"device\", not measured: memory bandwidth assumed\n");
  // With an entry for everything the constants price nothing.
  for (const Layer& layer : table.layers)
    if (find_entry(*table.profile, *layer.shape, 32, Dtype::fp32) == nullptr)
      table.profile->layers.push_back({*layer.shape, 32, Dtype::fp32, 1_us, 1_us, 1_us, Evidence::measured, "test"});
  // But the update: 25,557,032 parameters of 20 B at 100 GB/s and 161 launches, 5.27 ms, beside 175 layers of 3 us.
  CHECK(notes(table) ==
        "layer times in fp32 follow from the profile \"device\", not measured: memory bandwidth assumed\n"
        "91 % of forward, backward and update has no entry in the profile \"device\" but follows from the roofline, "
        "whose own error is unknown: an error band leaves it out\n");
  table.profile->kernels = {{"sgd_momentum-update/fp32", 1_us, 1_GBps, {}, Evidence::measured, "test"}};
  CHECK(notes(table).empty());
  // But an entry may be no measurement either.
  table.profile->kernels[0].evidence = Evidence::transferred;
  CHECK(notes(table) ==
        "1 time is from entries of the profile \"device\" that are transferred, not measured: update\n");
  for (LayerEntry& entry : table.profile->layers) entry.evidence = Evidence::transferred;
  CHECK(
      notes(table) ==
      "176 times are from entries of the profile \"device\" that are transferred, not measured: conv1, bn1, relu and 173 more\n");
  table.profile.reset();
  CHECK(notes(table).empty());
  CHECK(timing_notes(
            load_workload(default_library() / "workloads" / "resnet50-v100.json", Json::object(), default_library()))
            .empty());
}

TEST_CASE("impossible and double entries of a profile are faults") {
  WorkloadTable table = table_of(Linear{}, Linear{});
  table.profile = device(1_TFLOPS, 100_GBps, 1_us, 4);
  const auto with = [&](auto change) {
    WorkloadTable changed = table;
    change(*changed.profile);
    return fault_of(changed);
  };
  const LayerEntry entry{Linear{8, 8, 1, true, false}, 1, Dtype::fp32, 1_us, {}, {}, Evidence::measured, "test"};
  CHECK(with([&](DeviceProfile& p) { p.layers = {entry}; }).empty());
  CHECK_THAT(
      with([&](DeviceProfile& p) {
        p.layers = {entry, {Linear{8, 8, 1, true, true}, 1, Dtype::fp32, 2_us, {}, {}, Evidence::measured, "test"}};
      }),
      ContainsSubstring("/workload/profile/layers/1: found the work, batch and type of layers/0 a second time"));
  CHECK_THAT(with([&](DeviceProfile& p) {
               p.layers = {{Linear{}, 1, Dtype::fp32, {}, {}, {}, Evidence::measured, "test"}};
             }),
             ContainsSubstring("/workload/profile/layers/0: found an entry without a time"));
  CHECK_THAT(with([&](DeviceProfile& p) {
               p.layers = {{Attention{3, 8, 4, {}}, 1, Dtype::fp32, 1_us, {}, {}, Evidence::measured, "test"}};
             }),
             ContainsSubstring("/workload/profile/layers/0/shape/heads"));
  CHECK_THAT(with([&](DeviceProfile& p) {
               p.range = {{Dtype::fp32, {Flops(2), Flops(1)}, {0_B, 1_B}}};
             }),
             ContainsSubstring("/workload/profile/range/0/flops/min: found"));
  CHECK_THAT(with([&](DeviceProfile& p) {
               p.range = {{Dtype::fp32, {Flops(1), Flops(1)}, {2_B, 1_B}}};
             }),
             ContainsSubstring("/workload/profile/range/0/bytes/min: found"));
  CHECK_THAT(with([&](DeviceProfile& p) { p.range.resize(2); }),
             ContainsSubstring("/workload/profile/range/1/dtype: found fp32 a second time"));
  CHECK_THAT(with([&](DeviceProfile& p) { p.roofline_spread.resize(2); }),
             ContainsSubstring("/workload/profile/roofline_spread/1/dtype: found fp32 a second time"));
  CHECK_THAT(with([&](DeviceProfile& p) {
               p.kernels = {{"cast", 1_us, 1_GBps, {}, Evidence::measured, "test"},
                            {"cast", 1_us, 1_GBps, {}, Evidence::measured, "test"}};
             }),
             ContainsSubstring("/workload/profile/kernels/1/name: found \"cast\" a second time"));
}

TEST_CASE("every shipped profile times every shipped network") {
  for (const char* profile :
       {"v100-datasheet", "p100-datasheet", "titan-xp-datasheet", "a100-datasheet", "h100-datasheet"}) {
    for (const char* name : {"resnet50", "lstm-wikitext2", "transformer-multi30k"}) {
      INFO(name << " on " << profile);
      const auto load = [&](const char* variant) {
        return make_workload(load_workload(default_library() / "workloads" / (std::string(name) + ".json"),
                                           Json{{"profile", profile}, {"variant", variant}}, default_library()));
      };
      const Workload whole = load("vanilla"), low = load("pufferfish");
      CHECK(whole.forward > 0_s);
      CHECK(whole.backward > whole.forward);
      CHECK(whole.update > 0_s);
      CHECK(whole.gradient_bytes > low.gradient_bytes);
    }
  }
}

TEST_CASE("bad shapes are faults with the allowed values") {
  CHECK(fault_of(table_of(Linear{}, Linear{})).empty());
  CHECK_THAT(
      fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {0, 0}, 1, false, {2, 2}})),
      ContainsSubstring("/workload/layers/1/shape/kernel: found [3, 3]; allowed: at most the padded input, [2, 2]"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {-1, 0}, 1, false, {8, 8}})),
             ContainsSubstring("/workload/layers/1/shape/padding"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3}, 1, {0, 0}, 1, false, {8, 8}})),
             ContainsSubstring("[height, width], two integers"));
  CHECK_THAT(fault_of(table_of(Linear{}, Conv2d{3, 8, {3, 3}, 1, {1, 1}, 2, false, {8, 8}})),
             ContainsSubstring("a divisor of both"));
  CHECK_THAT(fault_of(table_of(Linear{}, Attention{3, 8, 4, {}})), ContainsSubstring("a divisor of the width"));
  CHECK_THAT(
      fault_of(table_of(Linear{}, Attention{4, 8, 4, {}, 3})),
      ContainsSubstring("/shape/kv_heads: found 3 heads of keys and values for 4 heads; allowed: a divisor of heads"));
  CHECK_THAT(fault_of(table_of(Linear{}, Attention{4, 8, 4, 5, {}, true, true})),
             ContainsSubstring("/shape/causal: found 4 query and 5 key positions"));
  CHECK(fault_of(table_of(Linear{}, Attention{4, 8, 4, 5, {}, false, true})).empty());
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
  const std::string scenario =
      R"({"name": "s", "workload": {"from": "resnet50", "variant": ["vanilla", "pufferfish"], "profile": ["v100-datasheet", "a100-datasheet"], "batch": 16},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
  const Study study = parse_study(scenario, "test", {}, default_library());
  REQUIRE(study.points.size() == 4);
  CHECK(study.axes == std::vector<std::string>{"variant", "profile"});
  CHECK(study.points[2].coordinates[0].value == "pufferfish");
  const Workload whole = make_workload(*study.points[0].scenario.workload),
                 low = make_workload(*study.points[2].scenario.workload);
  CHECK(whole.gradients.size() == 161);
  CHECK(low.gradients.size() == 171);
  CHECK(low.batch == 16);
  // The canonical document stands for the same scenario.
  const Study again = parse_study(to_json(study.points[2].scenario).dump(), "again", {}, default_library());
  CHECK(*again.points[0].scenario.workload == *study.points[2].scenario.workload);
}

TEST_CASE("the rank ratio of a named variant is an axis") {
  const std::string scenario =
      R"({"name": "s", "workload": {"from": "resnet50", "variant": {"from": "pufferfish", "factorize": {"rank_ratio": [0.125, 0.25]}}, "profile": "v100-datasheet"},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
  const Study study = parse_study(scenario, "test", {}, default_library());
  REQUIRE(study.points.size() == 2);
  const auto elements = [&](std::size_t i) {
    return make_workload(*study.points[i].scenario.workload).gradient_bytes / 4_B;
  };
  CHECK(elements(1) == 15202344);
  CHECK(elements(0) < elements(1));
}

TEST_CASE("wrong statements about a network are faults") {
  const auto faults = [](const std::string& workload) -> std::string {
    try {
      parse_study(R"({"name": "s", "workload": )" + workload +
                      R"(, "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})",
                  "test", {}, default_library());
    } catch (const ScenarioError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(faults(R"("resnet50")"), ContainsSubstring("a device profile, inline or by name"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datashet"})"),
             ContainsSubstring("did you mean \"v100-datasheet\"?"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": "puferfish"})"),
             ContainsSubstring("did you mean \"pufferfish\"?"));
  CHECK_THAT(
      faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": {"factorize": {"rank_ratio": 0}}})"),
      ContainsSubstring("/variant/factorize/rank_ratio: found 0"));
  CHECK_THAT(
      faults(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": {"factorize": {"rank_ratio": 1.5}}})"),
      ContainsSubstring("found 1.5"));
  CHECK_THAT(faults(R"({"from": "resnet50", "profile": "titan-xp-datasheet", "dtype": "bf16"})"),
             ContainsSubstring("bf16 on the device \"titan-xp-datasheet\""));
  CHECK_THAT(faults(R"({"from": "vgg16-v100", "profile": "v100-datasheet"})"),
             ContainsSubstring("a profile for layers without shapes"));
  CHECK_THAT(
      faults(
          R"({"name": "n", "batch": 1, "profile": "v100-datasheet", "layers": [{"name": "a", "shape": {"kind": "liner", "in": 1, "out": 1}}]})"),
      ContainsSubstring("did you mean \"linear\"?"));
  CHECK_THAT(
      faults(
          R"({"name": "n", "batch": 1, "profile": "v100-datasheet", "layers": [{"name": "a", "shape": {"kind": "linear", "in": -3, "out": 1}}]})"),
      ContainsSubstring("found -3"));
}

TEST_CASE("a transformer's sizes are fields of a scenario: axes, overrides and canonical") {
  const std::string scenario =
      R"({"name": "s", "workload": {"from": "llama-2-7b", "profile": "h100-datasheet", "dtype": "bf16", "batch": 2, "transformer": {"layers": [1, 3]}},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
  const Study study =
      parse_study(scenario, "test", {Override{"/workload/transformer/kv_heads", 8, "", ""}}, default_library());
  REQUIRE(study.points.size() == 2);
  CHECK(study.axes == std::vector<std::string>{"layers"});
  const WorkloadTable& table = *study.points[1].scenario.workload;
  CHECK(table.transformer->layers == 3);
  CHECK(table.transformer->kv_heads == 8);
  CHECK(table.transformer->hidden == 4096);
  CHECK(table.layers.empty());
  CHECK_FALSE(table.timed_batch);
  CHECK_FALSE(table.timed_dtype);
  CHECK(make_workload(table).gradients.size() == 1 + 3 * 7 + 2);
  const Study again = parse_study(to_json(study.points[1].scenario).dump(), "again", {}, default_library());
  CHECK(*again.points[0].scenario.workload == table);
}
