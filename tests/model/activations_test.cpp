// Activations kept for backward: by hand, against published sums, and what computing blocks again leaves of them.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/workload/activation_memory.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/workload.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

WorkloadTable table_of(std::vector<std::pair<std::string, LayerShape>> layers, int batch = 1,
                       Dtype dtype = Dtype::fp32) {
  WorkloadTable table;
  table.batch = batch;
  table.dtype = dtype;
  for (auto& [name, shape] : layers) table.layers.push_back({std::move(name), {}, {}, {}, std::move(shape)});
  return table;
}

WorkloadTable again(WorkloadTable table) {
  table.recomputation = Recomputation::blocks;
  return table;
}

WorkloadTable load(const char* network, const Json& over) {
  return load_workload(default_library() / "workloads" / (std::string(network) + ".json"), over, default_library());
}

Bytes activations(const WorkloadTable& table) { return activations_of(list_gradients(table)); }

/// A GPT of two blocks, dropout, scores in memory, everything in halves.
WorkloadTable gpt(int batch, Count s, Count h, Count heads, Count vocabulary) {
  WorkloadTable table;
  table.batch = batch;
  table.dtype = Dtype::fp16;
  table.transformer = Transformer{2, h, heads, {}, {}, false, vocabulary, s, true, true, true, true, false, true};
  return table;
}

}  // namespace

TEST_CASE("each kind of layer keeps the inputs of its backward pass") {
  // A layer alone reads its input from the sample; elements of 4 bytes.
  const auto kept = [](const LayerShape& shape) { return activations_of(table_of({{"a", shape}})); };
  CHECK(kept(Conv2d{3, 8, {3, 3}, 2, {1, 1}, 1, true, {10, 10}}) == 4_B * 300.0);
  CHECK(kept(ConvTranspose2d{3, 8, {2, 2}, 2, true, {10, 10}}) == 4_B * 300.0);
  CHECK(kept(Linear{7, 5, 3}) == 4_B * 21.0);
  // 6 steps keep input 4, output 5, four gates and a state 25. Ranks 2 and 3 in each of four gates add 20.
  CHECK(kept(Lstm{4, 5, 6}) == 4_B * (6 * (4 + 5 + 25.0)));
  CHECK(kept(Lstm{4, 5, 6, LstmTensors::gates, 2, 3}) == 4_B * (6 * (4 + 5 + 25 + 20.0)));
  // Two heads of 4 over 6 queries and 5 keys: q 48, k and v 40 each, scores 60. Fused: the output, 48, and 12 numbers
  // of fp32.
  CHECK(kept(Attention{2, 8, 6, 5}) == 4_B * (48 + 80 + 60.0));
  CHECK(kept(Attention{2, 8, 6, 5, {}, true}) == 4_B * (48 + 80 + 48 + 12.0));
  // One head of keys and values: k and v are 20 each.
  CHECK(kept(Attention{2, 8, 6, 5, 1}) == 4_B * (48 + 40 + 60.0));
  CHECK(kept(Embedding{1000, 8, 6}) == 8_B * 6.0);
  CHECK(kept(BatchNorm{3, {4, 4}}) == 4_B * 48.0);
  CHECK(kept(LayerNorm{8, 6}) == 4_B * 48.0 + 8_B * 6.0);
  for (const auto function : {ActivationFunction::relu, ActivationFunction::tanh, ActivationFunction::sigmoid,
                              ActivationFunction::gelu, ActivationFunction::silu})
    CHECK(kept(Activation{function, 10}) == 4_B * 10.0);
  CHECK(kept(Activation{ActivationFunction::dropout, 10}) == 10_B);
  // 3 x 4 x 4 in, 3 x 2 x 2 out.
  CHECK(kept(Pool{PoolFunction::max, 3, {2, 2}, 2, {0, 0}, {4, 4}}) == 4_B * 48.0 + 8_B * 12.0);
  CHECK(kept(Pool{PoolFunction::average, 3, {2, 2}, 2, {0, 0}, {4, 4}}) == 4_B * 48.0);
  CHECK(kept(Add{10}) == 0_B);
  CHECK(kept(Concat{10}) == 0_B);
  // Scores, probabilities and gradient in fp32. Halves also keep the scores beside them in fp32: 2 + 3·4 bytes.
  CHECK(kept(SoftmaxLoss{10, 3}) == 12_B * 30.0 + 8_B * 3.0);
  CHECK(activations_of(table_of({{"a", SoftmaxLoss{10, 3}}}, 1, Dtype::bf16)) == 14_B * 30.0 + 8_B * 3.0);
  CHECK(kept(SoftmaxLoss{10, 3, true}) == 8_B * 3.0);
}

TEST_CASE("norms and rotary positions by simple operations keep the operations' inputs") {
  // 3 rows of 4: 12 elements in fp32, their normalized values, a number of each row; the input itself where it
  // is in fp32.
  const auto kept = [](const LayerShape& shape, Dtype dtype) {
    return activations_of(table_of({{"a", shape}}, 1, dtype));
  };
  CHECK(kept(LayerNorm{4, 3, false, true}, Dtype::bf16) == 4_B * 12.0 + 2_B * 12.0 + 4_B * 3.0);
  CHECK(kept(LayerNorm{4, 3, false, true}, Dtype::fp32) == 4_B * 12.0 + 4_B * 12.0 + 4_B * 3.0);
  CHECK(kept(LayerNorm{4, 3, false, false}, Dtype::bf16) == 2_B * 12.0 + 8_B * 3.0);
  // Turned queries and keys take the place of the product's: 24 elements, and fused attention's output and statistics.
  const auto attends = [](bool turned) {
    std::vector<std::pair<std::string, LayerShape>> layers{{"qkv", Linear{8, 24}}};
    if (turned) layers.push_back({"rotary", Rotary{16, 8, true}});
    layers.push_back({"attention", Attention{2, 8, 1, {}, {}, true}});
    return activations_of(table_of(std::move(layers)));
  };
  CHECK(attends(true) == attends(false));
  CHECK(attends(true) == 4_B * (8 + 24 + 8 + 2.0));
}

TEST_CASE("a tensor with several readers is kept once, one without readers not at all") {
  // ReLU keeps its output, which the product reads; GELU its input, which is the product's output before it.
  CHECK(activations_of(
            table_of({{"a", Linear{4, 8}}, {"b", Activation{ActivationFunction::relu, 8}}, {"c", Linear{8, 2}}})) ==
        4_B * (4 + 8.0));
  CHECK(activations_of(
            table_of({{"a", Linear{4, 8}}, {"b", Activation{ActivationFunction::gelu, 8}}, {"c", Linear{8, 2}}})) ==
        4_B * (4 + 8 + 8.0));
  // First one product for q, k and v. Then one each, which all read the norm's output: x, norm, q, k, v, and the
  // projection's input.
  const Attention attention{2, 8, 6};
  const double scores = 2 * 36;
  CHECK(activations_of(
            table_of({{"qkv", Linear{8, 24, 6}}, {"attention", attention}, {"projection", Linear{8, 8, 6}}})) ==
        4_B * (48 + 144 + scores + 48));
  CHECK(activations_of(table_of({{"norm", LayerNorm{8, 6}},
                                 {"q", Linear{8, 8, 6}},
                                 {"k", Linear{8, 8, 6}},
                                 {"v", Linear{8, 8, 6}},
                                 {"attention", attention},
                                 {"projection", Linear{8, 8, 6}}})) == 4_B * (5 * 48 + scores + 48) + 8_B * 6.0);
  // Both factors of a gate.
  CHECK(activations_of(table_of({{"gate", Linear{4, 8}},
                                 {"silu", Activation{ActivationFunction::silu, 8}},
                                 {"up", Linear{4, 8}},
                                 {"product", Multiply{8}}})) == 4_B * (4 + 8 + 8 + 8.0));
  // Batches and types.
  CHECK(activations_of(table_of({{"a", Linear{4, 8}}}, 5, Dtype::fp16)) == 5 * 4 * 2_B);
  WorkloadTable mixed = table_of({{"a", Linear{4, 8}}});
  mixed.compute_dtype = Dtype::bf16;
  CHECK(activations_of(mixed) == 4 * 2_B);
}

TEST_CASE("a transformer's activations are Korthikanti's") {
  // Korthikanti et al. 2022, section 4.1: 34 s b h + 5 a s² b for a block in halves. The dropout of scores takes 3 a s²
  // b of them: a mask of 1 byte, which is counted here, and its output, which is not.
  const double b = 3, s = 64, h = 96, a = 4, v = 1000;
  const double block =
      34 * s * b * h + 3 * a * s * s * b + 2 * 8 * s * b;  // two norms' statistics, which they leave out
  // Indices of two embeddings, the mask after them, the last norm with its statistics, the output's input, 14 bytes for
  // each score, labels.
  const double rest =
      2 * 8 * s * b + s * b * h + 2 * s * b * h + 8 * s * b + 2 * s * b * h + 14 * s * b * v + 8 * s * b;
  const WorkloadTable table = gpt(3, 64, 96, 4, 1000);
  CHECK(activations(table).si() == 2 * block + rest);
  CHECK(make_workload(table).activations->si() == 2 * block + rest);
  WorkloadTable fused = table;
  fused.transformer->fused_loss = true;
  CHECK(activations(fused).si() == 2 * block + rest - 14 * s * b * v);
}

TEST_CASE("a ResNet-50 keeps its convolutions' and its ReLUs' outputs") {
  // Convolutions have 11,113,984 elements (timm's table: 11.11 M activations). ReLUs have 9,608,704, in stages of 3, 4,
  // 6, 3 blocks of widths 64, 128, 256, 512. The rest is the image, the maxima with their places, the means, three
  // numbers for each class, and a label.
  const double elements = 3 * 224 * 224 + 11113984.0 + 9608704 + 64 * 56 * 56 + 2048 + 3 * 1000,
               places = 64 * 56 * 56 + 1;
  CHECK(activations(load("resnet50", {{"batch", 2}})).si() == 2 * (4 * elements + 8 * places));
}

TEST_CASE("blocks are told by the first number of a name") {
  CHECK(block_of("encoder.layer.3.output.dense.weight") == "encoder.layer.3");
  CHECK(block_of("block.12") == "block.12");
  CHECK(block_of("conv1.weight").empty());
  CHECK(blocks_of(table_of({{"a", Add{1}},
                            {"b.0.x", Add{1}},
                            {"b.0.y", Add{1}},
                            {"b.1.x", Add{1}},
                            {"b.1.y", Add{1}},
                            {"c", Add{1}},
                            {"b.1.z", Add{1}}})
                      .layers) == std::vector<LayerRange>{{1, 3}, {3, 5}});
}

TEST_CASE("a recomputed block keeps its input") {
  // Blocks of 8 -> 32 -> 8 elements. Each keeps its 8 inputs. While its backward pass runs, it also has the recomputed
  // 32 before and 32 after the GELU. The fullest moment is at the last block. It has 8 for each input so far, and the
  // loss' probabilities are already read.
  const auto network = [](int blocks, Count classes) {
    std::vector<std::pair<std::string, LayerShape>> layers{{"first", Linear{4, 8}}};
    for (int i = 0; i < blocks; ++i) {
      const std::string block = fmt::format("block.{}.", i);
      layers.insert(layers.end(), {{block + "up", Linear{8, 32}},
                                   {block + "gelu", Activation{ActivationFunction::gelu, 32}},
                                   {block + "down", Linear{32, 8}}});
    }
    layers.insert(layers.end(), {{"last", Linear{8, classes}}, {"loss", SoftmaxLoss{classes}}});
    return table_of(std::move(layers));
  };
  CHECK(activations_of(network(3, 5)) == 4_B * (4 + 3 * (8 + 32 + 32) + 8 + 3 * 5.0) + 8_B);
  CHECK(activations_of(again(network(3, 5))) == 4_B * (4 + 3 * 8 + 64.0));
  // More classes than a block has activations: fullest at the end of forward.
  CHECK(activations_of(again(network(3, 100))) == 4_B * (4 + 3 * 8 + 8 + 3 * 100.0) + 8_B);
  // A network without blocks keeps all.
  const WorkloadTable plain = table_of({{"a", Linear{4, 8}}, {"b", Activation{ActivationFunction::relu, 8}}});
  CHECK(activations_of(again(plain)) == activations_of(plain));
  // A GPT's block keeps 2 s b h, as Korthikanti et al. say (section 5); here of 48 blocks, where that is most of it.
  WorkloadTable deep = gpt(1, 64, 96, 4, 1);
  deep.transformer->layers = 48;
  const double block = 34 * 64 * 96 + 3 * 4 * 64 * 64 + 2 * 8 * 64;
  // The recomputed block keeps only its input, which is kept anyway. The embeddings keep indices and mask.
  CHECK(activations(again(deep)).si() == 48 * 2 * 64 * 96 + (block - 2 * 64 * 96) + 2 * 8 * 64 + 64 * 96);
}

TEST_CASE("recomputed blocks are spread evenly") {
  std::vector<std::pair<std::string, LayerShape>> layers;
  for (int i = 0; i < 12; ++i)
    for (const char* part : {"x", "y"}) layers.emplace_back(fmt::format("b.{}.{}", i, part), Add{1});
  WorkloadTable table = table_of(std::move(layers));
  const auto indices = [&](double share) {
    table.recomputed_share = share;
    std::vector<std::size_t> blocks;
    for (const LayerRange& block : recomputed_blocks(table)) blocks.push_back(block.first / 2);
    return blocks;
  };
  CHECK(indices(1).empty());  // recomputation is none
  table.recomputation = Recomputation::blocks;
  CHECK(indices(1).size() == 12);
  CHECK(indices(0.5) == std::vector<std::size_t>{1, 3, 5, 7, 9, 11});
  CHECK(indices(1.0 / 3) == std::vector<std::size_t>{2, 5, 8, 11});
  CHECK(indices(0.75) == std::vector<std::size_t>{1, 2, 3, 5, 6, 7, 9, 10, 11});
  CHECK(indices(0.1) == std::vector<std::size_t>{9});
  CHECK(indices(0.01).empty());
}

TEST_CASE("blocks that are not recomputed keep all") {
  // Every second block of a deep GPT: 24 blocks keep all of theirs, 24 keep the 2 s h of their input.
  WorkloadTable deep = again(gpt(1, 64, 96, 4, 1));
  deep.transformer->layers = 48;
  deep.recomputed_share = 0.5;
  const double block = 34 * 64 * 96 + 3 * 4 * 64 * 64 + 2 * 8 * 64;
  // Fullest in the last block's backward, which is one that computes again; else as above.
  CHECK(activations(deep).si() == 24 * block + 24 * 2 * 64 * 96 + (block - 2 * 64 * 96) + 2 * 8 * 64 + 64 * 96);
}

TEST_CASE("a block's backward begins with its forward") {
  DeviceProfile profile;
  profile.peaks = {{Dtype::fp32, 1_TFLOPS, Evidence::assumed, "test"}};
  profile.memory_bandwidth.value = 100_GBps;
  const WorkloadTable table = table_of({{"first", Linear{4, 8}},
                                        {"b.0.up", Linear{8, 32}},
                                        {"b.0.down", Linear{32, 8}},
                                        {"b.1.up", Linear{8, 32}},
                                        {"b.1.down", Linear{32, 8}},
                                        {"last", Linear{8, 5}}},
                                       64);
  const WorkloadTable kept = time_layers(table, profile, 64), computed = time_layers(again(table), profile, 64);
  for (const std::size_t i : {0, 1, 3, 5}) CHECK(computed.layers[i] == kept.layers[i]);
  CHECK(computed.layers[2].backward == kept.layers[2].backward + kept.layers[1].forward + kept.layers[2].forward);
  CHECK(computed.layers[4].backward == kept.layers[4].backward + kept.layers[3].forward + kept.layers[4].forward);
  for (std::size_t i = 0; i < 6; ++i) CHECK(computed.layers[i].forward == kept.layers[i].forward);
}
