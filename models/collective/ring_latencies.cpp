#include "models/collective/ring_latencies.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace stepcast {
namespace {

/// Disjoint sets of ranks (union-find with path halving).
class Sets {
 public:
  explicit Sets(std::size_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::size_t of(std::size_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  void join(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<double> even_latencies(const Round& round, std::vector<double> latencies) {
  constexpr double kResolution = 1e-18;
  int last = 0;
  for (const Message& m : round) last = std::max({last, m.from, m.to});
  const std::size_t ranks = static_cast<std::size_t>(last) + 1;
  Sets rings(ranks);
  for (const Message& m : round) rings.join(m.from, static_cast<std::size_t>(m.to));
  std::vector<double> sum(ranks), messages(ranks);
  for (std::size_t i = 0; i < round.size(); ++i) {
    const std::size_t ring = rings.of(round[i].from);
    sum[ring] += latencies[i];
    ++messages[ring];
  }
  for (std::size_t i = 0; i < round.size(); ++i) {
    const std::size_t ring = rings.of(round[i].from);
    latencies[i] = std::round(sum[ring] / messages[ring] / kResolution) * kResolution;
  }
  return latencies;
}

}  // namespace stepcast
