// Recursive halving and doubling (Rabenseifner; Thakur 2005, section 4.5): reduce-scatter by exchanging
// halves with partners at halving distance, then all-gather back. Other p than powers of two fold in and out.
//
// Blocks are numbered so that core member c ends the reduce-scatter with block c: in round k (distance
// d = q/2^(k+1)) it keeps the half of its current range in which c lies and sends the other one.
#include "models/collective/collective.hpp"
#include "models/collective/fold.hpp"

namespace stepcast::halving_doubling {

Schedule all_reduce(int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const int q = fold.core(), levels = fold.levels(), lead = fold.needed() ? 1 : 0;
  return {p, q, 2 * levels + 2 * lead, [fold, q, levels, lead](int r) {
            Round round;
            if (r < lead) {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c + 1, 2 * c, {0, q}, true});
            } else if (r < lead + levels) {
              const int d = q >> (r - lead + 1);
              for (int c = 0; c < q; ++c) {
                const int partner = c ^ d;
                round.push_back({fold.rank(c), fold.rank(partner), {partner / d * d, d}, true});
              }
            } else if (r < lead + 2 * levels) {
              const int d = 1 << (r - lead - levels);
              for (int c = 0; c < q; ++c) round.push_back({fold.rank(c), fold.rank(c ^ d), {c / d * d, d}, false});
            } else {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c, 2 * c + 1, {0, q}, false});
            }
            return round;
          }};
}

/// 2 lg q·α + 2(q-1)/q·nβ + (q-1)/q·nγ, and with fold-in (α + nβ + nγ) + (α + nβ) more.
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const int q = fold.core(), in = fold.needed() ? 1 : 0;
  CostTerms terms;
  terms.add(Path::far, 2 * fold.levels() + 2 * in, 2.0 * n * (q - 1) / q + n * (2 * in));
  terms.reduced = n * (q - 1) / q + n * in;
  terms.sent = n * (2.0 * (q - 1) + 2 * fold.extra()) / p;
  return terms;
}

}  // namespace stepcast::halving_doubling
