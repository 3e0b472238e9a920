// The shipped networks against counts known from elsewhere.
//
// Sources of parameter counts:
// - Pufferfish's twelve: its code (hwang595/Pufferfish, commit 3f7a271a). Its notebooks print those of the factorized
//   VGG-19, ResNet-18 and ResNet-50; the others are computed from its model definitions.
// - torchvision's: its documentation's "num_params". BERT, GPT-2 and Llama: Hugging Face's models.
// - The survey's: the bytes that its runs exchange (d and L of sands-lab/grace-benchmarks).
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/study.hpp"
#include "models/workload/factorize.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/transformer_layers.hpp"
#include "models/workload/workload.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

WorkloadTable network(const std::string& name, const std::string& variant = "vanilla") {
  return load_workload(default_library() / "workloads" / (name + ".json"), Json{{"variant", variant}},
                       default_library());
}

struct Counts {
  std::int64_t parameters = 0;
  std::size_t tensors = 0;
  double weight_macs = 0;
};

Counts count(const WorkloadTable& table) {
  Counts counts;
  for (const Layer& layer : list_gradients(table).layers) {
    counts.weight_macs += weight_macs(*layer.shape);
    counts.tensors += layer.gradients.size();
    for (const GradientTensor& tensor : layer.gradients) counts.parameters += tensor.elements;
  }
  return counts;
}

}  // namespace

TEST_CASE("Pufferfish's networks have its parameters, tensors and multiply-accumulates, vanilla and factorized") {
  // MACs per `per`, from its layer shapes without norms and activations ("macs_weights_only"). The LSTM's and the
  // Transformer's are per token; our samples have 35 and 16 tokens.
  struct Row {
    const char* name;
    std::int64_t vanilla, factorized;
    std::size_t vanilla_tensors, factorized_tensors;
    double vanilla_macs, factorized_macs, per;
  };
  const auto row = GENERATE(Row{"vgg19-bn-cifar10", 20560330, 8370634, 54, 63, 398660608, 289346560, 1},
                            Row{"resnet18-cifar10", 11173834, 3336138, 60, 74, 555422720, 216208384, 1},
                            Row{"resnet50", 25557032, 15202344, 161, 171, 4089184256, 3572170752, 1},
                            Row{"wide-resnet50-2", 68883240, 40047400, 161, 171, 11398021120, 9946529792, 1},
                            Row{"lstm-wikitext2", 85962278, 67962278, 26, 42, 85917000, 67917000, 35},
                            Row{"transformer-multi30k", 48978432, 26696192, 185, 265, 48914944, 26632704, 16});
  INFO(row.name);
  const Counts vanilla = count(network(row.name));
  CHECK(vanilla.parameters == row.vanilla);
  CHECK(vanilla.tensors == row.vanilla_tensors);
  CHECK(vanilla.weight_macs == row.vanilla_macs * row.per);
  const Counts factorized = count(network(row.name, "pufferfish"));
  CHECK(factorized.parameters == row.factorized);
  CHECK(factorized.tensors == row.factorized_tensors);
  CHECK(factorized.weight_macs == row.factorized_macs * row.per);
}

TEST_CASE("torchvision's networks have its parameters, and its multiply-accumulates as it rounds them") {
  // Its documentation prints 10^9 multiply-accumulates with two digits after the point and calls them GFLOPS.
  struct Row {
    const char* name;
    std::int64_t parameters;
    double giga_macs;
  };
  const auto row =
      GENERATE(Row{"alexnet", 61100840, 0.71}, Row{"vgg16", 138357544, 15.47}, Row{"resnet18", 11689512, 1.81},
               Row{"resnet50", 25557032, 4.09}, Row{"resnet101", 44549160, 7.80}, Row{"resnet152", 60192808, 11.51},
               Row{"wide-resnet50-2", 68883240, 11.40});
  const Counts counts = count(network(row.name));
  INFO(row.name << ": " << counts.weight_macs << " multiply-accumulates");
  CHECK(counts.parameters == row.parameters);
  CHECK(std::abs(counts.weight_macs / 1e9 - row.giga_macs) <= 0.0051);
}

TEST_CASE("Inception V3 has torchvision's parameters and, without the auxiliary classifier, its multiply-accumulates") {
  const WorkloadTable table = network("inception-v3");
  CHECK(count(table).parameters == 27161264);
  Counts main;
  for (const Layer& layer : table.layers)
    if (!covers("AuxLogits", layer.name)) main.weight_macs += weight_macs(*layer.shape);
  INFO(main.weight_macs);
  CHECK(std::abs(main.weight_macs / 1e9 - 5.71) <= 0.0051);
}

TEST_CASE("Transformers have the known parameters and 12 L d² + tied output multiply-accumulates a token") {
  struct Row {
    const char* name;
    std::int64_t parameters;
    double layers, d, tokens, words, predicted, pooled;
  };
  const auto row = GENERATE(Row{"bert-base", 109482240, 12, 768, 128, 30522, 20, 1},
                            Row{"bert-large", 335141888, 24, 1024, 128, 30522, 20, 1},
                            Row{"gpt2-small", 124439808, 12, 768, 1024, 50257, 1024, 0});
  INFO(row.name);
  const WorkloadTable table = network(row.name);
  CHECK(count(table).parameters == row.parameters);
  // A layer: 4 d² of projections and 2 · 4 d² of feed-forward for each token; BERT's pooler sees one token.
  CHECK(count(table).weight_macs ==
        row.tokens * row.layers * 12 * row.d * row.d + row.predicted * row.words * row.d + row.pooled * row.d * row.d);
  double products = 0;
  for (const Layer& layer : table.layers) products += attention_macs(*layer.shape);
  CHECK(products == row.layers * 2 * row.tokens * row.tokens * row.d);
}

TEST_CASE("transformers by their sizes have the known parameters, tensors and multiply-accumulates") {
  struct Row {
    const char* name;
    std::int64_t parameters;
    std::size_t tensors;
    double layers, d, block, words, tokens;
  };
  // A block's products: GPT-2 has 12 d²; Llama has 4 d² and three of d x ffn; Llama 3 has queries and output 2 d², keys
  // and values 2 d²/4. Tensors: GPT-2's two tables, 6 weights and 6 biases a block, 2 of the last norm; Llama's table,
  // 7 weights a block, norm, output.
  const auto row = GENERATE(
      Row{"gpt2-xl", 1557611200, 2 + 48 * 12 + 2, 48, 1600, 12.0 * 1600 * 1600, 50257, 1024},
      Row{"llama-2-7b", 6738415616, 1 + 32 * 7 + 2, 32, 4096, 4.0 * 4096 * 4096 + 3.0 * 4096 * 11008, 32000, 4096},
      Row{"llama-3-8b", 8030261248, 1 + 32 * 7 + 2, 32, 4096, 2.5 * 4096 * 4096 + 3.0 * 4096 * 14336, 128256, 8192});
  INFO(row.name);
  const WorkloadTable table = network(row.name);
  CHECK(table.layers.empty());
  CHECK(count(table).parameters == row.parameters);
  CHECK(count(table).tensors == row.tensors);
  CHECK(count(table).weight_macs == row.tokens * (row.layers * row.block + row.words * row.d));
  double products = 0;
  for (const Layer& layer : list_gradients(table).layers) products += attention_macs(*layer.shape);
  CHECK(products == row.layers * row.tokens * row.tokens * row.d);  // two products, half of the scores
}

TEST_CASE("model FLOPs are those that MosaicML publishes for its GPTs") {
  // llm-foundry's benchmarks (measurements/mpt.csv has the source): MPT 7B, 2,048 tokens, 85,144 of them a second on 8
  // H100s: 4.595096e14 operations a second and H100. They count all parameters (6,658,859,008), also 8,388,608 of
  // positions and 274,432 of norms, which multiply nothing: 0.13 % of them.
  const Transformer mpt{.layers = 32,
                        .hidden = 4096,
                        .heads = 32,
                        .vocabulary = 50368,
                        .sequence = 2048,
                        .bias = false,
                        .fused_attention = true,
                        .causal = true};
  Flops sample{};
  for (const Layer& layer : layers_of(mpt)) sample += model_flops(*layer.shape);
  // 12 d² a block and tied output, six operations a token each; scores and weighted values, all of them though masked.
  const double d = 4096, tokens = 2048, weights = 32 * 12 * d * d + 50368 * d, attention = 32 * 2 * tokens * d;
  CHECK(sample == Flops(6 * tokens * (weights + attention)));
  const double published = 4.595096e14, per_second = sample.si() * 85144 / 2048 / 8;
  CHECK(per_second / published == Approx(1 - 0.0013).margin(0.0003));
}

TEST_CASE("GPT-2 small by its sizes is the table that spells it out") {
  Transformer sizes{.layers = 12,
                    .hidden = 768,
                    .heads = 12,
                    .vocabulary = 50257,
                    .sequence = 1024,
                    .dropout = true,
                    .fused_attention = false,
                    .causal = false};
  const std::vector<Layer> spelled_out = network("gpt2-small").layers;
  std::vector<Layer> layers = layers_of(sizes);
  // The table leaves out the dropout of scores, 12 heads · 1024² of them in each block.
  const auto is_of_scores = [](const Layer& layer) { return layer.name.ends_with(".attention.dropout"); };
  CHECK(std::count_if(layers.begin(), layers.end(), is_of_scores) == 12);
  const auto dropout = std::find_if(layers.begin(), layers.end(), is_of_scores);
  CHECK(same_work(*dropout->shape, LayerShape(Activation{ActivationFunction::dropout, 12 * 1024 * 1024})));
  std::erase_if(layers, is_of_scores);
  REQUIRE(layers.size() == spelled_out.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    INFO(layers[i].name << " and " << spelled_out[i].name);
    CHECK(same_work(*layers[i].shape, *spelled_out[i].shape));
    const std::vector<GradientTensor> a = gradients_of(layers[i]), b = gradients_of(spelled_out[i]);
    REQUIRE(a.size() == b.size());
    for (std::size_t t = 0; t < a.size(); ++t) CHECK(a[t].dims == b[t].dims);
  }
  // Masked scores are computed all the same, unless attention is fused.
  sizes.causal = true;
  CHECK(same_work(*layers_of(sizes)[6].shape, *layers[6].shape));
  sizes.fused_attention = true;
  CHECK(layers[6].name == "block.0.attention");
  CHECK_FALSE(same_work(*layers_of(sizes)[6].shape, *layers[6].shape));
}

TEST_CASE("a transformer's layers have their names and order") {
  const auto names = [](const Transformer& sizes) {
    std::string text;
    for (const Layer& layer : layers_of(sizes)) text += layer.name + " ";
    return text;
  };
  CHECK(
      names({.dropout = true}) ==
      "embedding positions positions.add dropout block.0.norm1 block.0.qkv block.0.attention block.0.projection block.0.projection.dropout block.0.add1 block.0.norm2 "
      "block.0.ffn.up block.0.ffn.activation block.0.ffn.down block.0.ffn.dropout block.0.add2 norm output loss ");
  CHECK(
      names({.gated = true, .positions = false}) ==
      "embedding block.0.norm1 block.0.qkv block.0.rotary block.0.attention block.0.projection block.0.add1 block.0.norm2 "
      "block.0.ffn.gate block.0.ffn.activation block.0.ffn.up block.0.ffn.product block.0.ffn.down block.0.add2 norm output loss ");
}

TEST_CASE("a transformer's parameters are those of its closed form") {
  property("V d + S d + (1 + b) d + layers (2 (1 + k) d² + g d f + 2 d + b (2 (1 + k) d + (g - 1) f + 3 d))", [] {
    const auto n = [](int high) { return static_cast<Count>(integer_between(1, high)); };
    Transformer x;
    const Count group = n(4), kv_heads = n(4);
    x.layers = n(5);
    x.heads = group * kv_heads;
    x.hidden = x.heads * n(16);
    if (group > 1 || coin()) x.kv_heads = kv_heads;
    if (coin()) x.ffn = n(500);
    x.vocabulary = n(1000);
    x.sequence = n(64);
    for (bool* choice : {&x.gated, &x.positions, &x.tied, &x.bias, &x.dropout, &x.fused_attention, &x.causal})
      *choice = coin();
    WorkloadTable table;
    table.transformer = x;
    const Count d = x.hidden, f = x.ffn.value_or(4 * d), g = x.gated ? 3 : 2, b = x.bias ? 1 : 0, kd = d / group;
    const Count block = 2 * (d + kd) * d + g * d * f + 2 * d + b * (2 * (d + kd) + (g - 1) * f + 3 * d);
    RC_ASSERT(count(table).parameters == (x.tied ? 1 : 2) * x.vocabulary * d + (x.positions ? x.sequence * d : 0) +
                                             (1 + b) * d + x.layers * block);
  });
}

TEST_CASE("a variant factorizes a transformer's products, the tied output not") {
  WorkloadTable table;
  table.transformer = Transformer{.layers = 2, .hidden = 8, .heads = 2, .vocabulary = 10, .sequence = 4};
  table.variant = WorkloadVariant{"low", "", Factorize{0.5, "block.1", {"block.1.ffn"}, {}}};
  std::vector<std::string> halves;
  for (const Layer& layer : list_gradients(table).layers)
    if (layer.name.ends_with(".u") || layer.name.ends_with(".v")) halves.push_back(layer.name);
  CHECK(halves ==
        std::vector<std::string>{"block.1.qkv.u", "block.1.qkv.v", "block.1.projection.u", "block.1.projection.v"});
}

TEST_CASE("the networks of the survey and of Pipe-SGD have their parameters and tensors") {
  struct Row {
    const char* name;
    std::int64_t parameters;
    std::size_t tensors;
  };
  const auto row = GENERATE(Row{"resnet20-cifar10", 269467, 51}, Row{"densenet40-k12-cifar10", 357491, 158},
                            Row{"lstm-ptb", 13275200, 6}, Row{"ncf-ml20m", 31832577, 10}, Row{"unet-tiny", 1850305, 46},
                            // 784·500 + 500 + 500·500 + 500 + 500·10 + 10, and 3072·100 + 100
                            Row{"mnist-mlp", 648010, 6}, Row{"cifar100-convex", 307300, 2});
  INFO(row.name);
  const Counts counts = count(network(row.name));
  CHECK(counts.parameters == row.parameters);
  CHECK(counts.tensors == row.tensors);
}

TEST_CASE("gradients come last layer first, a layer's bias before its weight") {
  WorkloadTable table;
  table.layers = {{"embed", {}, {}, {}, Embedding{100, 8, 5, true}},
                  {"hidden", {}, {}, {}, Linear{8, 16, 5, true, false}},
                  {"norm", {}, {}, {}, LayerNorm{16, 5}},
                  {"out", {}, {}, {}, Linear{16, 100, 5, true, true}}};
  std::vector<std::string> names;
  for (const Gradient& gradient : make_workload(table).gradients) names.push_back(gradient.name);
  // The tied output has a bias of its own; the weight is the embedding's and so the last.
  CHECK(names == std::vector<std::string>{"out.bias", "norm.bias", "norm.weight", "hidden.bias", "hidden.weight",
                                          "embed.weight"});
  CHECK(gradients_of(table.layers[1])[1].dims == std::vector<std::int64_t>{16, 8});
  CHECK(gradients_of({"norm", {}, {}, {}, LayerNorm{16, 5, false}}).size() == 1);
}

TEST_CASE("an LSTM's tensors are cut as its library cuts them, the parameters alike but for the biases") {
  // 4h(i + h) of weights; biases 4h, 8h, 4h.
  const auto tensors = [](LstmTensors cut) { return gradients_of({"l", {}, {}, {}, Lstm{6, 10, 3, cut, {}, {}}}); };
  const auto elements = [](const std::vector<GradientTensor>& list) {
    std::int64_t sum = 0;
    for (const GradientTensor& tensor : list) sum += tensor.elements;
    return sum;
  };
  CHECK(tensors(LstmTensors::gates).size() == 12);
  CHECK(tensors(LstmTensors::fused).size() == 4);
  CHECK(tensors(LstmTensors::joint).size() == 2);
  CHECK(elements(tensors(LstmTensors::gates)) == 640 + 40);
  CHECK(elements(tensors(LstmTensors::fused)) == 640 + 80);
  CHECK(elements(tensors(LstmTensors::joint)) == 640 + 40);
}

TEST_CASE("a factorized convolution is k x k to r channels, then 1 x 1, with the stride where the rule puts it") {
  WorkloadTable table;
  table.layers = {{"first", {}, {}, {}, Conv2d{3, 16, {3, 3}, 1, {1, 1}, 1, false, {9, 9}}},
                  {"second", {}, {}, {}, Conv2d{16, 32, {3, 3}, 2, {1, 1}, 1, true, {9, 9}}}};
  Factorize rule;
  rule.from = "second";
  // min(32, 144)/4 = 8; 9 -> (9 + 2 - 3)/2 + 1 = 5.
  WorkloadTable low = factorize(table, rule);
  REQUIRE(low.layers.size() == 3);
  CHECK(*low.layers[0].shape == *table.layers[0].shape);
  CHECK(*low.layers[1].shape == LayerShape(Conv2d{16, 8, {3, 3}, 2, {1, 1}, 1, false, {9, 9}}));
  CHECK(*low.layers[2].shape == LayerShape(Conv2d{8, 32, {1, 1}, 1, {0, 0}, 1, true, {5, 5}}));
  rule.stride_last = {"second"};
  low = factorize(table, rule);
  CHECK(*low.layers[1].shape == LayerShape(Conv2d{16, 8, {3, 3}, 1, {1, 1}, 1, false, {9, 9}}));
  CHECK(*low.layers[2].shape == LayerShape(Conv2d{8, 32, {1, 1}, 2, {0, 0}, 1, true, {9, 9}}));
  rule.keep = {"second"};
  CHECK(factorize(table, rule).layers.size() == 2);
}

TEST_CASE("a factorized weight has r(rows + columns) elements and never fewer with a larger ratio") {
  property("r = max(1, int(min(rows, columns) ratio))", [] {
    const std::int64_t in = integer_between(1, 300), out = integer_between(1, 300);
    WorkloadTable table;
    table.layers = {{"l", {}, {}, {}, Linear{in, out, 1, false, false}}};
    Factorize rule;
    rule.rank_ratio = real_between(0.001, 1);
    const Counts low = count(factorize(table, rule));
    const auto rank =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(std::min(in, out)) * rule.rank_ratio));
    RC_ASSERT(low.parameters == rank * (in + out));
    RC_ASSERT(low.weight_macs == static_cast<double>(rank * (in + out)));
    rule.rank_ratio = std::min(1.0, rule.rank_ratio * real_between(1, 3));
    RC_ASSERT(count(factorize(table, rule)).parameters >= low.parameters);
  });
}
