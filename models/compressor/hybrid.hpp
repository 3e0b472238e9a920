// Hybrids of quantization and sparsification, in the survey's classification.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// Adaptive quantization, Dryden et al. 2016: sends the largest share `ratio` of the positive elements, and likewise of
/// the negative ones. Each group is represented by its mean. A message has two means, one count and an int32 index for
/// each sent element: 4·(3 + n₊ + n₋) bytes, and an exchange of sizes. The number n₊ + n₋ = selected·ratio·d depends on
/// the data (GRACE accepts 0.8 to 1.25). A threshold is searched once for each sign. Recorded for ResNet-50 at ratio
/// 0.01: selected = (1,053,961.2/4 - 3·161)/(0.01·25,559,081) = 1.029. GRACE: adaq.py (tensorflow only).
struct Adaptive {
  static constexpr std::string_view kind = "adaptive";
  static constexpr std::string_view meaning = "largest positive and largest negative elements, each group by its mean";
  double ratio = 0.01;
  double selected = 1.0;
  int search_sweeps = 5;
  Packing packing = Packing::ideal;
  bool error_feedback = true;
  template <class V>
  static void describe(V& v, Adaptive& x) {
    describe_ratio(v, x);
    v.optional("selected", x.selected, "assumed elements sent, over ratio·d", Limits{0.0, true, 10.0});
    v.optional("search_sweeps", x.search_sweeps, "assumed sweeps that correct each sign's threshold", between(0, 20));
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Adaptive&) const = default;
};

/// SketchML, Jiang et al. 2018, in the survey's version. Each element becomes the number of its quantile, and a mean
/// represents each quantile. A message has ceil(lg q) bits per element and 4q bytes; grace uses 1 byte per element for
/// q < 256, else 2. The quantiles need a sort of all d elements. GRACE: sketch.py (tensorflow only, q = 64).
struct SketchMl {
  static constexpr std::string_view kind = "sketchml";
  static constexpr std::string_view meaning = "each element by the mean of its quantile";
  int quantiles = 64;
  Packing packing = Packing::ideal;
  bool error_feedback = true;
  template <class V>
  static void describe(V& v, SketchMl& x) {
    v.optional("quantiles", x.quantiles, "q: quantiles, each with its mean", between(2, 65536));
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const SketchMl&) const = default;
};

/// 3LC, Lim et al. 2019: rounds to -1, 0, 1 times a scale and packs five values in a byte (3⁵ = 243). A run of 2 to 14
/// zero bytes becomes one byte. A message has 4 + ceil(ceil(d/5)/run_length_gain) bytes, unequal between workers. The
/// gain depends on the data: from 1 (no zeros) to 14 (only zeros). The default is 1, so a message is never shorter than
/// was shown. Error feedback is part of the method. Not in GRACE.
struct ThreeLc {
  static constexpr std::string_view kind = "3lc";
  static constexpr std::string_view meaning =
      "ternary values, five to a byte, zero runs shortened, with error feedback";
  double run_length_gain = 1.0;
  template <class V>
  static void describe(V& v, ThreeLc& x) {
    v.optional("run_length_gain", x.run_length_gain, "assumed bytes before over bytes after shortening runs of zeros",
               between(1, 14));
  }
  bool operator==(const ThreeLc&) const = default;
};

/// Qsparse-local-SGD, Basu et al. 2019: the k largest elements of the change by `local_steps` steps, quantized with s
/// levels of their norm (QSGD). Once in `local_steps` steps it sends k·4 bytes of indices, ceil(k·ceil(lg(2s+1))/8) of
/// levels and 4 of the norm. Error feedback is part of the method. Not in GRACE; the defaults are ours.
struct QsparseLocalSgd {
  static constexpr std::string_view kind = "qsparse-local-sgd";
  static constexpr std::string_view meaning = "top-k, quantized, after local steps, with error feedback";
  double ratio = 0.01;
  int levels = 15;
  int local_steps = 1;
  template <class V>
  static void describe(V& v, QsparseLocalSgd& x) {
    describe_ratio(v, x);
    v.optional("levels", x.levels, "s: levels of magnitude", between(1, 32767));
    v.optional("local_steps", x.local_steps, "H: steps from one exchange to the next", between(1, 10000));
  }
  bool operator==(const QsparseLocalSgd&) const = default;
};

CodecPlan plan(const Adaptive&, const Tensor&);
CodecPlan plan(const SketchMl&, const Tensor&);
CodecPlan plan(const ThreeLc&, const Tensor&);
CodecPlan plan(const QsparseLocalSgd&, const Tensor&);

}  // namespace stepcast
