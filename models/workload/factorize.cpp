#include "models/workload/factorize.hpp"

#include <algorithm>

#include "models/workload/layer_work.hpp"

namespace stepcast {
namespace {

Count rank_of(Count rows, Count columns, double ratio) {
  return std::max<Count>(1, static_cast<Count>(static_cast<double>(std::min(rows, columns)) * ratio));
}

bool covered(const std::vector<std::string>& prefixes, const std::string& name) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return covers(prefix, name); });
}

struct Split {
  const Layer& layer;
  const Factorize& rule;
  std::vector<Layer>& layers;

  void two(LayerShape first, LayerShape second) {
    layers.push_back({layer.name + ".u", {}, {}, {}, std::move(first)});
    layers.push_back({layer.name + ".v", {}, {}, {}, std::move(second)});
  }

  void operator()(const Conv2d& x) {
    if (x.groups != 1) return (void)layers.push_back(layer);
    const Count rank = rank_of(x.out, x.in * x.kernel[0] * x.kernel[1], rule.rank_ratio);
    const bool stride_last = covered(rule.stride_last, layer.name);
    Conv2d first = x;
    first.out = rank;
    first.bias = false;
    if (stride_last) first.stride = 1;
    Conv2d second;
    second.in = rank;
    second.out = x.out;
    second.bias = x.bias;
    second.stride = stride_last ? x.stride : 1;
    second.input = window_output(first.input, first.kernel, first.stride, first.padding);
    two(first, second);
  }
  void operator()(const Linear& x) {
    if (x.tied) return (void)layers.push_back(layer);
    Linear first = x, second = x;
    first.out = second.in = rank_of(x.out, x.in, rule.rank_ratio);
    first.bias = false;
    two(first, second);
  }
  void operator()(const Lstm& x) {
    Lstm low = x;
    low.input_rank = rank_of(x.hidden, x.input, rule.rank_ratio);
    low.hidden_rank = rank_of(x.hidden, x.hidden, rule.rank_ratio);
    layers.push_back(layer);
    layers.back().shape = low;
  }
  template <class Other>
  void operator()(const Other&) {
    layers.push_back(layer);
  }
};

}  // namespace

bool covers(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
}

WorkloadTable factorize(const WorkloadTable& table, const Factorize& rule) {
  WorkloadTable result = table;
  result.layers.clear();
  result.parameters.reset();
  bool begun = rule.from.empty();
  for (const Layer& layer : table.layers) {
    begun = begun || covers(rule.from, layer.name);
    if (begun && layer.shape && !covered(rule.keep, layer.name))
      std::visit(Split{layer, rule, result.layers}, *layer.shape);
    else result.layers.push_back(layer);
  }
  return result;
}

}  // namespace stepcast
