// Bruck's all-gather (Bruck et al. 1997): ceil(lg p) rounds for any p. Before round k, rank i holds blocks
// i .. i + 2^k - 1 (mod p). It sends the first min(2^k, p - 2^k) of them to rank i - 2^k.
#include <algorithm>

#include "models/collective/collective.hpp"

namespace stepcast::bruck {

Schedule all_gather(int p, const CollectiveParameters&) {
  return {p, p, ceil_log2(p), [p](int r) {
            const int held = 1 << r;
            Round round;
            for (int i = 0; i < p; ++i) round.push_back({i, (i - held + p) % p, {i, std::min(held, p - held)}, false});
            return round;
          }};
}

/// ceil(lg p)·α + (p-1)mβ
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::far, ceil_log2(p), n * (p - 1) / p);
  terms.sent = n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::bruck
