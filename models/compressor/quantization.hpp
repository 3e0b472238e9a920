// Quantization sends every element in fewer bits, with one code per element. A message has the same size on every
// worker, and its decoding writes all d elements.
//
// Sources: the paper of each method. Packing "grace" and the defaults come from GRACE, the survey's implementation
// (sands-lab/grace, commit fd3a7f42, grace_dl/{tensorflow,torch,dist}/compressor).
#pragma once

#include <optional>

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// Cast to half precision: 2d bytes, and no work for gradients that already have 2 bytes per element.
/// Sums stay in half precision, so AllReduce may carry the messages. GRACE: fp16.py.
struct Fp16 {
  static constexpr std::string_view kind = "fp16";
  static constexpr std::string_view meaning = "cast to half precision, summed in half precision";
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, Fp16& x) {
    describe_feedback(v, x);
  }
  bool operator==(const Fp16&) const = default;
};

/// Dettmers 2016 (8-bit approximations): x/max|x| is looked up in a 128-entry table of dynamic exponents and gets its
/// sign. A message has d bytes and the 4-byte scale. GRACE: u8bit.py.
struct EightBit {
  static constexpr std::string_view kind = "8-bit";
  static constexpr std::string_view meaning = "8-bit floating point relative to the largest element";
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, EightBit& x) {
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const EightBit&) const = default;
};

/// 1-bit SGD, Seide et al. 2014: the sign of each element, and the means of the elements below zero and of the others.
/// A message has ceil(d/8) + 8 bytes, grace d + 8. Error feedback is part of the method. GRACE: onebit.py.
struct OneBit {
  static constexpr std::string_view kind = "1-bit";
  static constexpr std::string_view meaning = "1-bit SGD: signs and the two means, with error feedback";
  Packing packing = Packing::ideal;
  template <class V>
  static void describe(V& v, OneBit& x) {
    describe_packing(v, x);
  }
  bool operator==(const OneBit&) const = default;
};

/// SignSGD, Bernstein et al. 2018: signs only, ceil(d/8) bytes; grace d. Workers add the p sign vectors and take the
/// sign again (majority vote). AllReduce of single bits cannot do this. GRACE: signsgd.py.
struct SignSgd {
  static constexpr std::string_view kind = "signsgd";
  static constexpr std::string_view meaning = "signs of the gradient, majority vote";
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, SignSgd& x) {
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const SignSgd&) const = default;
};

/// SIGNUM, Bernstein et al. 2019: SignSGD of the momentum v ← μv + (1-μ)g. Encoding reads and writes its d elements.
/// GRACE: signum.py (μ = 0.9).
struct Signum {
  static constexpr std::string_view kind = "signum";
  static constexpr std::string_view meaning = "signs of the momentum, majority vote";
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, Signum& x) {
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Signum&) const = default;
};

/// EF-SignSGD, Karimireddy et al. 2019: signs times mean|x|, ceil(d/8) + 4 bytes; grace d + 4. Error feedback is part
/// of the method. GRACE: efsignsgd.py.
struct EfSignSgd {
  static constexpr std::string_view kind = "ef-signsgd";
  static constexpr std::string_view meaning = "signs scaled by the mean magnitude, with error feedback";
  Packing packing = Packing::ideal;
  template <class V>
  static void describe(V& v, EfSignSgd& x) {
    describe_packing(v, x);
  }
  bool operator==(const EfSignSgd&) const = default;
};

/// QSGD, Alistarh et al. 2017: sign(x)·|x|₂·ξ with ξ rounded at random to a grid of s levels. Each bucket of b
/// elements, or the tensor, has one norm (4 bytes). The 2s+1 values take ceil(lg(2s+1)) bits each; grace 1 byte for s <
/// 128, else 2. The paper's Elias code is shorter still and depends on the data. GRACE: qsgd.py; tensorflow and torch
/// have one norm per tensor, dist one per bucket (128 by default).
struct Qsgd {
  static constexpr std::string_view kind = "qsgd";
  static constexpr std::string_view meaning = "random rounding to levels of the norm";
  int levels = 127;
  std::optional<int> bucket{};
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, Qsgd& x) {
    v.optional("levels", x.levels, "s: levels of magnitude", between(1, 32767));
    v.optional("bucket", x.bucket, "b: elements that share a norm; null: the tensor (GRACE dist: 128)", at_least(1));
    describe_packing(v, x);
    describe_framework(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Qsgd&) const = default;
};

/// TernGrad, Wen et al. 2017: clips at 2.5 standard deviations, rounds at random to -1, 0 or 1 times the maximum: 2
/// bits per element and 4 bytes; grace d + 4. GRACE: terngrad.py; torch reads two scalars back to the host.
struct TernGrad {
  static constexpr std::string_view kind = "terngrad";
  static constexpr std::string_view meaning = "random rounding to -1, 0, 1 times the largest element";
  Packing packing = Packing::ideal;
  Framework framework = Framework::tensorflow;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, TernGrad& x) {
    describe_packing(v, x);
    describe_framework(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const TernGrad&) const = default;
};

/// Natural compression, Horváth et al. 2019: random rounding to a power of two. Sign and the 8 exponent bits of fp32: 9
/// bits per element, ceil(9d/8) bytes. GRACE's natural.py sends 7 exponent bits: d bytes.
struct Natural {
  static constexpr std::string_view kind = "natural";
  static constexpr std::string_view meaning = "random rounding to powers of two: sign and exponent";
  std::optional<int> exponent_bits{};
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  /// Bits of a code in a message: the sign and the exponent.
  [[nodiscard]] int code_bits() const { return 1 + exponent_bits.value_or(packing == Packing::grace ? 7 : 8); }
  template <class V>
  static void describe(V& v, Natural& x) {
    v.optional(
        "exponent_bits", x.exponent_bits,
        "exponent bits of a code, beside its sign: 8, all of fp32's, or 7, clipped; null: 8, with packing grace 7",
        between(7, 8));
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Natural&) const = default;
};

/// INCEPTIONN, Li et al. 2018: an element takes 32, 16, 8 or no bits, depending on its exponent; a 2-bit tag gives the
/// width. A message has 4·n32 + 2·n16 + n8 + ceil(d/4) bytes. grace has floor(d/4) + 1 tag bytes (it pads by 4 - d mod
/// 4, four even if 4 divides d). The three counts depend on the data and are given as shares of d. By default, no
/// element keeps 16 or 32 bits and 36.76 % take 8. The recorded ResNet-50 run sends as much in total: (15,785,250.6 -
/// d/4)/d with d = 25,559,081 and GRACE's error bound 2e-10. GRACE: inceptionn.py (tensorflow only).
struct Inceptionn {
  static constexpr std::string_view kind = "inceptionn";
  static constexpr std::string_view meaning = "32, 16, 8 or 0 bits by exponent, with 2-bit tags";
  double share_32 = 0.0;
  double share_16 = 0.0;
  double share_8 = 0.3676;
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, Inceptionn& x) {
    v.optional("share_32", x.share_32, "assumed share of elements that keep 32 bits", between(0, 1));
    v.optional("share_16", x.share_16, "assumed share of elements in 16 bits", between(0, 1));
    v.optional("share_8", x.share_8, "assumed share of elements in 8 bits", between(0, 1));
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Inceptionn&) const = default;
};

CodecPlan plan(const Fp16&, const Tensor&);
CodecPlan plan(const EightBit&, const Tensor&);
CodecPlan plan(const OneBit&, const Tensor&);
CodecPlan plan(const SignSgd&, const Tensor&);
CodecPlan plan(const Signum&, const Tensor&);
CodecPlan plan(const EfSignSgd&, const Tensor&);
CodecPlan plan(const Qsgd&, const Tensor&);
CodecPlan plan(const TernGrad&, const Tensor&);
CodecPlan plan(const Natural&, const Tensor&);
CodecPlan plan(const Inceptionn&, const Tensor&);

}  // namespace stepcast
