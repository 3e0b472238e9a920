// Recursive halving and doubling (Rabenseifner; Thakur 2005, section 4.5): reduce-scatter by exchanges of halves with
// one partner after another, then all-gather back. If p is not a power of two, ranks fold in and out.
//
// Round k exchanges q/2^(k+1) of q blocks. Near-first, the partner is at distance 2^k; far-first, at distance
// q/2^(k+1). Outside a star, near-first keeps the large messages inside machines and racks, as MPICH does. An
// all-reduce may use either order, since its blocks need not end in the order of ranks.
//
// The core member at place i ends the reduce-scatter with block i. In round k, it keeps the half of its current range
// that contains i, and sends the other half. Far-first, the place of member c is c. Near-first, it is c with its lg q
// bits reversed: the bit of distance 2^k then halves the range in round k.
#include "models/collective/collective.hpp"
#include "models/collective/fold_in.hpp"

namespace stepcast::halving_doubling {
namespace {

int reversed(int value, int bits) {
  int result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const PowerOfTwoFold fold(p);
  const int q = fold.core(), levels = fold.levels(), lead = fold.needed() ? 1 : 0;
  const bool is_near_first = parameters.exchange_order == ExchangeOrder::near_first;
  return {p, q, 2 * levels + 2 * lead, [=](int r) {
            Round round;
            if (r < lead) {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c + 1, 2 * c, {0, q}, true});
            } else if (r < lead + 2 * levels) {
              const bool is_reduction = r < lead + levels;
              const int k = is_reduction ? r - lead : 2 * levels - 1 - (r - lead);
              const int count = q >> (k + 1), distance = is_near_first ? 1 << k : count;
              round.resize(q);
              for (int c = 0; c < q; ++c) {
                const int partner = c ^ distance, holder = is_reduction ? partner : c;
                const int place = is_near_first ? reversed(holder, levels) : holder;
                const int first = place & ~(count - 1);  // count is a power of two
                round[c] = {fold.rank(c), fold.rank(partner), {first, count}, is_reduction};
              }
            } else {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c, 2 * c + 1, {0, q}, false});
            }
            return round;
          }};
}

/// 2 lg q·α + 2(q-1)/q·nβ + (q-1)/q·nγ; fold-in adds (α + nβ + nγ) + (α + nβ). Both orders cost the same.
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
