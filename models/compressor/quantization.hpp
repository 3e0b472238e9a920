// Quantization: every element is sent, in fewer bits. One code per element, so that a message has the same size on
// every worker and the decode of a message writes all d elements.
//
// Sources: the papers named at each method; "grace" packing and defaults from GRACE, the implementation of the
// survey (sands-lab/grace, commit fd3a7f42, grace_dl/{tensorflow,torch,dist}/compressor).
#pragma once

#include <optional>

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// Cast to half precision: 2d bytes, and nothing to do where gradients already have 2 bytes an element.
/// Sums stay in half precision, so AllReduce may carry it. GRACE: fp16.py.
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

/// Dettmers 2016 (8-bit approximations): x/max|x| looked up in a 128-entry table of dynamic exponents, with its
/// sign: d bytes and the 4-byte scale. GRACE: u8bit.py.
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

/// 1-bit SGD, Seide et al. 2014: the sign of each element, and the means of the elements below and not below zero:
/// ceil(d/8) + 8 bytes; grace d + 8. Error feedback is part of the method. GRACE: onebit.py.
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

/// SignSGD, Bernstein et al. 2018: signs only, ceil(d/8) bytes; grace d. Workers add the p sign vectors and take
/// the sign again (majority vote), which AllReduce of one bit cannot do. GRACE: signsgd.py.
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

/// SIGNUM, Bernstein et al. 2019: SignSGD of the momentum v ← μv + (1-μ)g, whose d elements are read and written
/// while encoding. GRACE: signum.py (μ = 0.9).
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

/// EF-SignSGD, Karimireddy et al. 2019: signs times mean|x|: ceil(d/8) + 4 bytes; grace d + 4. Error feedback is
/// part of the method. GRACE: efsignsgd.py.
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

/// QSGD, Alistarh et al. 2017: sign(x)·|x|₂·ξ with ξ on a grid of s levels, rounded at random.
/// One norm (4 bytes) per bucket of b elements, or per tensor. Of the 2s+1 values: ceil(lg(2s+1)) bits each (the
/// paper's Elias code, shorter still, depends on the data); grace 1 byte for s < 128, else 2.
/// GRACE: qsgd.py; tensorflow and torch one norm per tensor, dist one per bucket (128 by default).
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

/// TernGrad, Wen et al. 2017: clipped at 2.5 standard deviations, then -1, 0 or 1 times the largest, at random:
/// 2 bits an element and 4 bytes; grace d + 4. GRACE: terngrad.py; torch reads two scalars back to the host.
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

/// Natural compression, Horváth et al. 2019: sign and the 8 exponent bits of fp32, 9 bits an element;
/// random rounding to a power of two. ceil(9d/8) bytes; with 7 exponent bits, as GRACE's natural.py sends them, d.
struct Natural {
  static constexpr std::string_view kind = "natural";
  static constexpr std::string_view meaning = "random rounding to powers of two: sign and exponent";
  std::optional<int> exponent_bits{};
  Packing packing = Packing::ideal;
  bool error_feedback = false;
  /// Of a code on the wire: the sign and its exponent.
  [[nodiscard]] int code_bits() const { return 1 + exponent_bits.value_or(packing == Packing::grace ? 7 : 8); }
  template <class V>
  static void describe(V& v, Natural& x) {
    v.optional("exponent_bits", x.exponent_bits,
               "of a code, beside its sign: 8, all of fp32's, or 7, clipped; null: 8, with packing grace 7",
               between(7, 8));
    describe_packing(v, x);
    describe_feedback(v, x);
  }
  bool operator==(const Natural&) const = default;
};

/// INCEPTIONN, Li et al. 2018: by its exponent an element takes 32, 16, 8 or no bits, and a 2-bit tag tells which:
/// 4·n32 + 2·n16 + n8 + ceil(d/4) bytes, grace floor(d/4) + 1 tag bytes (it pads by 4 - d mod 4, four even when d
/// divides by 4). The three counts depend on the data and are given as shares of d. Default: no element keeps 16 or
/// 32 bits and 36.76 % take 8, which is what the recorded ResNet-50 run sends on the whole:
/// (15,785,250.6 - d/4)/d with d = 25,559,081 and GRACE's error bound 2e-10. GRACE: inceptionn.py (tensorflow only).
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
