// A device's measured layers and kernels, and how far its roofline is from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/evidence.hpp"
#include "models/part/layer_shape.hpp"

namespace stepcast {

/// The sampling fields of an entry, which kernel and layer entries share.
template <class V, class Entry>
void describe_sampling(V& v, Entry& x) {
  v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  v.optional("iqr", x.iqr, "distance of the quartiles of single times over their median; null: not known",
             non_negative);
  v.optional("start_spread", x.start_spread,
             "largest less least of the medians of process starts, over the median; null: not known", non_negative);
  v.optional("samples", x.samples, "number of times behind the entry; null: unknown", at_least(1));
  v.optional("discarded", x.discarded, "times left out because the clock had dropped; null: not known", non_negative);
}

/// Measured times of one layer, used instead of the roofline. The roofline prices a part that is missing.
struct LayerEntry {
  LayerShape shape;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  std::optional<Seconds> forward, data_gradient, weight_gradient;
  Evidence evidence = Evidence::measured;
  std::string source;
  std::optional<double> spread{}, iqr{}, start_spread{};
  std::optional<std::int64_t> samples{}, discarded{};

  template <class V>
  static void describe(V& v, LayerEntry& x) {
    v.required("shape", x.shape, "the layer's computation");
    v.required("batch", x.batch, "samples that it was timed with", at_least(1));
    v.required("dtype", x.dtype, "type of the operands");
    v.optional("forward", x.forward, "forward time; null: by the roofline", positive);
    v.optional("data_gradient", x.data_gradient, "time of the input's gradient; null: by the roofline", positive);
    v.optional("weight_gradient", x.weight_gradient, "time of the parameters' gradients; null: by the roofline",
               positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the times");
    describe_sampling(v, x);
  }
  bool operator==(const LayerEntry&) const = default;
};

struct FlopsRange {
  Flops min{}, max{};

  template <class V>
  static void describe(V& v, FlopsRange& x) {
    v.required("min", x.min, "the least", non_negative);
    v.required("max", x.max, "the most", non_negative);
  }
  bool operator==(const FlopsRange&) const = default;
};

struct BytesRange {
  Bytes min{}, max{};

  template <class V>
  static void describe(V& v, BytesRange& x) {
    v.required("min", x.min, "the least", non_negative);
    v.required("max", x.max, "the most", non_negative);
  }
  bool operator==(const BytesRange&) const = default;
};

/// The range of kernels that the roofline was fitted on; outside it, the roofline extrapolates. Values are per kernel.
/// A layer part with several kernels counts as their mean: the roofline of n equal kernels is n times that of one.
struct FittedRange {
  Dtype dtype = Dtype::fp32;
  FlopsRange flops;
  BytesRange bytes;

  template <class V>
  static void describe(V& v, FittedRange& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("flops", x.flops, "operations of a kernel");
    v.required("bytes", x.bytes, "bytes that a kernel reads and writes");
  }
  bool operator==(const FittedRange&) const = default;
};

/// The roofline's own deviation for kernels of one type, apart from the spread of its constants; see judge_roofline()
/// in models/workload/spread.hpp.
struct RooflineSpread {
  Dtype dtype = Dtype::fp32;
  double spread = 0;
  int parts = 1;
  Evidence evidence = Evidence::measured;
  std::string source;

  template <class V>
  static void describe(V& v, RooflineSpread& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("spread", x.spread, "s: times by the roofline lie within a factor 1 + s of the kernels'", kSpread);
    v.required("parts", x.parts, "number of layers' parts behind it", at_least(1));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "the compared times");
  }
  bool operator==(const RooflineSpread&) const = default;
};

/// A point where the slope of a kernel's time changes.
struct RateKnot {
  Bytes bytes{};
  Seconds time{};

  template <class V>
  static void describe(V& v, RateKnot& x) {
    v.required("bytes", x.bytes, "bytes read and written", positive);
    v.required("time", x.time, "time for so many bytes, without arithmetic that has its own peak", positive);
  }
  bool operator==(const RateKnot&) const = default;
};

/// The error of a fit at sizes that it was not fitted on: |fitted - measured|/measured.
struct FitErrors {
  double median = 0, p90 = 0, largest = 0;
  int fitted = 0, held_out = 0;

  template <class V>
  static void describe(V& v, FitErrors& x) {
    v.required("median", x.median, "half of the sizes held out are nearer", non_negative);
    v.required("p90", x.p90, "nine tenths are nearer", non_negative);
    v.required("largest", x.largest, "the worst of them", non_negative);
    v.required("fitted", x.fitted, "times that the fit rests on", at_least(1));
    v.required("held_out", x.held_out, "times that judge it", at_least(1));
  }
  bool operator==(const FitErrors&) const = default;
};

/// Rates of one kernel of a compressor, or of an optimizer's update of one tensor. The time is piecewise linear in the
/// bytes: from (0, launch) through the knots, then at `bandwidth`. Without knots it is launch + bytes/bandwidth. With
/// its own peak, a kernel adds flops/peak. Without it, the time after `launch` is at least flops over the device's
/// peak.
struct KernelEntry {
  std::string name;
  Seconds launch{};
  BytesPerSecond bandwidth{};
  std::optional<FlopsPerSecond> peak;
  Evidence evidence = Evidence::measured;
  std::string source;
  std::vector<RateKnot> knots{};
  std::optional<BytesRange> range{};
  std::optional<FitErrors> errors{};
  std::optional<double> spread{}, iqr{}, start_spread{};
  std::optional<std::int64_t> samples{}, discarded{};

  template <class V>
  static void describe(V& v, KernelEntry& x) {
    v.required("name", x.name,
               "the kernel, as compressors call it; with its method, such as decode/qsgd, for that method alone; or an "
               "update and its type, such as sgd_momentum-update/bf16");
    v.required("launch", x.launch, "time it takes whatever it does", non_negative);
    v.required("bandwidth", x.bandwidth, "bytes read and written per second, large tensors", positive);
    v.optional("peak", x.peak, "operations per second, their time added; null: the device's, the longer time taken",
               positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the numbers");
    v.optional("knots", x.knots, "the bends of the time, in order of bytes; empty: one straight line");
    v.optional("range", x.range, "bytes of the sizes measured; beyond them it is an extrapolation; null: not known");
    v.optional("errors", x.errors, "error of the fit, on sizes held out; null: unknown");
    describe_sampling(v, x);
  }
  bool operator==(const KernelEntry&) const = default;
};

}  // namespace stepcast
