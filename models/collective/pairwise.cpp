// Pairwise exchange: in round r = 1 .. p-1, rank i sends to rank i + r the block for it, and receives one from i - r.
// In every round, a host sends and receives one block of n/p, so no link is shared (Thakur 2005, section 3.4).
#include "models/collective/collective.hpp"

namespace stepcast::pairwise {

Schedule all_to_all(int p, const CollectiveParameters&) {
  return {p,
          p,
          p - 1,
          [p](int r) {
            Round round(static_cast<std::size_t>(p));
            for (int i = 0; i < p; ++i) {
              const int to = i + r + 1 < p ? i + r + 1 : i + r + 1 - p;
              round[i] = {i, to, {to, 1}, false};
            }
            return round;
          },
          {},
          true};
}

CostTerms all_to_all_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::far, p - 1, n * (p - 1) / p);
  terms.sent = n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::pairwise
