// The workload in a scenario's form. models/workload/ turns it into times and gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/layer_shape.hpp"
#include "models/part/profile.hpp"
#include "models/part/transformer_sizes.hpp"

namespace stepcast {

/// The distribution of a total backward time over the gradient tensors.
enum class BackwardSpread { even, elements };

template <>
struct Choices<BackwardSpread> {
  static constexpr std::array table = {
      Choice<BackwardSpread>{"even", BackwardSpread::even, "every tensor takes the same share"},
      Choice<BackwardSpread>{"elements", BackwardSpread::elements, "shares in proportion to elements"},
  };
};

/// The part of forward that backward computes again instead of keeping it (activation checkpointing: Chen et al. 2016,
/// arXiv:1604.06174).
enum class Recomputation { none, blocks };

template <>
struct Choices<Recomputation> {
  static constexpr std::array table = {
      Choice<Recomputation>{"none", Recomputation::none, "nothing: all that backward reads is kept"},
      Choice<Recomputation>{"blocks", Recomputation::blocks,
                            "each block: only its input is kept, and its forward runs again when backward reaches it"},
  };
};

struct GradientTensor {
  std::string name;
  std::int64_t elements = 0;
  std::optional<Seconds> gap;
  std::vector<std::int64_t> dims{};

  template <class V>
  static void describe(V& v, GradientTensor& x) {
    v.required("name", x.name, "the parameter's name");
    v.required("elements", x.elements, "its number of elements", between(1, 1e12));
    v.optional("gap", x.gap, "backward time between the previous gradient and this one being ready", non_negative);
    v.optional("dims", x.dims, "its dimensions, whose product is `elements`; empty: not known");
  }
  bool operator==(const GradientTensor&) const = default;
};

struct Layer {
  std::string name;
  Seconds forward{};
  Seconds backward{};
  std::vector<GradientTensor> gradients;
  std::optional<LayerShape> shape{};

  template <class V>
  static void describe(V& v, Layer& x) {
    v.required("name", x.name, "the layer's name");
    v.optional("forward", x.forward, "its forward time", non_negative);
    v.optional("backward", x.backward, "its backward time", non_negative);
    v.optional("gradients", x.gradients, "its parameters' gradients, in the order back-propagation finishes them");
    v.optional("shape", x.shape, "the layer's computation, instead of times and gradients, which follow from it");
  }
  bool operator==(const Layer&) const = default;
};

/// The arithmetic and state of the weight update.
enum class Optimizer { sgd, momentum, adam };

template <>
struct Choices<Optimizer> {
  static constexpr std::array table = {
      Choice<Optimizer>{"sgd", Optimizer::sgd, "w -= lr g; no state"},
      Choice<Optimizer>{"momentum", Optimizer::momentum, "one state vector"},
      Choice<Optimizer>{"adam", Optimizer::adam, "two state vectors"},
  };
};

/// Replaces each layer by two thinner ones, W = U V with r columns and rows. r = int(min(rows, columns) ratio) of the
/// unrolled weight (Pufferfish: Wang et al., MLSys 2021). models/workload/factorize.hpp has the rule.
struct Factorize {
  double rank_ratio = 0.25;
  std::string from;
  std::vector<std::string> keep;
  std::vector<std::string> stride_last;

  template <class V>
  static void describe(V& v, Factorize& x) {
    v.required("rank_ratio", x.rank_ratio, "rank over the smaller side of the unrolled weight", Limits{0.0, true, 1.0});
    v.optional("from", x.from, "the first layer to factorize, by name; empty: the first of the table");
    v.optional("keep", x.keep, "layers kept whole: names, or the names' beginnings up to a dot");
    v.optional("stride_last", x.stride_last, "convolutions whose stride goes to the second of the two, not the first");
  }
  bool operator==(const Factorize&) const = default;
};

/// A change to the whole table.
struct WorkloadVariant {
  std::string name;
  std::string description;
  std::optional<Factorize> factorize;
  bool fused_attention = false, composed = false;

  template <class V>
  static void describe(V& v, WorkloadVariant& x) {
    v.optional("name", x.name, "its name for `variant`");
    v.optional("description", x.description, "description and source");
    v.optional("factorize", x.factorize, "replace layers by products of two thinner ones");
    v.optional(
        "fused_attention", x.fused_attention,
        "all attention keeps its scores on the chip (FlashAttention), as PyTorch's scaled_dot_product_attention");
    v.optional("composed", x.composed,
               "all GELUs, norms without bias and rotary positions are simple operations with a kernel each");
  }
  bool operator==(const WorkloadVariant&) const = default;
};

/// Measured times of the whole network's passes and update. Shapes and a profile divide them among the layers. The
/// network is the table's layers, unfactorized and without recomputation. It ran with the table's `autocast`.
struct MeasuredTimes {
  std::optional<Seconds> forward, backward, update;
  std::optional<Optimizer> optimizer;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  DeviceProfile profile;

  template <class V>
  static void describe(V& v, MeasuredTimes& x) {
    v.optional("forward", x.forward, "time of a pass; null: as the profile forecasts", positive);
    v.optional("backward", x.backward, "time of a pass; null: as the profile forecasts", positive);
    v.optional("update", x.update,
               "time in a step; 0us: contained in the times of the passes; null: as the profile forecasts",
               non_negative);
    v.optional("optimizer", x.optimizer, "optimizer of that update; may be left out if the time is 0us");
    v.required("batch", x.batch, "samples of that pass", at_least(1));
    v.required("dtype", x.dtype, "type of its kernels' operands");
    v.required("profile", x.profile, "the device that it ran on");
  }
  bool operator==(const MeasuredTimes&) const = default;
};

/// The largest number of passes in a step.
inline constexpr int kMostAccumulation = 65536;

/// A layer table. It gives times in one of five forms:
///   layers       for each layer, in forward order: forward and backward time, gradient tensors
///   shapes       for each layer, its kind and shape: gradients come from the shape, times from `profile`, and from
///                `measured` if it has times of the whole network
///   transformer  the sizes of a transformer, which give the layers' shapes
///   gradients    in the order of back-propagation, each with its `gap`, and one `forward` total
///   totals       `forward` and `backward` totals, with `gradients` that have no gaps
struct WorkloadTable {
  std::string name;
  std::string description;
  std::string source;
  int batch = 1;
  int accumulation = 1;
  std::optional<std::int64_t> global_batch;
  std::string sample = "sample";
  Dtype dtype = Dtype::fp32;
  std::optional<Dtype> compute_dtype;
  bool autocast = false;
  bool mixed_by_default = false;  ///< take_as_mixed_precision filled in compute_dtype
  Recomputation recomputation = Recomputation::none;
  double recomputed_share = 1;
  std::optional<std::int64_t> parameters;
  std::optional<Seconds> forward;
  std::optional<Seconds> backward;
  BackwardSpread backward_spread = BackwardSpread::even;
  Seconds update{};
  Optimizer optimizer = Optimizer::momentum;
  bool fused_update = false;
  std::optional<DeviceProfile> profile;
  std::optional<MeasuredTimes> measured;
  std::optional<WorkloadVariant> variant;
  std::vector<WorkloadVariant> variants;
  std::optional<int> timed_batch;
  std::optional<Dtype> timed_dtype;
  std::optional<Transformer> transformer;
  std::vector<Layer> layers;
  std::vector<GradientTensor> gradients;

  template <class V>
  static void describe(V& v, WorkloadTable& x) {
    v.required("name", x.name, "its name in tables");
    v.optional("description", x.description, "description");
    v.optional("source", x.source, "source of times or shapes: measured (by whom, on what), assumed, datasheet");
    v.required("batch", x.batch, "samples per worker and pass", at_least(1));
    v.optional(
        "accumulation", x.accumulation,
        "passes (micro-batches) whose gradients are added before the exchange. A step of a worker has so many forward "
        "and backward passes of `batch` samples each, and one update; only the last pass overlaps with the exchange",
        between(1, kMostAccumulation));
    v.optional(
        "global_batch", x.global_batch,
        "samples of all workers in a step, a multiple of the number of workers. A worker's share is split into the "
        "least number of equal passes, at least `accumulation`, of at most `batch` samples each; null: every worker "
        "has `accumulation` passes of `batch`",
        between(1, 1e12));
    v.optional("sample", x.sample, "the name of a sample, for throughput: image, token, sentence");
    v.optional(
        "dtype", x.dtype,
        "type of gradients and parameters. With shapes, fp16 or bf16 alone means mixed precision: it becomes "
        "compute_dtype, and gradients, parameters and the update stay fp32. compute_dtype as well makes them narrow");
    v.optional(
        "compute_dtype", x.compute_dtype,
        "with shapes: type of the operands of forward and backward, if narrower than `dtype`. Parameters, gradients, "
        "their exchange and the update keep `dtype` (mixed precision); null: `dtype`");
    v.optional(
        "autocast", x.autocast,
        "with a compute_dtype narrower than `dtype`: as PyTorch's autocast has it. Norms, embeddings, losses and sums "
        "of branches keep `dtype`, and every pass casts weights, inputs of products and their gradients. Otherwise all "
        "kernels compute in compute_dtype, without casts");
    v.optional(
        "recomputation", x.recomputation,
        "with shapes: the parts of forward that are recomputed for backward, to save memory. A block's layers follow "
        "each other; their names agree up to the first part between dots that is a number, as for `grouping` per-block");
    v.optional(
        "recomputed_share", x.recomputed_share,
        "share of the blocks that are recomputed, spread evenly: 0.5 for every second one, 0 for none (selective "
        "checkpointing of layers)",
        between(0, 1));
    v.optional("parameters", x.parameters, "claimed number of parameters (without variant), checked against the table",
               at_least(1));
    v.optional("forward", x.forward, "forward time of the whole network", non_negative);
    v.optional("backward", x.backward, "backward time of the whole network", non_negative);
    v.optional("backward_spread", x.backward_spread, "how a backward total is spread over the gradients");
    v.optional("update", x.update, "time of the optimizer update; with shapes it follows from optimizer and profile",
               non_negative);
    v.optional("optimizer", x.optimizer,
               "the optimizer: it decides the state in the memory column, and with shapes the update's time");
    v.optional(
        "fused_update", x.fused_update,
        "with shapes: one kernel updates all tensors, as PyTorch's fused optimizers and Apex' have it, and not one each");
    v.optional("profile", x.profile, "with shapes: the device that layer times are for");
    v.optional(
        "measured", x.measured,
        "with layers' shapes: measured times of the whole network, unfactorized and without recomputation, with the "
        "table's `autocast`. Each layer's time is the profile's, times the measurement over its own profile's "
        "forecast");
    v.optional("variant", x.variant, "one of `variants` by name, a variant, or null: as the table stands");
    v.optional("variants", x.variants, "named variants of this table");
    v.optional("timed_batch", x.timed_batch,
               "with times: the batch they are for; null: `batch`. Filled in if a scenario changes a table's batch",
               at_least(1));
    v.optional("timed_dtype", x.timed_dtype,
               "with times: the dtype they are for; null: `dtype`. Filled in if a scenario changes a table's dtype");
    v.optional("transformer", x.transformer,
               "a transformer by its sizes, instead of layers: their shapes follow from these");
    v.optional("layers", x.layers, "layers in forward order, with times or with shapes");
    v.optional("gradients", x.gradients, "gradient tensors in the order back-propagation finishes them");
  }
  bool operator==(const WorkloadTable&) const = default;
};

/// Whether the table gives shapes instead of times.
inline bool gives_shapes(const WorkloadTable& table) {
  return table.transformer || (!table.layers.empty() && table.layers.front().shape.has_value());
}

/// With shapes, fp16 or bf16 as the only type means automatic mixed precision, as frameworks have it. Forward and
/// backward have operands of that type. Gradients, their exchange, parameters and the update stay fp32.
inline void take_as_mixed_precision(WorkloadTable& table) {
  if (!gives_shapes(table) || table.compute_dtype || size_of(table.dtype) == size_of(Dtype::fp32)) return;
  table.compute_dtype = std::exchange(table.dtype, Dtype::fp32);
  table.mixed_by_default = true;
}

/// The operand type of forward and backward.
inline Dtype compute_dtype_of(const WorkloadTable& table) { return table.compute_dtype.value_or(table.dtype); }

/// Whether forward and backward compute in a narrower type than parameters and gradients have: mixed precision.
inline bool is_mixed(const WorkloadTable& table) { return size_of(compute_dtype_of(table)) < size_of(table.dtype); }

/// Whether they have operands of both types, and cast them.
inline bool casts(const WorkloadTable& table) { return table.autocast && is_mixed(table); }

}  // namespace stepcast
