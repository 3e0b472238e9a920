// ATOMO, Wang et al. 2018, algorithm 1: the probability with which each singular triplet is sent. On average `budget`
// of them are sent, and the variance is least. From the largest on, σ_i is sent for sure while budget·σ_i exceeds the
// sum of σ_i and those after it. Each lowers the budget by one. The others are sent in proportion to σ.
#pragma once

#include "kernels/code/philox.hpp"

namespace stepcast::kernels {

struct TripletOdds {
  std::int64_t sure;  ///< triplets sent with probability 1
  double factor;      ///< probability of the others, divided by σ
};

/// @param sigma  descending, none below 0
/// @param sum    of all sigma
STEPCAST_SHARED TripletOdds triplet_odds(const float* sigma, std::int64_t count, double sum, std::int64_t budget) {
  std::int64_t sure = 0;
  while (sure < count && budget > 0 && static_cast<double>(sigma[sure]) * static_cast<double>(budget) > sum) {
    sum -= static_cast<double>(sigma[sure]);
    --budget;
    ++sure;
  }
  return {sure, sum > 0 ? static_cast<double>(budget) / sum : 0.0};
}

/// The value that replaces σ_i: σ_i/p_i, or 0 where it is not drawn. NaN is always drawn, so it stays visible.
STEPCAST_SHARED float draw_triplet(float sigma, std::int64_t i, const TripletOdds& odds, std::uint64_t seed) {
  if (i < odds.sure) return sigma;
  const double p = static_cast<double>(sigma) * odds.factor;
  if (static_cast<double>(uniform(random_words(seed, static_cast<std::uint64_t>(i) / 4).word[i % 4])) >= p) return 0;
  return static_cast<float>(static_cast<double>(sigma) / (p < 1 ? p : 1.0));
}

}  // namespace stepcast::kernels
