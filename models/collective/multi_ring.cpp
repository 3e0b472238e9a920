// Several rings over the same ranks, each with 1/c of the buffer. NCCL has one ring through each NIC (Jeaugey,
// "Massively scale your deep learning training with NCCL 2.4", 2019). For the links of ranks, they act as one ring: p-1
// rounds of reduce-scatter and p-1 of all-gather. Each rank sends c blocks of n/(c·p), one to each of its c successors.
//
// Groups of g consecutive ranks are machines; the last group may be smaller. Ring j leaves a machine at worker l, the
// j-th in an order that takes its NICs in turn (part/nics.hpp). It enters at worker l + 1 and visits all workers up to
// l. So k <= g rings leave through k NICs and enter through k NICs. The reverse order, entering at worker j and leaving
// at j - 1, does so for in-turn NICs only if k divides g.
//
// The blocks follow the ring's rules: after the reduce-scatter, rank i holds the sum of share i + 1.
// A share has one block from each ring.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/collective/collective.hpp"

namespace stepcast::multi_ring {
namespace {

class Rings {
 public:
  Rings(int p, const CollectiveParameters& parameters) : p_(p), rings_(parameters.rings), size_(parameters.group_size) {
    const Nics nics{size_, std::min(parameters.nics, size_), parameters.nic_of_gpu};
    const int rest = p_ % size_;
    for (int j = 0; j < rings_; ++j) {
      leaves_.push_back(nics.gpu_in_turn(j, size_));
      leaves_last_.push_back(rest == 0 ? leaves_.back() : nics.gpu_in_turn(j % rest, rest));
    }
  }

  [[nodiscard]] int blocks() const { return rings_ * p_; }

  /// Each position of each ring sends one share: `ahead` plus the number of the rank that is `back` positions before.
  [[nodiscard]] Round shift(int back, int ahead, bool reduce) const {
    Round round;
    round.reserve(blocks());
    for (int j = 0; j < rings_; ++j)
      for (int position = 0; position < p_; ++position) {
        const int share = (rank(j, (position - back + p_) % p_) + ahead) % p_;
        round.push_back({rank(j, position), rank(j, (position + 1) % p_), {share * rings_ + j, 1}, reduce});
      }
    return round;
  }

 private:
  [[nodiscard]] int rank(int ring, int position) const {
    const int first = position / size_ * size_, workers = std::min(size_, p_ - first);
    const int leaves = (workers < size_ ? leaves_last_ : leaves_)[ring];
    return first + (position - first + leaves + 1) % workers;
  }

  int p_, rings_, size_;
  std::vector<int> leaves_, leaves_last_;  ///< by ring: the worker that leaves a machine (a smaller last one)
};

/// A ring's terms: ceil(c/k)/c of the bytes that leave a machine cross the busiest of its k NICs.
CostTerms over_nics(CostTerms ring, const CollectiveParameters& parameters) {
  const int most = (parameters.rings - 1) / parameters.nics + 1;
  ring.busiest_nic = static_cast<double>(most) / parameters.rings;
  return ring;
}

}  // namespace

Schedule reduce_scatter(int p, const CollectiveParameters& parameters) {
  const Rings rings(p, parameters);
  return {.participants = p,
          .blocks = rings.blocks(),
          .rounds = p - 1,
          .round = [rings](int r) { return rings.shift(r + 1, 1, true); },
          .like = [](int) { return 0; },
          .around = every_round};
}

CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return over_nics(ring::reduce_scatter_cost(n, p, parameters), parameters);
}

Schedule all_gather(int p, const CollectiveParameters& parameters) {
  const Rings rings(p, parameters);
  return {.participants = p,
          .blocks = rings.blocks(),
          .rounds = p - 1,
          .round = [rings](int r) { return rings.shift(r, 0, false); },
          .like = [](int) { return 0; },
          .around = every_round};
}

CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return over_nics(ring::all_gather_cost(n, p, parameters), parameters);
}

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const Rings rings(p, parameters);
  return {.participants = p,
          .blocks = rings.blocks(),
          .rounds = 2 * (p - 1),
          .round = [p, rings](
                       int r) { return r < p - 1 ? rings.shift(r + 1, 1, true) : rings.shift(r - (p - 1), 1, false); },
          .like = [p](int r) { return r < p - 1 ? 0 : p - 1; },
          .around = every_round};
}

CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return over_nics(ring::all_reduce_cost(n, p, parameters), parameters);
}

}  // namespace stepcast::multi_ring
