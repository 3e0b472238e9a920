// Constants of one kind of kernel on a device, fitted to measured kernels of many sizes. They take the roofline's place
// for that kind. models/workload/kernel_time.hpp has the formula.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/evidence.hpp"
#include "models/part/measured_kernels.hpp"

namespace stepcast {

/// The computation of a kernel. Kernels of one kind share their constants.
enum class KernelKind {
  product,
  convolution,
  attention,
  norm,
  batch_norm,
  elementwise,
  pool,
  softmax,
  embedding,
  recurrent
};

template <>
struct Choices<KernelKind> {
  static constexpr std::array table = {
      Choice<KernelKind>{"product", KernelKind::product,
                         "matrix product: linear layers, attention with its scores in memory"},
      Choice<KernelKind>{"convolution", KernelKind::convolution, "convolution, as the product that it amounts to"},
      Choice<KernelKind>{"attention", KernelKind::attention, "fused attention, whose scores stay on the chip"},
      Choice<KernelKind>{"norm", KernelKind::norm, "normalization of rows"},
      Choice<KernelKind>{
          "batch_norm", KernelKind::batch_norm,
          "normalization of channels over the batch, each by one block; without entries: as elementwise"},
      Choice<KernelKind>{"elementwise", KernelKind::elementwise, "activations, sums, products, copies, biases"},
      Choice<KernelKind>{"pool", KernelKind::pool, "maxima or means of windows"},
      Choice<KernelKind>{"softmax", KernelKind::softmax, "softmax of scores in memory, and the loss"},
      Choice<KernelKind>{"embedding", KernelKind::embedding, "rows of a table, read or added to"},
      Choice<KernelKind>{"recurrent", KernelKind::recurrent, "all kernels of an LSTM layer over its steps"},
  };
};

enum class KernelPass { forward, data_gradient, weight_gradient };

template <>
struct Choices<KernelPass> {
  static constexpr std::array table = {
      Choice<KernelPass>{"forward", KernelPass::forward, "the layer's output"},
      Choice<KernelPass>{"data_gradient", KernelPass::data_gradient, "the gradient of its input"},
      Choice<KernelPass>{"weight_gradient", KernelPass::weight_gradient, "the gradient of its parameters"},
  };
};

/// How the tiles of a product fill the device's processors.
struct Tiling {
  double half_tile = 1;
  Seconds wave{};
  double tail = 1;
  Seconds split{};

  template <class V>
  static void describe(V& v, Tiling& x) {
    v.required("half_tile", x.half_tile,
               "a: a tile of h x w elements reaches share/(1 + (a/A)²) of the peak, A = h·w/(h + w)", between(0, 1e4));
    v.required("wave", x.wave, "time that each wave of tiles takes besides its arithmetic", non_negative);
    v.required("tail", x.tail, "part of the last wave's idle processors that counts: 1 all, 0 none", between(0, 1));
    v.required("split", x.split, "time to sum the parts of a product that is split along its depth", non_negative);
  }
  bool operator==(const Tiling&) const = default;
};

/// Factors on the time of a product of m x k and k x n, at the knots of a grid. In between, their logarithm is linear in
/// those of m, n and k; outside, the nearest knot counts.
struct ShapeFactors {
  std::vector<double> m, n, k;
  std::vector<double> factors;  ///< m·n·k of them, that of the last knot of k beside that of the one before

  template <class V>
  static void describe(V& v, ShapeFactors& x) {
    v.required("m", x.m, "knots of m, increasing", at_least(1));
    v.required("n", x.n, "knots of n, increasing", at_least(1));
    v.required("k", x.k, "knots of k, increasing", at_least(1));
    v.required("factors", x.factors, "measured over modelled time at each knot, k changing first, m last",
               between(0.01, 100));
  }
  bool operator==(const ShapeFactors&) const = default;
};

/// Products whose matrices have rows that are multiples of `alignment`, a power of two, and of no more. Kernels that copy
/// 16 bytes at once cannot be used for them.
struct Misaligned {
  Bytes alignment{};
  double slowdown = 1;

  template <class V>
  static void describe(V& v, Misaligned& x) {
    v.required("alignment", x.alignment, "rows of the matrices are multiples of it, and of no more: 2B, 4B or 8B",
               between(2, 8));
    v.required("slowdown", x.slowdown, "they reach share/slowdown of the peak", between(1, 100));
  }
  bool operator==(const Misaligned&) const = default;
};

struct KernelModel {
  KernelKind kind = KernelKind::product;
  Dtype dtype = Dtype::fp32;
  std::optional<KernelPass> pass{};
  Seconds launch{};
  double share = 1, memory_share = 1, bend = 4;
  std::optional<double> half_m{}, half_k{}, cached_k{};
  std::optional<Tiling> tiling{};
  std::optional<ShapeFactors> factors{};
  std::vector<Misaligned> misaligned{};
  std::optional<FlopsRange> flops{};
  std::optional<BytesRange> bytes{};
  Evidence evidence = Evidence::measured;
  std::string source;
  std::optional<FitErrors> errors{};
  std::optional<double> spread{};

  template <class V>
  static void describe(V& v, KernelModel& x) {
    v.required("kind", x.kind, "kind of the kernels");
    v.required("dtype", x.dtype, "type of the operands");
    v.optional("pass", x.pass, "the pass that they belong to; null: any that has no entry of its own");
    v.required("launch", x.launch, "time a kernel takes whatever it does", non_negative);
    v.optional("share", x.share, "share of the peak that large kernels reach", Limits{0.0, true, 10.0});
    v.required("memory_share", x.memory_share,
               "share of the memory's bandwidth that large kernels reach, by the bytes that stepcast counts",
               Limits{0.0, true, 10.0});
    v.optional("bend", x.bend, "how sharply arithmetic gives way to traffic, as `bend` of the profile", between(1, 64));
    v.optional(
        "half_m", x.half_m,
        "positions of attention, channels of batch norm, or rows of other norms, whose kernels reach half of the share; "
        "null: 0",
        non_negative);
    v.optional("half_k", x.half_k,
               "depth, width of a head, or width of a norm's rows, whose kernels reach half of the share; null: 0",
               non_negative);
    v.optional("cached_k", x.cached_k,
               "width of a norm's rows of which half is still in a processor's cache when it is read again; null: 0",
               positive);
    v.optional("tiling", x.tiling, "how tiles fill the processors; null: the arithmetic is spread evenly");
    v.optional("factors", x.factors, "measured over modelled times by shape; null: 1");
    v.optional("misaligned", x.misaligned,
               "slowdowns of products of odd sizes, by alignment; in between, logarithms are linear; empty: not known");
    v.optional("flops", x.flops, "operations of the kernels behind it; null: not known");
    v.optional("bytes", x.bytes, "bytes of the kernels behind it; null: not known");
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the times are from");
    v.optional("errors", x.errors, "error on kernels held out, whole families of shapes; null: not known");
    v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  }
  bool operator==(const KernelModel&) const = default;
};

/// The share of a lone kernel's rates that one in the middle of a step keeps.
struct SustainedShare {
  double value = 1;
  std::vector<KernelKind> kinds{};
  std::optional<Dtype> dtype{};
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, SustainedShare& x) {
    v.required("value", x.value, "the share, 1 being all", Limits{0.0, true, 1.0});
    v.optional("kinds", x.kinds, "kinds of kernels that it holds for; others keep all; empty: it holds for all kinds");
    v.optional("dtype", x.dtype, "type of the models that it holds for; null: it holds for all types");
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
  }
  [[nodiscard]] bool holds_for(const KernelModel& model) const {
    return (kinds.empty() || std::find(kinds.begin(), kinds.end(), model.kind) != kinds.end()) &&
           (!dtype || *dtype == model.dtype);
  }
  /// The share that kernels of one model keep.
  [[nodiscard]] double of(const KernelModel& model) const { return holds_for(model) ? value : 1; }
  bool operator==(const SustainedShare&) const = default;
};

}  // namespace stepcast
