#include "sim/replay/jitter.hpp"

#include <cmath>
#include <limits>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "models/fabric/fingerprint.hpp"

namespace stepcast {
namespace {

/// Random bits by number: each call mixes the next one, so a draw seeds nothing (splitmix64; Steele, Lea and Flood,
/// OOPSLA 2014).
class CountedBits {
 public:
  using result_type = std::uint64_t;
  explicit CountedBits(std::uint64_t number) : number_(number) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    const std::uint64_t bits = mix_bits(number_);
    number_ += 0x9e3779b97f4a7c15U;
    return bits;
  }

 private:
  std::uint64_t number_;
};

}  // namespace

double jitter_factor(const Jitter& jitter, std::int64_t seed, int run, int worker, std::int64_t micro_batch) {
  if (jitter.distribution == JitterDistribution::none || jitter.cv == 0.0) return 1.0;
  CountedBits engine(mix_all({seed, run, worker, micro_batch}));
  const double variance = jitter.cv * jitter.cv;
  if (jitter.distribution == JitterDistribution::gamma)
    return boost::random::gamma_distribution<double>(1.0 / variance, variance)(engine);
  // exp(N(μ, σ²)) has mean exp(μ + σ²/2) and squared cv exp(σ²) - 1.
  const double sigma2 = std::log1p(variance);
  return boost::random::lognormal_distribution<double>(-sigma2 / 2, std::sqrt(sigma2))(engine);
}

double begin_by_chance(std::int64_t seed, int run, int worker) {
  if (worker == 0) return 0.0;
  CountedBits engine(mix_all({seed, run, worker}));
  return boost::random::uniform_01<double>()(engine);
}

}  // namespace stepcast
