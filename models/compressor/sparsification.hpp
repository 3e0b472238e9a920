// Sparsification sends few elements at full width, with their indices. Messages of different workers contain different
// elements. Only random-k messages can be summed, because a shared seed selects the same elements on all workers.
//
// k = max(1, floor(ratio·d)). If the number of sent elements depends on the data, its expected share is a field, and
// the plan reports the assumption. An index takes 4 bytes; 8 in GRACE for PyTorch (int64).
#pragma once

#include <optional>

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"
#include "models/part/evidence.hpp"

namespace stepcast {

/// Random-k, Stich et al. 2018: k random elements, the same on all workers: e·k bytes, summed by AllReduce.
/// GRACE: randomk.py (torch permutes all d indices to draw k). Default ratio: tensorflow/helper.py.
struct RandomK {
  static constexpr std::string_view kind = "random-k";
  static constexpr std::string_view meaning = "k elements drawn from a shared seed";
  double ratio = 0.01;
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  bool error_feedback = true;
  template <class V>
  static void describe(V& v, RandomK& x) {
    describe_ratio(v, x);
    describe_packing(v, x);
    describe_framework(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const RandomK&) const = default;
};

/// Top-k, Aji and Heafield 2017: the k largest magnitudes, (e + index)·k bytes. GRACE: topk.py.
struct TopK {
  static constexpr std::string_view kind = "top-k";
  static constexpr std::string_view meaning = "the k elements of largest magnitude";
  double ratio = 0.01;
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  bool error_feedback = true;
  template <class V>
  static void describe(V& v, TopK& x) {
    describe_ratio(v, x);
    describe_packing(v, x);
    describe_framework(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const TopK&) const = default;
};

/// Threshold-v, Dutta et al. 2020: elements above a fixed magnitude. A message has (e + index)·nnz bytes, and there is
/// an exchange of sizes. The number nnz = round(density·d) depends on the data. The threshold says which values the
/// density is of, and changes no time. The default density was recorded by the survey for ResNet-50 at threshold 0.01
/// without error feedback: 8,677,823.2 B / (8 B · 25,559,081) = 4.24 %. GRACE: threshold.py (dist pads messages to the
/// longest).
struct Threshold {
  static constexpr std::string_view kind = "threshold";
  static constexpr std::string_view meaning = "elements above a fixed magnitude";
  static constexpr double kRecordedDensity = 0.0424, kRecordedAt = 0.01;
  double density = kRecordedDensity;
  Evidence evidence = Evidence::assumed;
  std::optional<double> threshold{};
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  bool error_feedback = true;
  template <class V>
  static void describe(V& v, Threshold& x) {
    v.optional("density", x.density, "share of elements above the threshold", Limits{0.0, true, 1.0});
    v.optional("evidence", x.evidence, "what the density rests on");
    v.optional("threshold", x.threshold,
               "the magnitude that the density was found or assumed for; it changes no time; null: not stated",
               positive);
    describe_packing(v, x);
    describe_framework(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Threshold&) const = default;
};

/// Deep Gradient Compression, Lin et al. 2018: top-k by a threshold. A sample of 1 % gives a first estimate. Sweeps
/// over all d correct it until between 0.8 and 1.25 k (tensorflow) or 0.7 and 1.3 k (torch) elements pass. Momentum
/// correction keeps two vectors of d elements. A message has (e + index)·nnz bytes, and there is an exchange of sizes.
/// The number of elements is nnz = selected·k, with k = max(1, floor(ratio·d)). It depends on the data, and so does the
/// number of sweeps. Recorded for ResNet-50 at ratio 0.01: selected = 2,060,054.4/2,044,264 = 1.008. GRACE: dgc.py,
/// memory/dgc.py; at most 10 sweeps (torch), 20 (tensorflow). The assumed number of sweeps is ours.
struct Dgc {
  static constexpr std::string_view kind = "dgc";
  static constexpr std::string_view meaning = "deep gradient compression: sampled threshold, momentum correction";
  double ratio = 0.01;
  double selected = 1.0;
  int search_sweeps = 5;
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  template <class V>
  static void describe(V& v, Dgc& x) {
    describe_ratio(v, x);
    v.optional("selected", x.selected, "assumed elements sent, over k", Limits{0.0, true, 10.0});
    v.optional("search_sweeps", x.search_sweeps, "assumed sweeps that correct the threshold", between(0, 20));
    describe_packing(v, x);
    describe_framework(v, x);
  }
  bool operator==(const Dgc&) const = default;
};

/// Wangni et al. 2018: keeps element i with probability min(λ|g_i|, 1) and scales it to stay unbiased, so it needs no
/// error feedback. A message has (e + 4)·nnz bytes, nnz = density·d in expectation. Two sweeps find λ (the paper's
/// greedy algorithm 3 with two iterations). Not in GRACE. The default density is ours.
struct Wangni {
  static constexpr std::string_view kind = "wangni";
  static constexpr std::string_view meaning = "elements kept with probability in proportion to magnitude, unbiased";
  double density = 0.01;
  template <class V>
  static void describe(V& v, Wangni& x) {
    v.optional("density", x.density, "expected share of elements kept", Limits{0.0, true, 1.0});
  }
  bool operator==(const Wangni&) const = default;
};

CodecPlan plan(const RandomK&, const Tensor&);
CodecPlan plan(const TopK&, const Tensor&);
CodecPlan plan(const Threshold&, const Tensor&);
CodecPlan plan(const Dgc&, const Tensor&);
CodecPlan plan(const Wangni&, const Tensor&);

}  // namespace stepcast
