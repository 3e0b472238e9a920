// Kernels by their kind's constants: the formula by hand, grids of factors, which model serves, bands and transfers.
#include <cmath>
#include <limits>

#include "models/workload/kernel_time.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"
#include "models/workload/timing_notes.hpp"
#include "models/workload/transfer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr DevicePeaks kDevice{FlopsPerSecond(1e12), BytesPerSecond(1e11), 10};

KernelModel model_of(KernelKind kind) {
  KernelModel model;
  model.kind = kind;
  model.launch = 3_us;
  model.bend = 64;  // the longer of arithmetic and traffic, but where they are equal
  return model;
}

bool same(Seconds got, Seconds expected) { return deviation(expected.si(), got.si()) < 1e-9; }

/// An m x k by k x n product in fp32 that moves each operand once.
LayerKernel product(double m, double n, double k) {
  return {KernelKind::product, {Flops(2 * m * n * k), Bytes(4 * (m * k + k * n + m * n)), 1}, ProductShape{m, n, k}};
}

DeviceProfile profile_with(std::vector<KernelModel> models) {
  DeviceProfile profile;
  profile.name = "lab";
  profile.peaks = {{Dtype::fp32, FlopsPerSecond(1e12), Evidence::assumed, "test"},
                   {Dtype::fp16, FlopsPerSecond(4e12), Evidence::assumed, "test"},
                   {Dtype::bf16, FlopsPerSecond(4e12), Evidence::assumed, "test"}};
  profile.memory_bandwidth.value = BytesPerSecond(1e11);
  profile.launch_overhead.value = 5_us;
  profile.processors = ProfileEntry<int>{10, Evidence::assumed, "test", {}};
  profile.kernel_models = std::move(models);
  return profile;
}

}  // namespace

TEST_CASE("without a tiling, arithmetic and traffic bend at the model's shares") {
  KernelModel model = model_of(KernelKind::elementwise);
  model.share = 0.5;
  model.memory_share = 0.8;
  // Two kernels of 1e6 operations and 8e5 bytes each: 1e6/(1e12·0.5) = 2 us, 8e5/(1e11·0.8) = 10 us, launch 3 us.
  const LayerKernel kernel{KernelKind::elementwise, {Flops(2e6), Bytes(1.6e6), 2}, {}};
  CHECK(same(kernel_time(model, kernel, kDevice), 26_us));
  model.bend = 1;  // 3 + 2 + 10, twice
  CHECK(same(kernel_time(model, kernel, kDevice), 30_us));
  CHECK(kernel_time(model, {KernelKind::elementwise, {}, {}}, kDevice) == Seconds{});
}

TEST_CASE("attention slows down for few positions and narrow heads") {
  KernelModel model = model_of(KernelKind::attention);
  model.half_m = 100;
  model.half_k = 64;
  // 1e7 operations at 1e12 take 10 us; 100 positions and heads of 64 double the time each. 10 heads fill 10 processors.
  LayerKernel kernel{KernelKind::attention, {Flops(1e7), Bytes(1), 1}, ProductShape{100, 100, 64, 10}};
  CHECK(same(kernel_time(model, kernel, kDevice), 43_us));
  // 4 heads leave 6 of them idle: 10 us · 2 · 2 · 10/4.
  kernel.shape->products = 4;
  CHECK(same(kernel_time(model, kernel, kDevice), 103_us));
  // With 320 positions each has 2.5 blocks of 128, so 10 in all: 10 us · (1 + 100/320) · 2.
  kernel.shape->m = 320;
  CHECK(same(kernel_time(model, kernel, kDevice), 29.25_us));
}

TEST_CASE("batch norm of few channels draws less of the bandwidth") {
  KernelModel model = model_of(KernelKind::batch_norm);
  model.half_m = 150;
  // 1e6 bytes at 1e11 take 10 us; 50 channels multiply them by 1 + 150/50, and the launch is 3 us. 1 operation is none.
  const LayerKernel kernel{KernelKind::batch_norm, {Flops(1), Bytes(1e6), 1}, ProductShape{50, 1, 1000}};
  CHECK(same(kernel_time(model, kernel, kDevice), 43_us));
  const PassKernels layer = kernels_of(BatchNorm{50, {2, 5}}, 100, Dtype::fp32);
  for (const auto& pass : {layer.forward, layer.data_gradient}) {
    REQUIRE(pass.size() == 1);
    CHECK(pass[0].kind == KernelKind::batch_norm);
    CHECK(pass[0].shape->m == 50);    // channels
    CHECK(pass[0].shape->k == 1000);  // 100 images of 2 x 5 pixels
  }
}

TEST_CASE("norms of few and of short rows draw less of the bandwidth, and wide rows are read twice from memory") {
  KernelModel model = model_of(KernelKind::norm);
  // 1e6 bytes at 1e11 take 10 us, the launch 3 us. 1 operation is none.
  LayerKernel kernel{KernelKind::norm, {Flops(1), Bytes(1e6), 1}, ProductShape{50, 1, 1000}, 0.4};
  CHECK(same(kernel_time(model, kernel, kDevice), 13_us));
  model.half_m = 50;    // of 50 rows: twice as long
  model.half_k = 2000;  // of 1000 elements: three times as long
  CHECK(same(kernel_time(model, kernel, kDevice), 63_us));
  model.cached_k = 1000;  // half of the 0.4 that is read again comes from a cache: 60 us · 0.8
  CHECK(same(kernel_time(model, kernel, kDevice), 51_us));
  model.half_k.reset();
  model.half_m.reset();
  model.cached_k = 1e5;  // all of it, but for (1000/1e5)^8
  CHECK(same(kernel_time(model, kernel, kDevice), 9_us));
  model.cached_k = 10;  // none, but for (10/1000)^8
  CHECK(same(kernel_time(model, kernel, kDevice), 13_us));

  const PassKernels layer = kernels_of(LayerNorm{50, 10}, 100, Dtype::fp32);
  for (const auto& pass : {layer.forward, layer.data_gradient}) {
    REQUIRE(pass.size() == 1);
    CHECK(pass[0].kind == KernelKind::norm);
    CHECK(pass[0].shape->m == 1000);  // 100 samples of 10 rows
    CHECK(pass[0].shape->k == 50);
  }
  CHECK(layer.forward[0].again == Approx(1.0 / 3));        // two reads and a write
  CHECK(layer.data_gradient[0].again == Approx(2.0 / 5));  // four reads and a write
}

TEST_CASE("a larger norm or attention never takes less time") {
  property("a larger norm or attention never takes less time", [] {
    const auto size = [] { return static_cast<double>(integer_between(1, 20000)); };
    KernelModel norm = model_of(KernelKind::norm), attention = model_of(KernelKind::attention);
    norm.cached_k = size();
    for (KernelModel* model : {&norm, &attention}) {
      model->half_m = positive_between(1, 2000);
      model->half_k = positive_between(1, 2000);
    }
    const auto norm_time = [&](double rows, double width) {
      return kernel_time(
          norm, {KernelKind::norm, {Flops(1), Bytes(12 * rows * width), 1}, ProductShape{rows, 1, width}, 1.0 / 3},
          kDevice);
    };
    const auto attention_time = [&](double positions, double heads) {
      return kernel_time(attention,
                         {KernelKind::attention,
                          {Flops(256 * positions * positions * heads), Bytes(512 * positions * heads), 1},
                          ProductShape{positions, positions, 64, heads}},
                         kDevice);
    };
    const double more = 1 + 1e-9, m = size(), k = size();
    RC_ASSERT(norm_time(m + size(), k) * more >= norm_time(m, k));
    RC_ASSERT(norm_time(m, k + size()) * more >= norm_time(m, k));
    RC_ASSERT(attention_time(m + size(), k) * more >= attention_time(m, k));
    RC_ASSERT(attention_time(m, k + size()) * more >= attention_time(m, k));
  });
}

TEST_CASE("tiles fill the processors in waves") {
  KernelModel model = model_of(KernelKind::product);
  model.tiling = Tiling{0, 0_s, 1, 1_s};  // all tiles reach the peak, no split pays
  // 128 x 1280 outputs, 1,000 deep: 10 tiles of 128 x 128 on 10 processors of 1e11 operations a second each:
  // 2·128·128·1000/1e11 = 327.68 us. Smaller tiles are more waves of less: 20 of 64 x 128 take 2 · 163.84 us.
  CHECK(same(kernel_time(model, product(128, 1280, 1000), kDevice), 3_us + Seconds(327.68e-6)));
  // One row more is a row of tiles more: 20 of 128 x 128 take 655.36 us, 30 of 64 x 128 take 3 · 163.84 = 491.52 us,
  // 100 of 32 x 64 take 10 · 40.96 us.
  CHECK(same(kernel_time(model, product(129, 1280, 1000), kDevice), 3_us + Seconds(409.6e-6)));
  model.tiling->tail = 0;  // all these waves are full
  CHECK(same(kernel_time(model, product(129, 1280, 1000), kDevice), 3_us + Seconds(409.6e-6)));
  // A tile alone is still a wave: 2·32·32·1000/1e11.
  CHECK(same(kernel_time(model, product(32, 32, 1000), kDevice), 3_us + Seconds(20.48e-6)));
}

TEST_CASE("a split along the depth uses idle processors for the time of a sum") {
  KernelModel model = model_of(KernelKind::product);
  model.tiling = Tiling{0, 0_s, 1, 2_us};
  model.memory_share = 1;
  // One tile of 32 x 32, 16,000 deep: 327.68 us on one processor. Eight parts take 40.96 us and the sum 2 us; sixteen
  // are two waves of 20.48. The parts' traffic, 8 B · 8 · 1024, and the operands' 4 B · (2·32·16000 + 1024) take 41.6 us
  // at 1e11 B/s: a little more than the arithmetic.
  const double traffic = (8.0 * 8 * 1024 + 4.0 * (2 * 32 * 16000 + 1024)) / 1e11;
  const double bent = traffic * std::pow(1 + std::pow(40.96e-6 / traffic, 64), 1.0 / 64);
  CHECK(same(kernel_time(model, product(32, 32, 16000), kDevice), 5_us + Seconds(bent)));
}

TEST_CASE("small tiles reach less of the peak") {
  KernelModel model = model_of(KernelKind::product);
  model.tiling = Tiling{16, 0_s, 1, 1_s};
  model.memory_share = 1;
  // 32 x 32 outputs: A = 1024/64 = 16 = half_tile, so half of the share; 128 x 128 tiles have A = 64 and 1/(1 + 1/16).
  // The small tile takes 2 · 20.48 us; the large one 327.68 us · 17/16.
  CHECK(same(kernel_time(model, product(32, 32, 1000), kDevice), 3_us + Seconds(40.96e-6)));
}

TEST_CASE("products of odd sizes reach less of the peak, by the alignment of their rows") {
  KernelModel model = model_of(KernelKind::product);
  model.tiling = Tiling{0, 0_s, 1, 1_s};
  // 2·128·128·1000/1e11 = 327.68 us on each of 10 processors, as above.
  LayerKernel kernel = product(128, 1280, 1000);
  kernel.shape->alignment = 1;                                                  // 4 bytes in fp32
  CHECK(same(kernel_time(model, kernel, kDevice), 3_us + Seconds(327.68e-6)));  // no slowdown is known
  model.misaligned = {{4_B, 4}};
  CHECK(same(kernel_time(model, kernel, kDevice), 3_us + Seconds(4 * 327.68e-6)));
  // A step that keeps half of an aligned product's rate keeps all of one that is slower than that anyway.
  DevicePeaks in_step = kDevice;
  in_step.sustained = 0.5;
  CHECK(same(kernel_time(model, kernel, in_step), 3_us + Seconds(4 * 327.68e-6)));
  model.misaligned = {{4_B, 1.5}};  // an aligned one takes twice its time there
  CHECK(same(kernel_time(model, kernel, in_step), 3_us + Seconds(2 * 327.68e-6)));
  model.misaligned = {{4_B, 4}};
  KernelModel even = model;  // 2·128·1280·1000/1e12 = 327.68 us, too
  even.tiling.reset();
  CHECK(same(kernel_time(even, kernel, kDevice), 3_us + Seconds(4 * 327.68e-6)));
  const auto slowdown = [&](double alignment) { return slowdown_of(model, {1, 1, 1, 1, 1, alignment}); };
  CHECK(slowdown(2) == Approx(2));  // 8 bytes are halfway from 4 to 16, √4
  CHECK(slowdown(4) == 1);          // 16 bytes
  CHECK(slowdown(16) == 1);
  model.dtype = Dtype::bf16;
  CHECK(slowdown(1) == 4);  // 2 bytes: as the least that is known
  CHECK(slowdown(2) == 4);
  CHECK(slowdown(4) == Approx(2));
  CHECK(slowdown(8) == 1);
  model.misaligned = {{2_B, 9}, {8_B, 1}};
  CHECK(slowdown(2) == Approx(3));  // 4 bytes are halfway from 2 to 8, √9
}

TEST_CASE("no odd size is quicker, whatever binds the product") {
  property("no odd size is quicker", [] {
    KernelModel model = model_of(KernelKind::product);
    model.dtype = Dtype::bf16;
    model.bend = positive_between(1, 16);
    if (coin()) model.tiling = Tiling{20, 1_us, real_between(0, 1), 2_us};
    model.misaligned = {{2_B, real_between(1, 9)}};
    DevicePeaks device = kDevice;
    device.sustained = real_between(0.1, 1);
    const auto size = [] { return static_cast<double>(integer_between(1, 3000)); };
    LayerKernel kernel = product(size(), size(), size());
    const Seconds aligned = kernel_time(model, kernel, device);
    kernel.shape->alignment = static_cast<double>(integer_between(1, 8));
    RC_ASSERT(kernel_time(model, kernel, device) >= aligned);
  });
}

TEST_CASE("a layer's sizes set the alignment of its products, its rows do not") {
  const auto alignment = [](const LayerShape& shape, std::size_t kernel) {
    const PassKernels kernels = kernels_of(shape, 3, Dtype::bf16);
    const double one = kernels.forward[kernel].shape->alignment;
    CHECK(kernels.data_gradient[kernel].shape->alignment == one);
    return one;
  };
  CHECK(alignment(Linear{768, 50257, 7, false, false}, 0) == 1);
  CHECK(alignment(Linear{30522, 1024, 7, false, false}, 0) == 2);  // 2 · 15,261
  CHECK(alignment(Linear{768, 1000, 7, false, false}, 0) == 8);    // 8 · 125
  CHECK(alignment(Linear{768, 3072, 7, false, false}, 0) == 16);
  CHECK(kernels_of(Linear{768, 50257, 7, false, false}, 3, Dtype::bf16).weight_gradient[0].shape->alignment == 1);
  // Rows of scores have the positions' length, those of queries, keys and values the head's width, 64.
  CHECK(alignment(Attention{.heads = 2, .d = 128, .sequence = 100, .fused = false}, 0) == 4);
  CHECK(alignment(Conv2d{.in = 3, .out = 64, .kernel = {3, 3}, .input = {8, 8}}, 0) == 16);
}

TEST_CASE("a product of an odd size is an extrapolation where its slowdown is not known") {
  KernelModel model = model_of(KernelKind::product);
  model.dtype = Dtype::tf32;
  LayerKernel kernel = product(128, 1280, 1000);
  CHECK(covers(model, kernel));
  kernel.shape->alignment = 2;  // 8 bytes
  CHECK_FALSE(covers(model, kernel));
  model.misaligned = {{4_B, 2}};  // another alignment
  CHECK_FALSE(covers(model, kernel));
  model.misaligned = {{4_B, 2}, {8_B, 2}};
  CHECK(covers(model, kernel));
  model.misaligned.clear();
  model.dtype = Dtype::fp32;  // whose kernels read single words
  CHECK(covers(model, kernel));
}

TEST_CASE("more of a product never takes less time, and Winograd's part of it no more") {
  property("more of a product never takes less time", [] {
    KernelModel model = model_of(KernelKind::product);
    model.bend = positive_between(1, 16);
    model.share = real_between(0.1, 1);
    model.memory_share = real_between(0.1, 1);
    model.tiling = Tiling{positive_between(0.1, 60), Seconds(positive_between(1e-9, 1e-5)), real_between(0, 1),
                          Seconds(positive_between(1e-7, 1e-5))};
    const auto size = [] { return static_cast<double>(integer_between(1, 5000)); };
    const double m = size(), n = size(), k = size();
    const Seconds time = kernel_time(model, product(m, n, k), kDevice);
    // A split needs 32 of depth for each part, so a deeper product has more ways.
    const double more = 1 + 1e-9;
    RC_ASSERT(kernel_time(model, product(m + size(), n, k), kDevice) * more >= time);
    RC_ASSERT(kernel_time(model, product(m, n + size(), k), kDevice) * more >= time);
    LayerKernel less = product(m, n, k);
    less.work.flops *= 0.5;
    less.shape->executed = 0.5;
    RC_ASSERT(kernel_time(model, less, kDevice) <= time * more);
    RC_ASSERT(time >= model.launch);
  });
}

TEST_CASE("factors are given at the knots, and linear in logarithms between") {
  // 1 and 4 at m = 10 and 1000: at 100, half way in the logarithm, their geometric mean 2. n and k have one knot.
  const ShapeFactors grid{{10, 1000}, {1}, {1}, {1, 4}};
  CHECK(factor_at(grid, {10, 7, 7}) == 1);
  CHECK(factor_at(grid, {1000, 7, 7}) == Approx(4));
  CHECK(factor_at(grid, {100, 7, 7}) == Approx(2));
  CHECK(factor_at(grid, {1, 7, 7}) == 1);  // outside, the nearest
  CHECK(factor_at(grid, {1e6, 7, 7}) == Approx(4));
  // k changes first, m last: the factor of knots (i, j, l) is 4i + 2j + l + 1.
  const ShapeFactors order{{1, 2}, {1, 2}, {1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  CHECK(factor_at(order, {1, 1, 2}) == Approx(2));
  CHECK(factor_at(order, {1, 2, 1}) == Approx(3));
  CHECK(factor_at(order, {2, 1, 1}) == Approx(5));
  CHECK(factor_at(order, {2, 2, 2}) == Approx(8));
  KernelModel model = model_of(KernelKind::product);
  const Seconds plain = kernel_time(model, product(100, 7, 7), kDevice) - 3_us;
  model.factors = grid;  // the launch has none
  CHECK(same(kernel_time(model, product(100, 7, 7), kDevice), plain * 2 + 3_us));
}

TEST_CASE("a pass takes its own model, then one of any pass, then another type's") {
  KernelModel of_any = model_of(KernelKind::norm), forward = of_any, half = model_of(KernelKind::product);
  forward.pass = KernelPass::forward;
  forward.launch = 1_us;
  half.dtype = Dtype::bf16;
  const DeviceProfile profile = profile_with({of_any, forward, half});
  CHECK(find_model(profile, KernelKind::norm, KernelPass::forward, Dtype::fp32)->launch == 1_us);
  CHECK(find_model(profile, KernelKind::norm, KernelPass::data_gradient, Dtype::fp32)->launch == 3_us);
  CHECK(find_model(profile, KernelKind::norm, KernelPass::forward, Dtype::fp16) != nullptr);     // bound by memory
  CHECK(find_model(profile, KernelKind::product, KernelPass::forward, Dtype::fp16) != nullptr);  // bf16's peak is equal
  CHECK(find_model(profile, KernelKind::product, KernelPass::forward, Dtype::fp32) == nullptr);
  CHECK(find_model(profile, KernelKind::pool, KernelPass::forward, Dtype::fp32) == nullptr);
  DeviceProfile slower = profile;
  slower.peaks[1].rate = FlopsPerSecond(2e12);
  // The own type's model of any pass comes before another type's of this one.
  KernelModel others = forward;
  others.dtype = Dtype::bf16;
  CHECK(find_model(profile_with({others, of_any}), KernelKind::norm, KernelPass::forward, Dtype::fp32)->launch == 3_us);
  CHECK(find_model(slower, KernelKind::product, KernelPass::forward, Dtype::fp16) == nullptr);
  // TF32 has fp32's size and fp16 has bf16's, whatever comes first.
  for (const auto& models : {std::vector{others, of_any}, std::vector{of_any, others}}) {
    const DeviceProfile both = profile_with(models);
    CHECK(find_model(both, KernelKind::norm, KernelPass::forward, Dtype::tf32)->dtype == Dtype::fp32);
    CHECK(find_model(both, KernelKind::norm, KernelPass::forward, Dtype::fp16)->dtype == Dtype::bf16);
  }
  // Batch norm takes the model of elementwise kernels until it has its own.
  KernelModel sums = of_any, channels = of_any;
  sums.kind = KernelKind::elementwise;
  sums.launch = 8_us;
  channels.kind = KernelKind::batch_norm;
  channels.launch = 7_us;
  CHECK(find_model(profile_with({of_any}), KernelKind::batch_norm, KernelPass::forward, Dtype::fp32) == nullptr);
  CHECK(find_model(profile_with({of_any, sums}), KernelKind::batch_norm, KernelPass::forward, Dtype::fp32)->launch ==
        8_us);
  const DeviceProfile apart = profile_with({of_any, sums, forward, channels});
  CHECK(find_model(apart, KernelKind::batch_norm, KernelPass::forward, Dtype::fp32)->launch == 7_us);
  CHECK(find_model(apart, KernelKind::norm, KernelPass::forward, Dtype::fp32)->launch == 1_us);
}

TEST_CASE("a layer's kernels take their models, and the others the roofline") {
  KernelModel products = model_of(KernelKind::product);
  const DeviceProfile profile = profile_with({products});
  const LayerShape linear = Linear{100, 200, 30, true, false};
  // Forward: a product of 30 x 100 by 100 x 200, 1.2e6 operations (1.2 us) and 4·(3000 + 20000 + 6000) = 116 kB (1.16
  // us); bias by the roofline: 6,000 operations, 48 kB (0.48 us), and its launch of 5 us.
  const double a = 1.2e-6, b = 1.16e-6;
  const double expected = 3e-6 + a * std::pow(1 + std::pow(b / a, 64), 1.0 / 64) + 5e-6;
  const Seconds forward = times_of(profile, linear, 1, Dtype::fp32).forward;
  CHECK(forward.si() == Approx(expected + 0.48e-6).epsilon(1e-4));
  // Without any model it is the roofline of both together.
  const DeviceProfile plain = profile_with({});
  CHECK(same(times_of(plain, linear, 1, Dtype::fp32).forward,
             roofline(work_of(linear, 1, Dtype::fp32).forward, plain, Dtype::fp32)));
}

TEST_CASE("the kernels of a pass are products of the layer's sizes") {
  const PassKernels linear = kernels_of(Linear{5, 7, 3, false, false}, 2, Dtype::fp32);
  const auto sizes = [](const LayerKernel& kernel) {
    return std::vector<double>{kernel.shape->m, kernel.shape->n, kernel.shape->k, kernel.shape->products};
  };
  CHECK(sizes(linear.forward.front()) == std::vector<double>{6, 7, 5, 1});
  CHECK(sizes(linear.data_gradient.front()) == std::vector<double>{6, 5, 7, 1});
  CHECK(sizes(linear.weight_gradient.front()) == std::vector<double>{7, 5, 6, 1});
  // 8 x 8 inputs, 3 x 3 with stride 2 and padding 1: 4 x 4 outputs. Two groups of 2 inputs and 3 outputs.
  const PassKernels conv = kernels_of(Conv2d{4, 6, {3, 3}, 2, {1, 1}, 2, false, {8, 8}}, 10, Dtype::fp32);
  CHECK(sizes(conv.forward.front()) == std::vector<double>{160, 3, 18, 2});
  CHECK(sizes(conv.data_gradient.front()) == std::vector<double>{640, 2, 13.5, 2});  // half of 3·9: the stride
  CHECK(sizes(conv.weight_gradient.front()) == std::vector<double>{3, 18, 160, 2});
  // Attention with its scores in memory: 2 products and a softmax forward, 4 and one back.
  const Attention scores{2, 8, 5, {}, {}, false, false};
  const PassKernels attention = kernels_of(scores, 3, Dtype::fp32);
  REQUIRE(attention.forward.size() == 3);
  REQUIRE(attention.data_gradient.size() == 5);
  CHECK(sizes(attention.forward[0]) == std::vector<double>{5, 5, 4, 6});
  CHECK(sizes(attention.forward[2]) == std::vector<double>{5, 4, 5, 6});
  CHECK(sum_of(attention.data_gradient).kernels == 5);
}

TEST_CASE("a model's band is its own, whatever the roofline's") {
  KernelModel products = model_of(KernelKind::product);
  products.tiling = Tiling{20, 1_us, 0.5, 2_us};
  products.spread = 0.25;
  DeviceProfile profile = profile_with({products});
  profile.peaks.front().spread = 0.1;
  profile.memory_bandwidth.spread = 0.3;
  profile.roofline_spread = {{Dtype::fp32, 0.5, 9, Evidence::measured, "test"}};
  const LayerShape linear = Linear{500, 400, 300, false, false};
  const Seconds time = times_of(profile, linear, 4, Dtype::fp32).forward;
  CHECK(same(times_of(at_side(profile, Side::slow, Dtype::fp32), linear, 4, Dtype::fp32).forward, time * 1.25));
  CHECK(same(times_of(at_side(profile, Side::fast, Dtype::fp32), linear, 4, Dtype::fp32).forward, time / 1.25));
  CHECK(has_spread(profile_with({products})));
}

TEST_CASE("a sustained share holds for its kinds and type, for all if it names none") {
  // 64 · 300 · 2000 multiply-accumulates at 1 TFLOPS; a sum of 6.4e5 elements in fp32: 12 B each at 0.1 TB/s. Launches
  // of 3 us are no part of it.
  DeviceProfile profile = profile_with({model_of(KernelKind::product), model_of(KernelKind::elementwise)});
  const auto product = [&] { return times_of(profile, Linear{300, 2000, 1, false, false}, 64, Dtype::fp32).forward; };
  const auto sum = [&] { return times_of(profile, Add{10000}, 64, Dtype::fp32).forward; };
  const Seconds launch = 3_us, product_alone = product() - launch, sum_alone = sum() - launch;
  require_close(76.8e-6, product_alone.si(), 1e-3, "product alone");
  require_close(76.8e-6, sum_alone.si(), 1e-3, "sum alone");
  profile.sustained = SustainedShare{0.5, {}, {}, Evidence::fitted, "test"};
  require_close(launch + 2 * product_alone, product(), 1e-9, "product, of all kinds");
  require_close(launch + 2 * sum_alone, sum(), 1e-9, "sum, of all kinds");
  profile.sustained->kinds = {KernelKind::attention, KernelKind::product};
  require_close(launch + 2 * product_alone, product(), 1e-9, "product, named");
  require_close(launch + sum_alone, sum(), 1e-9, "sum, not named");
  profile.sustained->dtype = Dtype::bf16;
  require_close(launch + product_alone, product(), 1e-9, "product in fp32, bf16 named");
}

TEST_CASE("transferred, a model keeps its shares and takes the other device's rates") {
  KernelModel products = model_of(KernelKind::product);
  products.source = "lab's";
  products.factors = ShapeFactors{{1}, {1}, {1}, {2}};
  products.misaligned = {{4_B, 3}};
  products.tiling = Tiling{20, 1_us, 0.5, 2_us};
  const DeviceProfile measured = profile_with({products});
  DeviceProfile from = profile_with({}), to = profile_with({});
  from.clock = ProfileEntry<Hertz>{Hertz(1e9), Evidence::assumed, "test", {}};
  to.clock = ProfileEntry<Hertz>{Hertz(2e9), Evidence::assumed, "test", {}};
  for (PeakRate& peak : to.peaks) peak.rate *= 3;
  to.processors->value = 20;
  const DeviceProfile other = transfer(measured, from, to, "other");
  const KernelModel& moved = other.kernel_models.front();
  CHECK(other.processors->value == 20);
  CHECK(moved.share == products.share);
  CHECK(same(moved.launch, 1.5_us));
  CHECK(same(moved.tiling->wave, 0.5_us));
  CHECK(same(moved.tiling->split, 1_us));
  CHECK(moved.evidence == Evidence::transferred);
  // Three times the peak, one bandwidth: whatever bounds the kernel, it is within a factor of 3, and no band was known.
  CHECK(moved.spread.value() >= 2);
  CHECK_FALSE(moved.errors);
  CHECK_FALSE(moved.factors);
  CHECK(moved.misaligned.empty());  // one device's library
  KernelModel imported = products;  // one generation: the times alone are another card's
  move_rates(imported, from, to);
  CHECK(imported.misaligned == products.misaligned);
  to.processors.reset();
  CHECK_THROWS_AS(transfer(measured, from, to, "other"), TransferError);
}

TEST_CASE("transferred, a streaming kernel goes with the memory or with the processors") {
  // Half of the bandwidth, the same processors. With s = 0.95·2^(-1/4), w = 1/2: (2^4/2 + 1/2)^(1/4) = 8.5^(1/4).
  const double between = 0.95 * std::pow(2, -0.25), slower = std::pow(8.5, 0.25);
  KernelModel models[] = {model_of(KernelKind::elementwise), model_of(KernelKind::batch_norm),
                          model_of(KernelKind::pool), model_of(KernelKind::product), model_of(KernelKind::softmax)};
  models[0].memory_share = 0.95;
  models[1].memory_share = between;
  models[1].half_m = 100;
  models[2].memory_share = 0.095;
  models[3].memory_share = models[4].memory_share = 0.5;
  DeviceProfile measured = profile_with({std::begin(models), std::end(models)});
  DeviceProfile from = profile_with({});
  from.clock = ProfileEntry<Hertz>{Hertz(1e9), Evidence::assumed, "test", {}};
  measured.kernels = {{"add", 4_us, from.memory_bandwidth.value * between, {}, Evidence::measured, "test"}};
  measured.codecs = {{.method = "qsgd", .per_element = 3_ns, .source = "test"}};
  DeviceProfile to = from;
  to.memory_bandwidth.value *= 0.5;
  const DeviceProfile moved = transfer(measured, from, to, "moved");
  require_close(3_ns * std::sqrt(2), moved.codecs[0].per_element, 1e-12, "a codec, halfway");
  require_close(0.95, moved.kernel_models[0].memory_share, 1e-12, "bound by the memory: the share stays");
  require_close(between * 2 / slower, moved.kernel_models[1].memory_share, 1e-12, "bound by both");
  require_close(100 / slower, *moved.kernel_models[1].half_m, 1e-12,
                "m·share/half_m of the bandwidth: as fast as before");
  KernelModel alone = models[1];
  move_rates(alone, from, to);
  require_close(moved.kernel_models[1].memory_share, alone.memory_share, 1e-12, "a model alone");
  // w = 1e-4: (16e-4 + 0.9999)^(1/4) = 1.000375
  require_close(0.19 / 1.000375, moved.kernel_models[2].memory_share, 1e-6, "bound by processors: as fast as before");
  CHECK(moved.kernel_models[3].memory_share == 0.5);
  CHECK(moved.kernel_models[4].memory_share == 0.5);  // reads its rows again
  require_close(from.memory_bandwidth.value * between / slower, moved.kernels[0].bandwidth, 1e-12, "a method's kernel");
  require_close(4_us, moved.kernels[0].launch, 1e-15, "its launch, by the clock");
  // Twice as many processors: a pooling takes (16e-4 + 0.9999/16)^(1/4) of the time. A block of a batch norm stays as fast.
  to.processors->value *= 2;
  const DeviceProfile wider = transfer(measured, from, to, "wider");
  require_close(0.19 / std::pow(16e-4 + 0.9999 / 16, 0.25), wider.kernel_models[2].memory_share, 1e-12, "pooling");
  const KernelModel& channels = wider.kernel_models[1];
  require_close(between / 100, channels.memory_share / *channels.half_m * 0.5, 1e-12, "one channel's bandwidth");
  // The model's share of a bandwidth that was measured as 4/5 of the datasheet's.
  measured.memory_bandwidth.value *= 0.8;
  measured.kernel_models[0].memory_share = 0.95 / 0.8;
  require_close(0.95 / 0.8, transfer(measured, from, to, "copied").kernel_models[0].memory_share, 1e-12, "a sum");
}

TEST_CASE("transferred, a norm's blocks go with the clock and a pool's operations with the processors") {
  KernelModel norm = model_of(KernelKind::norm), pool = model_of(KernelKind::pool);
  norm.half_m = 100;
  norm.half_k = 60;
  norm.cached_k = 4000;
  pool.share = 0.01;
  DeviceProfile from = profile_with({}), to = profile_with({});
  from.clock = ProfileEntry<Hertz>{Hertz(1e9), Evidence::assumed, "test", {}};
  to.clock = ProfileEntry<Hertz>{Hertz(2e9), Evidence::assumed, "test", {}};
  to.memory_bandwidth.value *= 0.5;
  to.processors->value *= 3;
  for (PeakRate& peak : to.peaks) peak.rate *= 4;
  move_rates(norm, from, to);
  // A block is twice as fast and the memory half as fast, so a quarter of the rows fill it.
  require_close(25, *norm.half_m, 1e-12, "rows");
  require_close(15, *norm.half_k, 1e-12, "width");
  CHECK(norm.cached_k == 4000);
  move_rates(pool, from, to);
  require_close(0.01 * 3 * 2 / 4, pool.share, 1e-12,
                "three times the processors, twice the clock, four times the peak");
}

TEST_CASE("a model of another type refers to that type's peak") {
  KernelModel pool = model_of(KernelKind::pool);
  pool.share = 0.5;
  pool.memory_share = 10;
  // 100 channels of 100 x 100 outputs by windows of 10 x 10: 1e8 operations at half of fp32's 1e12. Traffic takes 4 us.
  const LayerTimes times =
      times_of(profile_with({pool}), Pool{PoolFunction::max, 100, {10, 10}, 1, {0, 0}, {109, 109}}, 1, Dtype::fp16);
  CHECK(same(times.forward, 203_us));
}

TEST_CASE("a kernel outside the sizes behind its model is an extrapolation") {
  KernelModel sums = model_of(KernelKind::elementwise);
  sums.bytes = BytesRange{1_kB, 1_MB};
  WorkloadTable table;
  table.name = "net";
  table.batch = 1;
  table.layers = {{}, {}};
  table.layers[0].name = "small";
  table.layers[0].shape = Add{1000};  // 12 kB
  table.layers[1].name = "large";
  table.layers[1].shape = Add{1000000};  // 12 MB
  CHECK(extrapolated_layers(table, profile_with({sums}), 1) == std::vector<std::string>{"large"});
  CHECK(covers(sums, {KernelKind::elementwise, {Flops(1), 2_MB, 2}, {}}));  // two of 1 MB each
  CHECK(covers(sums, {KernelKind::elementwise, {Flops(1), 10_B, 1}, {}}));  // no less than its launch
  KernelModel attention = model_of(KernelKind::attention);
  attention.bytes = sums.bytes;
  CHECK_FALSE(covers(attention, {KernelKind::attention, {Flops(1), 10_B, 1}, {}}));
  // The sums have a model, so the roofline's share is the update's alone.
  const TimeByRoofline time = time_by_roofline(table, profile_with({sums}), 1);
  CHECK(time.by_roofline < time.all);
}
