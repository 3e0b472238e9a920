// Low rank: a tensor with at least two dimensions is a matrix M of n = shape[0] rows and m columns, sent as factors. A
// tensor with one dimension is sent uncompressed by AllReduce.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// PowerSGD, Vogels et al. 2019, rank r: one power iteration from the last step's Q,
///     P = MQ, AllReduce(P), orthogonalise P, Q = MᵀP, AllReduce(Q), M ≈ PQᵀ
/// The two AllReduces depend on each other: e·r·n bytes, then e·r·m. Tensors with one dimension are sent with P. r is
/// cut to min(n, m) for each matrix, as in GRACE's memory/powersgd.py. A matrix with one row or column still gets
/// longer, not shorter; TensorFlow's 1x1 convolutions [1, 1, c_in, c_out] are such matrices. Work: encoding has 4nmr
/// operations of products and 2(n+m)r² of Gram-Schmidt (P, and Q before its use); decoding has 2nmr. Error feedback is
/// part of the method, for matrices that are factorized. GRACE: powersgd.py; default rank 1: helper.py.
struct PowerSgd {
  static constexpr std::string_view kind = "powersgd";
  static constexpr std::string_view meaning = "rank-r factors by one power iteration, two dependent AllReduces";
  int rank = 1;
  double min_rate = 0;
  template <class V>
  static void describe(V& v, PowerSgd& x) {
    v.optional("rank", x.rank, "r: columns of the factors, cut to min(n, m) of each tensor", at_least(1));
    v.optional("min_rate", x.min_rate,
               "only matrices with nm > min_rate (n + m)r are factorized; others are sent with P (PyTorch's "
               "min_compression_rate, 2 there); 0: all",
               non_negative);
  }
  bool operator==(const PowerSgd&) const = default;
};

/// ATOMO, Wang et al. 2018: a random sample of M's singular triplets, `rank` of them in expectation, scaled to stay
/// unbiased. A message has e·rank·(n + m + 1) bytes, unequal, since the sample size is random. rank is cut to min(n,
/// m). The SVD (Golub and Reinsch, with both factors) takes 14ab² + 8b³ operations, a = max(n, m), b = min(n, m); Golub
/// and Van Loan, Matrix Computations, section 8.6. Not in GRACE; the default is ours.
struct Atomo {
  static constexpr std::string_view kind = "atomo";
  static constexpr std::string_view meaning = "a random sample of singular triplets, unbiased";
  int rank = 3;
  double min_rate = 0;
  template <class V>
  static void describe(V& v, Atomo& x) {
    v.optional("rank", x.rank, "sparsity budget: expected number of triplets, cut to min(n, m) of each tensor",
               at_least(1));
    v.optional(
        "min_rate", x.min_rate,
        "only matrices with nm > min_rate (n + m + 1)s are factorized, s = min(rank, n, m); others are summed as they are; "
        "0: all",
        non_negative);
  }
  bool operator==(const Atomo&) const = default;
};

/// GradiVeQ, Yu et al. 2018: cuts the flat tensor into slices of `slice` elements. Each slice is projected on the first
/// `dimension` principal components. All workers share these, so the sum of projections is the projection of the sum:
/// e·dimension·ceil(d/slice) bytes by AllReduce. A tensor that would not get shorter stays uncompressed. Encoding and
/// decoding take 2·d·dimension operations each. The plan excludes the cost of the principal components (occasional
/// uncompressed steps, and their eigendecomposition). Not in GRACE; the defaults (a ratio of 8) are ours.
struct GradiVeq {
  static constexpr std::string_view kind = "gradiveq";
  static constexpr std::string_view meaning = "projection of slices on shared principal components";
  int slice = 512;
  int dimension = 64;
  bool error_feedback = false;
  template <class V>
  static void describe(V& v, GradiVeq& x) {
    v.optional("slice", x.slice, "elements projected together", at_least(2));
    v.optional("dimension", x.dimension, "principal components kept, fewer than slice", at_least(1));
    v.optional("error_feedback", x.error_feedback, "add the lost part to the next step's gradient");
  }
  bool operator==(const GradiVeq&) const = default;
};

CodecPlan plan(const PowerSgd&, const Tensor&);
CodecPlan plan(const Atomo&, const Tensor&);
CodecPlan plan(const GradiVeq&, const Tensor&);

}  // namespace stepcast
