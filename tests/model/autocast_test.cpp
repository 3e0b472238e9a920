// Autocast by hand on small tables, and against the kernels that a profiler counted in BERT-Base's step.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/workload/activation_memory.hpp"
#include "models/workload/autocast.hpp"
#include "models/workload/layer_times.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr Bytes kCast = 6_B;  ///< of an element: 4 read and 2 written, or the other way round

WorkloadTable table_of(std::vector<std::pair<std::string, LayerShape>> layers, int batch = 1) {
  WorkloadTable table;
  table.batch = batch;
  table.dtype = Dtype::fp32;
  table.compute_dtype = Dtype::bf16;
  table.autocast = true;
  for (auto& [name, shape] : layers) table.layers.push_back({std::move(name), {}, {}, {}, std::move(shape)});
  return table;
}

/// A block of an encoder with 2 heads of width 2, on 3 tokens of 10 words.
WorkloadTable encoder(bool fused) {
  return table_of({{"words", Embedding{10, 4, 3}},
                   {"norm", LayerNorm{4, 3}},
                   {"query", Linear{4, 4, 3}},
                   {"key", Linear{4, 4, 3}},
                   {"value", Linear{4, 4, 3}},
                   {"scores", Attention{2, 4, 3, {}, {}, fused}},
                   {"dense", Linear{4, 4, 3}},
                   {"dropout", Activation{ActivationFunction::dropout, 12}},
                   {"add", Add{12}},
                   {"norm2", LayerNorm{4, 3}},
                   {"up", Linear{4, 8, 3}},
                   {"gelu", Activation{ActivationFunction::gelu, 24}},
                   {"output", Linear{8, 10, 3, false, true}},
                   {"loss", SoftmaxLoss{10, 3}}},
                  5);
}

std::vector<LayerPrecision> precisions(const WorkloadTable& table) {
  return precisions_of(list_gradients(table), table.batch);
}

/// A layer's types in one line: "bf16 to fp32", "bf16 to bf16, casts its input".
std::string types_of(const LayerPrecision& one) {
  return std::string(name_of(one.dtype)) + " to " + std::string(name_of(one.output)) +
         (one.casts_input ? ", casts its input" : "");
}

double kernels_beside(const WorkloadTable& table) {
  double count = 0;
  for (const LayerPrecision& one : precisions(table))
    count += sum_of(one.beside.forward).kernels + sum_of(one.beside.data_gradient).kernels +
             sum_of(one.beside.weight_gradient).kernels;
  return count;
}

DeviceProfile device() {
  DeviceProfile profile;
  profile.name = "test";
  profile.peaks = {{Dtype::fp32, 1_TFLOPS, Evidence::assumed, "test"},
                   {Dtype::bf16, 8_TFLOPS, Evidence::assumed, "test"}};
  profile.memory_bandwidth.value = 100_GBps;
  profile.launch_overhead.value = 1_us;
  return profile;
}

}  // namespace

TEST_CASE("autocast computes products narrow, and norms, embeddings and sums wide") {
  const std::vector<LayerPrecision> layers = precisions(encoder(true));
  const std::string wide = "fp32 to fp32", narrow = "bf16 to bf16", casts = "bf16 to bf16, casts its input";
  // Queries, keys and values read the norm. The gelu's input is `up`, and that of `output` the gelu.
  const std::vector<std::string> expected{wide,   wide, casts, casts, casts,  narrow, narrow,
                                          narrow, wide, wide,  casts, narrow, narrow, narrow};
  REQUIRE(layers.size() == expected.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    INFO("layer " << i);
    CHECK(types_of(layers[i]) == expected[i]);
  }
}

TEST_CASE("autocast casts weights, wide inputs and their gradients once a pass") {
  const std::vector<LayerPrecision> layers = precisions(encoder(true));
  const auto bytes = [](const std::vector<LayerKernel>& kernels) { return sum_of(kernels).bytes; };
  const auto count = [](const std::vector<LayerKernel>& kernels) { return sum_of(kernels).kernels; };
  // query: weight 16, bias 4, input 3 x 4 of each of 5 samples.
  CHECK(bytes(layers[2].beside.forward) == kCast * (16 + 4 + 60.0));
  CHECK(count(layers[2].beside.forward) == 3);
  CHECK(bytes(layers[2].beside.data_gradient) == kCast * 60.0);
  CHECK(bytes(layers[2].beside.weight_gradient) == kCast * 20.0);
  CHECK(count(layers[2].beside.weight_gradient) == 2);
  // dense: its input is narrow.
  CHECK(bytes(layers[6].beside.forward) == kCast * 20.0);
  CHECK(count(layers[6].beside.data_gradient) == 0);
  // add: the gradient of the narrow branch.
  CHECK(count(layers[8].beside.forward) == 0);
  CHECK(bytes(layers[8].beside.data_gradient) == kCast * 60.0);
  // output: a tied weight of 8 x 10 without a gradient of its own.
  CHECK(bytes(layers[12].beside.forward) == kCast * 80.0);
  CHECK(bytes(layers[12].beside.weight_gradient) == kCast * 80.0);
  // loss: 10 scores of each of 3 rows and 5 samples, there and back.
  CHECK(bytes(layers[13].beside.forward) == kCast * 150.0);
  CHECK(bytes(layers[13].beside.data_gradient) == kCast * 150.0);
  for (const std::size_t i : {0, 1, 5, 7, 9, 11}) {
    INFO("layer " << i);
    CHECK(count(layers[i].beside.forward) + count(layers[i].beside.data_gradient) == 0);
  }
}

TEST_CASE("autocast's softmax of scores in memory is wide, and so is their dropout") {
  // 2 x 3 x 3 scores of each of 5 samples are 90. In bf16 forward casts them (6), reads and writes them wide for narrow
  // (2 + 2), and casts the result (6). Backward casts the gradient (6), reads it and the softmax and writes the scores'
  // gradient wide (2 + 2 + 2), and casts that (6).
  WorkloadTable table = encoder(false);
  table.layers.insert(table.layers.begin() + 6,
                      {"drop", {}, {}, {}, Activation{ActivationFunction::dropout, 2 * 3 * 3}});
  const std::vector<LayerPrecision> bf16 = precisions(table);
  CHECK(sum_of(bf16[5].beside.forward).bytes == 16_B * 90.0);
  CHECK(sum_of(bf16[5].beside.forward).kernels == 2);
  CHECK(sum_of(bf16[5].beside.data_gradient).bytes == 18_B * 90.0);
  CHECK(sum_of(bf16[5].beside.data_gradient).kernels == 2);
  CHECK(types_of(bf16[6]) == "fp32 to bf16");
  // In fp16 its kernels read the scores and write their gradient narrow. Forward: 2 + 6. Backward: 6 + 2 + 2.
  table.compute_dtype = Dtype::fp16;
  const std::vector<LayerPrecision> fp16 = precisions(table);
  CHECK(sum_of(fp16[5].beside.forward).bytes == 8_B * 90.0);
  CHECK(sum_of(fp16[5].beside.data_gradient).bytes == 10_B * 90.0);
  CHECK(sum_of(fp16[5].beside.data_gradient).kernels == 1);
  // Memory has both types of the scores, 4 bytes more for each, and a mask for their dropout.
  const auto memory = [](const WorkloadTable& one) { return activations_of(list_gradients(one)); };
  WorkloadTable plain = table;
  plain.layers.erase(plain.layers.begin() + 6);
  CHECK(memory(table) == memory(plain) + 1_B * 90.0);
  CHECK(memory(plain) - memory(encoder(true)) == 1_B * (5 * (18 * 6.0 - 24)));  // fused: 6 numbers of 4
}

TEST_CASE("queries, keys and values read the same input behind factorized ones, too") {
  std::vector<std::pair<std::string, LayerShape>> layers{{"norm", LayerNorm{8, 3}}};
  for (const char* name : {"query", "key", "value"}) {
    layers.emplace_back(name + std::string(".u"), Linear{8, 2, 3, false});
    layers.emplace_back(name + std::string(".v"), Linear{2, 8, 3});
  }
  const std::vector<LayerPrecision> precision = precisions(table_of(layers));
  for (const std::size_t u : {1, 3, 5}) {
    INFO("layer " << u);
    CHECK(precision[u].casts_input);
    CHECK_FALSE(precision[u + 1].casts_input);
  }
}

TEST_CASE("gradients of an input that several linear layers read are added up, in the input's type") {
  // 12 elements of each of 5 samples: two gradients are read and one is written. The key's and the value's are added to
  // what is there; the sum of Add has that of the branch that goes around.
  const auto sums = [](WorkloadTable table, bool autocast, std::size_t layer) {
    table.autocast = autocast;
    return precisions(table)[layer].beside.data_gradient;
  };
  CHECK(sum_of(sums(encoder(true), true, 2)).bytes == kCast * 60.0);
  CHECK(sum_of(sums(encoder(true), false, 2)).kernels == 0);
  for (const std::size_t layer : {3, 4}) {
    CHECK(sum_of(sums(encoder(true), true, layer)).bytes == (kCast + 12_B) * 60.0);
    CHECK(sum_of(sums(encoder(true), false, layer)).bytes == 6_B * 60.0);
    CHECK(sums(encoder(true), false, layer).back().kind == KernelKind::elementwise);
  }
  // Gate and up projections read one norm, down their product. Factorized ones read it by their first factors.
  WorkloadTable gated = table_of({{"norm", LayerNorm{4, 3}},
                                  {"gate", Linear{4, 8, 3, false}},
                                  {"silu", Activation{ActivationFunction::silu, 24}},
                                  {"up", Linear{4, 8, 3, false}},
                                  {"multiply", Multiply{24}},
                                  {"down", Linear{8, 4, 3, false}}});
  CHECK(sums(gated, false, 1).empty());
  CHECK(sum_of(sums(gated, false, 3)).bytes == 6_B * 12.0);
  CHECK(sums(gated, false, 5).empty());
  WorkloadTable factors = table_of({{"norm", LayerNorm{8, 3}},
                                    {"query.u", Linear{8, 2, 3}},
                                    {"query.v", Linear{2, 8, 3}},
                                    {"key.u", Linear{8, 2, 3}},
                                    {"key.v", Linear{2, 8, 3}}});
  CHECK(sums(factors, false, 3).size() == 1);
  for (const std::size_t layer : {1, 2, 4}) CHECK(sums(factors, false, layer).empty());
  // Two layers that read the sample need no gradient of it.
  CHECK(sums(table_of({{"a", Linear{4, 8, 1, false}}, {"b", Linear{4, 8, 1, false}}}), false, 1).empty());
}

TEST_CASE("a layer's time includes the sum of gradients that it ends with") {
  WorkloadTable table = encoder(true);
  table.autocast = false;
  const DeviceProfile profile = device();
  const WorkloadTable timed = time_layers(table, profile, 5);
  require_close(timed.layers[2].backward + roofline({Flops(60), 6_B * 60.0, 1}, profile, Dtype::bf16),
                timed.layers[3].backward, 1e-12, "key after query");
}

TEST_CASE("rotary positions of simple operations are wide, and attention casts queries and keys back") {
  const auto layers = precisions(table_of(
      {{"qkv", Linear{4, 12, 3}}, {"rotary", Rotary{24, 12, true}}, {"scores", Attention{2, 4, 3, {}, {}, true}}}));
  CHECK(types_of(layers[1]) == "fp32 to fp32");
  CHECK(sum_of(layers[2].beside.forward).bytes == kCast * 24.0);
  CHECK(sum_of(layers[2].beside.data_gradient).bytes == kCast * 24.0);
}

TEST_CASE("a convolutional network under autocast casts its weights, its sample and its loss") {
  const WorkloadTable table = table_of({{"conv", Conv2d{3, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}},
                                        {"bn", BatchNorm{4, {8, 8}}},
                                        {"relu", Activation{ActivationFunction::relu, 256}},
                                        {"conv2", Conv2d{4, 4, {3, 3}, 1, {1, 1}, 1, false, {8, 8}}},
                                        {"add", Add{256}},
                                        {"pool", Pool{PoolFunction::average, 4, {8, 8}, 1, {0, 0}, {8, 8}}},
                                        {"fc", Linear{4, 10}},
                                        {"loss", SoftmaxLoss{10, 1}}});
  const std::vector<LayerPrecision> layers = precisions(table);
  for (const LayerPrecision& one : layers) CHECK(one.dtype == Dtype::bf16);
  CHECK(layers[0].casts_input);
  // 108 weights and a sample of 3 x 8 x 8; 144 weights; 40 weights and 10 biases; 10 scores.
  const std::vector<double> forward{108 + 192, 0, 0, 144, 0, 0, 50, 10};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    INFO("layer " << i);
    CHECK(sum_of(layers[i].beside.forward).bytes == kCast * forward[i]);
  }
}

TEST_CASE("GELU of simple operations is wide under autocast, since its cube is") {
  const auto layers = precisions(table_of(
      {{"up", Linear{4, 8, 3}}, {"gelu", Activation{ActivationFunction::gelu, 24, true}}, {"down", Linear{8, 4, 3}}}));
  CHECK(types_of(layers[1]) == "fp32 to fp32");
  CHECK(layers[2].casts_input);
}

TEST_CASE("without autocast, or without a narrower type, all layers have one type and no casts") {
  WorkloadTable plain = encoder(true), narrow = encoder(true), wide = encoder(true);
  plain.autocast = false;
  narrow.dtype = Dtype::bf16;
  wide.compute_dtype.reset();
  for (const auto& [table, dtype] : {std::pair{plain, Dtype::bf16}, {narrow, Dtype::bf16}, {wide, Dtype::fp32}}) {
    CHECK(kernels_beside(table) == 2);  // the sums of gradients at the keys and at the values
    for (const LayerPrecision& one : precisions(table)) {
      CHECK(one.dtype == dtype);
      CHECK(one.output == dtype);
    }
  }
}

TEST_CASE("a layer's time under autocast is that of its own kernels in their type, and of its casts") {
  const WorkloadTable table = encoder(true);
  const DeviceProfile profile = device();
  const WorkloadTable timed = time_layers(table, profile, 5);
  const auto cast = [&](std::initializer_list<double> elements) {
    KernelWork sum;
    for (const double n : elements) sum += {Flops{}, kCast * n, 1};
    return roofline(sum, profile, Dtype::fp32);
  };
  const LayerShape query = *table.layers[2].shape, norm = *table.layers[1].shape;
  const LayerTimes own = times_of(profile, query, 5, Dtype::bf16);
  require_close(own.forward + cast({4, 16, 60}), timed.layers[2].forward, 1e-12, "query, forward");
  require_close(own.data_gradient + cast({60}) + own.weight_gradient + cast({4, 16}), timed.layers[2].backward, 1e-12,
                "query, backward");
  require_close(times_of(profile, norm, 5, Dtype::fp32).forward, timed.layers[1].forward, 1e-12, "norm");
  // The host launches the casts, too: 3 with the product and its bias, 20 us each, where the device is quicker.
  DeviceProfile slow_host = profile;
  slow_host.host_launch = ProfileEntry<Seconds>{20_us, Evidence::assumed, "test"};
  const WorkloadTable waits = time_layers(table, slow_host, 5);
  require_close(20_us * 5.0, waits.layers[2].forward, 0.03, "launches");
}

TEST_CASE("recomputed blocks cast again, and a first layer casts no gradient of its sample") {
  const DeviceProfile profile = device();
  WorkloadTable table = table_of({{"block.0.a", Linear{4, 4, 3}}, {"block.0.b", LayerNorm{4, 3}}}, 5);
  const WorkloadTable kept = time_layers(table, profile, 5);
  table.recomputation = Recomputation::blocks;
  const WorkloadTable again = time_layers(table, profile, 5);
  require_close(kept.layers[1].backward + kept.layers[0].forward + kept.layers[1].forward, again.layers[1].backward,
                1e-12, "recomputed");
  // The first layer's backward: the weight's gradient, and casts of 4 and 16 elements. No gradient of the sample.
  const KernelWork casts{Flops{}, kCast * 20.0, 2};
  require_close(
      times_of(profile, *table.layers[0].shape, 5, Dtype::bf16).weight_gradient + roofline(casts, profile, Dtype::fp32),
      kept.layers[0].backward, 1e-12, "first layer");
}

TEST_CASE("a measurement under autocast corrects the forecast of that code") {
  WorkloadTable table = encoder(false);
  table.variant = WorkloadVariant{"", "", {}, true, false};
  const WorkloadTable forecast = time_layers(table, device(), 5);
  Seconds forward{};
  for (const Layer& layer : forecast.layers) forward += layer.forward;
  table.measured.emplace();
  table.measured->forward = forward * 2.0;
  table.measured->batch = 5;
  table.measured->dtype = Dtype::bf16;
  table.measured->profile = device();
  require_close(2.0, corrections_of(table).forward, 1e-12, "with casts and fused attention");
}

TEST_CASE("BERT-Base's casts are those that a profiler counted on an H100") {
  // calibrate/measured/h100-2026-11-28/steps.tar.xz, bert-base-128-bf16--0.kernels.json: 223 copies to bf16 (221 + 2) and
  // 196 to fp32. In that network the output has a bias, and the pooler no gradient:
  //   to bf16, forward: 148 weights and biases, 50 inputs; backward: the gradients of 24 branches and of the loss
  //   to fp32, forward: the log-probabilities; backward: 146 gradients of weights, 49 of inputs
  // In ours the output has no bias (147), and the pooler learns (147 and 50). The profiler counted 50 sums of two fp32
  // tensors, 2 of them forward, of embeddings. The table's 24 sums of branches have one each; q, k and v have the other 24.
  const WorkloadTable bert = load_workload(
      default_library() / "workloads" / "bert-base.json",
      Json{{"variant", "fused-attention"}, {"dtype", "fp32"}, {"compute_dtype", "bf16"}, {"autocast", true}},
      default_library());
  double forward = 0, data = 0, weights = 0;
  for (const LayerPrecision& one : precisions(bert)) {
    forward += sum_of(one.beside.forward).kernels;
    data += sum_of(one.beside.data_gradient).kernels;
    weights += sum_of(one.beside.weight_gradient).kernels;
  }
  CHECK(forward == 147 + 50 + 1);
  CHECK(data == 50 + 24 + 1 + 24);
  CHECK(weights == 147);
}

TEST_CASE("memory under autocast has casts of inputs, and wide inputs of norms") {
  // In order: 3 indices of 8 bytes; the words, which the norm reads, 12 elements of 4 bytes, and 2 numbers of 4 for each
  // row; three casts of 12 elements of 2 bytes; q, k and v of 12, the output of 12 and 6 numbers of 4; a mask of 12; the
  // sum, which norm2 reads, and its numbers; a cast of 12; up's output of 24; gelu's of 24; the loss's labels, 8 for a
  // row, and for 30 scores 2, a copy of 4, log-probabilities of 2 and a gradient of 4.
  const double sample = 24 + (48 + 24) + 3 * 24 + (4 * 24 + 24) + 12 + (48 + 24) + 24 + 48 + 48 + (24 + 30 * 12.0);
  CHECK(activations_of(list_gradients(encoder(true))) == 1_B * (5 * sample));
}
