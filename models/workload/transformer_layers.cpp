#include "models/workload/transformer_layers.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/unit/format.hpp"

namespace stepcast {
namespace {

class Expansion {
 public:
  explicit Expansion(const Transformer& transformer) : x_(transformer) {}

  std::vector<Layer> layers() && {
    add("embedding", Embedding{x_.vocabulary, x_.hidden, x_.sequence});
    if (x_.positions) {
      add("positions", Embedding{x_.sequence, x_.hidden, x_.sequence});
      add("positions.add", Add{x_.sequence * x_.hidden});
    }
    dropout("dropout");
    for (Count i = 0; i < x_.layers; ++i) block(fmt::format("block.{}", i));
    norm("norm");
    add("output", Linear{x_.hidden, x_.vocabulary, x_.sequence, false, x_.tied});
    add("loss", SoftmaxLoss{x_.vocabulary, x_.sequence, x_.fused_loss});
    return std::move(layers_);
  }

 private:
  void block(const std::string& name) {
    const Count d = x_.hidden, kv_heads = x_.kv_heads.value_or(x_.heads);
    norm(name + ".norm1");
    const Count keys = (d / x_.heads) * kv_heads;
    linear(name + ".qkv", d, d + 2 * keys);
    if (!x_.positions) add(name + ".rotary", Rotary{x_.sequence * (d + keys), x_.sequence * keys, x_.composed});
    add(name + ".attention", Attention{x_.heads, d, x_.sequence, {}, x_.kv_heads, x_.fused_attention, x_.causal});
    if (x_.dropout && !x_.fused_attention)
      add(name + ".attention.dropout", Activation{ActivationFunction::dropout, x_.heads * x_.sequence * x_.sequence});
    linear(name + ".projection", d, d);
    dropout(name + ".projection.dropout");
    add(name + ".add1", Add{x_.sequence * d});
    norm(name + ".norm2");
    feed_forward(name + ".ffn", x_.ffn.value_or(4 * d));
    dropout(name + ".ffn.dropout");
    add(name + ".add2", Add{x_.sequence * d});
  }

  void feed_forward(const std::string& name, Count width) {
    linear(name + (x_.gated ? ".gate" : ".up"), x_.hidden, width);
    if (!x_.gated) {
      add(name + ".activation", Activation{ActivationFunction::gelu, x_.sequence * width, x_.composed});
    } else {
      add(name + ".activation", Activation{ActivationFunction::silu, x_.sequence * width});
      linear(name + ".up", x_.hidden, width);
      add(name + ".product", Multiply{x_.sequence * width});
    }
    linear(name + ".down", width, x_.hidden);
  }

  void linear(std::string name, Count in, Count out) {
    add(std::move(name), Linear{in, out, x_.sequence, x_.bias, false});
  }
  void norm(std::string name) {
    add(std::move(name), LayerNorm{x_.hidden, x_.sequence, x_.bias, x_.composed && !x_.bias});
  }
  void dropout(std::string name) {
    if (x_.dropout) add(std::move(name), Activation{ActivationFunction::dropout, x_.sequence * x_.hidden});
  }
  void add(std::string name, LayerShape shape) { layers_.push_back({std::move(name), {}, {}, {}, std::move(shape)}); }

  const Transformer& x_;
  std::vector<Layer> layers_;
};

}  // namespace

std::vector<Layer> layers_of(const Transformer& transformer) { return Expansion(transformer).layers(); }

std::string composed_kinds(const Transformer& x) {
  std::vector<std::string_view> kinds;
  if (!x.bias) kinds.emplace_back("norms");
  if (!x.positions) kinds.emplace_back("rotary positions");
  if (!x.gated) kinds.emplace_back("GELUs");
  return enumerated(kinds);
}

WorkloadTable expand(WorkloadTable table) {
  if (!table.transformer) return table;
  table.layers = layers_of(*table.transformer);
  table.transformer.reset();
  return table;
}

void check_transformer(const Transformer& x, const std::string& pointer, std::vector<Fault>& faults) {
  if (x.hidden % x.heads != 0)
    faults.push_back({"", pointer + "/heads", fmt::format("{} heads of width {} together", x.heads, x.hidden),
                      "a divisor of hidden", ""});
  else if (const Count width = x.hidden / x.heads; !x.positions && width % 2 != 0)
    faults.push_back({"", pointer + "/heads", fmt::format("heads of width {} with rotary positions", width),
                      "an even width, since each position turns pairs of a head's elements",
                      "choose hidden and heads so, or give \"positions\": true"});
  if (x.kv_heads && x.heads % *x.kv_heads != 0)
    faults.push_back({"", pointer + "/kv_heads",
                      fmt::format("{} heads of keys and values for {} heads", *x.kv_heads, x.heads),
                      "a divisor of heads", "null stands for as many"});
}

}  // namespace stepcast
