// What is trained, as a scenario writes it. models/workload/ turns it into times and gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/describe.hpp"

namespace stepcast {

enum class Dtype { fp32, fp16, bf16 };

template <>
struct Choices<Dtype> {
  static constexpr std::array table = {
      Choice<Dtype>{"fp32", Dtype::fp32, "4 bytes an element"},
      Choice<Dtype>{"fp16", Dtype::fp16, "2 bytes an element"},
      Choice<Dtype>{"bf16", Dtype::bf16, "2 bytes an element"},
  };
};

constexpr Bytes size_of(Dtype dtype) { return dtype == Dtype::fp32 ? 4_B : 2_B; }

/// How a backward time given as one total is spread over the gradient tensors.
enum class BackwardSpread { even, elements };

template <>
struct Choices<BackwardSpread> {
  static constexpr std::array table = {
      Choice<BackwardSpread>{"even", BackwardSpread::even, "every tensor takes the same share"},
      Choice<BackwardSpread>{"elements", BackwardSpread::elements, "shares in proportion to elements"},
  };
};

struct GradientTensor {
  std::string name;
  std::int64_t elements = 0;
  std::optional<Seconds> gap;

  template <class V>
  static void describe(V& v, GradientTensor& x) {
    v.required("name", x.name, "the parameter's name");
    v.required("elements", x.elements, "its number of elements", between(1, 1e12));
    v.optional("gap", x.gap, "backward time between the previous gradient and this one being ready", non_negative);
  }
  bool operator==(const GradientTensor&) const = default;
};

struct Layer {
  std::string name;
  Seconds forward{};
  Seconds backward{};
  std::vector<GradientTensor> gradients;

  template <class V>
  static void describe(V& v, Layer& x) {
    v.required("name", x.name, "the layer's name");
    v.optional("forward", x.forward, "its forward time", non_negative);
    v.optional("backward", x.backward, "its backward time", non_negative);
    v.optional("gradients", x.gradients, "its parameters' gradients, in the order back-propagation finishes them");
  }
  bool operator==(const Layer&) const = default;
};

/// A layer table with times. Times come in one of three forms:
///   layers     per layer, in forward order: forward and backward time, gradient tensors
///   gradients  in the order back-propagation finishes them, each with its `gap`, and one `forward` total
///   totals     `forward` and `backward` totals, with `gradients` that have no gaps
struct WorkloadTable {
  std::string name;
  std::string description;
  std::string source;
  int batch = 1;
  std::string sample = "sample";
  Dtype dtype = Dtype::fp32;
  std::optional<std::int64_t> parameters;
  std::optional<Seconds> forward;
  std::optional<Seconds> backward;
  BackwardSpread backward_spread = BackwardSpread::even;
  Seconds update{};
  std::vector<Layer> layers;
  std::vector<GradientTensor> gradients;

  template <class V>
  static void describe(V& v, WorkloadTable& x) {
    v.required("name", x.name, "what tables call it");
    v.optional("description", x.description, "what it is");
    v.optional("source", x.source, "where the times come from: measured (by whom, on what), assumed, datasheet");
    v.required("batch", x.batch, "samples per worker and step", at_least(1));
    v.optional("sample", x.sample, "what one sample is, for throughput: image, token, sentence");
    v.optional("dtype", x.dtype, "type of a gradient element");
    v.optional("parameters", x.parameters, "claimed number of parameters, checked against the table", at_least(1));
    v.optional("forward", x.forward, "forward time of the whole network", non_negative);
    v.optional("backward", x.backward, "backward time of the whole network", non_negative);
    v.optional("backward_spread", x.backward_spread, "how a backward total is spread over the gradients");
    v.optional("update", x.update, "time of the optimizer update", non_negative);
    v.optional("layers", x.layers, "layers in forward order, with their times");
    v.optional("gradients", x.gradients, "gradient tensors in the order back-propagation finishes them");
  }
  bool operator==(const WorkloadTable&) const = default;
};

}  // namespace stepcast
