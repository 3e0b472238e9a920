// Low rank: a tensor of two or more dimensions, viewed as a matrix M of n = shape[0] rows and m columns, is sent as
// factors; a tensor of one dimension travels as it is, by AllReduce.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// PowerSGD, Vogels et al. 2019, rank r: one power iteration from the last step's Q,
///     P = MQ, AllReduce(P), orthogonalise P, Q = MᵀP, AllReduce(Q), M ≈ PQᵀ
/// The two AllReduces depend on each other: e·r·n bytes, then e·r·m. Tensors of one dimension travel with P. r is cut
/// to min(n, m) for each matrix, as GRACE's memory/powersgd.py does; even so a matrix of one row or column gets
/// longer, not shorter, which is what happens to TensorFlow's 1x1 convolutions [1, 1, c_in, c_out]. Work:
/// 4nmr operations of products and 2(n+m)r² of Gram-Schmidt (P, and Q before its use) to encode, 2nmr to decode.
/// Error feedback is part of the method, for matrices. GRACE: powersgd.py; default rank 1: helper.py.
struct PowerSgd {
  static constexpr std::string_view kind = "powersgd";
  static constexpr std::string_view meaning = "rank-r factors by one power iteration, two dependent AllReduces";
  int rank = 1;
  template <class V>
  static void describe(V& v, PowerSgd& x) {
    v.optional("rank", x.rank, "r: columns of the factors, cut to min(n, m) of each tensor", at_least(1));
  }
  bool operator==(const PowerSgd&) const = default;
};

/// ATOMO, Wang et al. 2018: a sample of M's singular triplets, `rank` of them in expectation, scaled to stay
/// unbiased: e·rank·(n + m + 1) bytes, unequal, since the number drawn is random. rank is cut to min(n, m).
/// The SVD (Golub and Reinsch, with both factors) takes 14ab² + 8b³ operations, a = max(n, m), b = min(n, m);
/// Golub and Van Loan, Matrix Computations, section 8.6. Not in GRACE; the default is ours.
struct Atomo {
  static constexpr std::string_view kind = "atomo";
  static constexpr std::string_view meaning = "a random sample of singular triplets, unbiased";
  int rank = 3;
  template <class V>
  static void describe(V& v, Atomo& x) {
    v.optional("rank", x.rank, "sparsity budget: expected number of triplets, cut to min(n, m) of each tensor",
               at_least(1));
  }
  bool operator==(const Atomo&) const = default;
};

/// GradiVeQ, Yu et al. 2018: the flat tensor is cut in slices of `slice` elements, each projected on the first
/// `dimension` principal components that all workers share, so that sums of projections are projections of sums:
/// e·dimension·ceil(d/slice) bytes by AllReduce. A tensor that this does not shorten travels as it is. 2·d·dimension
/// operations to encode and as many to decode. What the principal components cost (uncompressed steps now and then,
/// and their eigendecomposition) is not in the plan. Not in GRACE; the defaults (a ratio of 8) are ours.
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
    v.optional("error_feedback", x.error_feedback, "add what was lost to the next step's gradient");
  }
  bool operator==(const GradiVeq&) const = default;
};

CodecPlan plan(const PowerSgd&, const Tensor&);
CodecPlan plan(const Atomo&, const Tensor&);
CodecPlan plan(const GradiVeq&, const Tensor&);

}  // namespace stepcast
