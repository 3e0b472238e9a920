// Recursive doubling: in round k, every rank exchanges all its data with the partner at distance 2^k (Thakur 2005).
// The latency is optimal. If p is not a power of two, ranks fold in and out (fold_in.hpp).
#include <algorithm>
#include <utility>

#include "models/collective/collective.hpp"
#include "models/collective/fold_in.hpp"

namespace stepcast::recursive_doubling {

Schedule all_reduce(int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const int lead = fold.needed() ? 1 : 0;
  return {p, 1, fold.levels() + 2 * lead, [fold, lead](int r) {
            Round round;
            if (r < lead) {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c + 1, 2 * c, {0, 1}, true});
            } else if (r < lead + fold.levels()) {
              for (int c = 0; c < fold.core(); ++c)
                round.push_back({fold.rank(c), fold.rank(c ^ (1 << (r - lead))), {0, 1}, true});
            } else {
              for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c, 2 * c + 1, {0, 1}, false});
            }
            return round;
          }};
}

/// lg q (α + nβ + nγ); fold-in adds (α + nβ + nγ) + (α + nβ).
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const int in = fold.needed() ? 1 : 0;
  CostTerms terms;
  terms.add(Path::far, fold.levels() + 2 * in, n * (fold.levels() + 2 * in));
  terms.reduced = n * (fold.levels() + in);
  terms.sent = n * (static_cast<double>(fold.core()) * fold.levels() + 2 * fold.extra()) / p;
  return terms;
}

/// Each block is one rank's contribution. Core member c starts with its own block and that of its folded partner.
Schedule all_gather(int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const int lead = fold.needed() ? 1 : 0;
  return {
      p, p, fold.levels() + 2 * lead, [fold, lead, p](int r) {
        Round round;
        if (r < lead) {
          for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c + 1, 2 * c, {2 * c + 1, 1}, false});
        } else if (r < lead + fold.levels()) {
          const int size = 1 << (r - lead);
          for (int c = 0; c < fold.core(); ++c) {
            const int group = c / size * size;
            round.push_back({fold.rank(c), fold.rank(c ^ size), {fold.first(group), fold.covered(group, size)}, false});
          }
        } else {  // all blocks except the folded rank's own
          for (int c = 0; c < fold.extra(); ++c) round.push_back({2 * c, 2 * c + 1, {(2 * c + 2) % p, p - 1}, false});
        }
        return round;
      }};
}

/// Powers of two: lg p·α + (p-1)mβ. Otherwise fold-in costs α + mβ. In round k, the largest message is that of the
/// first group: 2^k members and min(2^k, r) folded ones. The final message costs α + (p-1)mβ.
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&) {
  const PowerOfTwoFold fold(p);
  const Bytes block = n / p;
  CostTerms terms;
  if (fold.needed()) terms.add(Path::far, 2, block * p);
  for (int k = 0; k < fold.levels(); ++k) terms.add(Path::far, 1, block * ((1 << k) + std::min(1 << k, fold.extra())));
  terms.sent = block * (p - 1);
  return terms;
}

/// The all-gather in reverse (recursive halving, Thakur 2005): a block's sum returns along the path of the block.
/// Rank r ends with block (r + 1) mod p, as in a ring.
Schedule reduce_scatter(int p, const CollectiveParameters& parameters) {
  const Schedule gather = all_gather(p, parameters);
  return {p, p, gather.rounds, [gather, p](int r) {
            Round round = gather.round(gather.rounds - 1 - r);
            for (Message& message : round) {
              std::swap(message.from, message.to);
              message.slice.first = (message.slice.first + 1) % p;
              message.reduce = true;
            }
            return round;
          }};
}

/// The cost of the all-gather. In addition, each round adds as many bytes as its largest message has.
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  CostTerms terms = all_gather_cost(n, p, parameters);
  terms.reduced = terms.total_wire();
  return terms;
}

}  // namespace stepcast::recursive_doubling
