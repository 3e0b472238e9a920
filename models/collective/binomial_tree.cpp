// Binomial trees. In round k of a broadcast, each of the 2^k ranks that have the data sends it to the rank 2^k further
// on. A reduction runs the same rounds backwards.
#include "models/collective/collective.hpp"

namespace stepcast::binomial_tree {
namespace {

Round down(int p, int k) {
  Round round;
  for (int i = 0; i < (1 << k) && i + (1 << k) < p; ++i) round.push_back({i, i + (1 << k), {0, 1}, false});
  return round;
}

}  // namespace

Schedule broadcast(int p, const CollectiveParameters&) {
  return {p, 1, ceil_log2(p), [p](int r) { return down(p, r); }};
}

/// ceil(lg p)(α + nβ)
CostTerms broadcast_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::far, ceil_log2(p), n * ceil_log2(p));
  terms.sent = n * (p - 1) / p;
  return terms;
}

Schedule reduce_broadcast(int p, const CollectiveParameters&) {
  const int levels = ceil_log2(p);
  return {p, 1, 2 * levels, [p, levels](int r) {
            if (r >= levels) return down(p, r - levels);
            Round round = down(p, levels - 1 - r);
            for (Message& m : round) m = {m.to, m.from, m.slice, true};
            return round;
          }};
}

/// ceil(lg p)(α + nβ + nγ) + ceil(lg p)(α + nβ)
CostTerms reduce_broadcast_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::far, 2 * ceil_log2(p), n * (2 * ceil_log2(p)));
  terms.reduced = n * ceil_log2(p);
  terms.sent = 2.0 * n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::binomial_tree
