// Two levels: ring reduce-scatter inside every group of g ranks, ring all-reduce of each share among the ranks
// of the same position in all G = p/g groups, ring all-gather inside. Groups are consecutive ranks.
//
// The buffer has g shares of G blocks. Inside, a rank at position l ends the reduce-scatter with share
// (l + 1) mod g, which the second stage treats as a ring of G blocks.
#include "models/collective/collective.hpp"

namespace stepcast::hierarchical {
namespace {

int modulo(int a, int m) { return (a % m + m) % m; }

/// Inside each group: position l sends share (l + offset) mod g to position l + 1.
Round inside(int p, int g, int offset, bool reduce) {
  const int groups = p / g;
  Round round;
  for (int rank = 0; rank < p; ++rank) {
    const int l = rank % g, base = rank - l;
    round.push_back({rank, base + (l + 1) % g, {modulo(l + offset, g) * groups, groups}, reduce});
  }
  return round;
}

/// Between groups: rank (group k, position l) sends block (k + offset) mod G of its share to group k + 1.
Round between(int p, int g, int offset, bool reduce) {
  const int groups = p / g;
  Round round;
  for (int rank = 0; rank < p; ++rank) {
    const int l = rank % g, k = rank / g, share = (l + 1) % g;
    round.push_back({rank, (k + 1) % groups * g + l, {share * groups + modulo(k + offset, groups), 1}, reduce});
  }
  return round;
}

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size, groups = p / g;
  return {p, p, 2 * (g - 1) + 2 * (groups - 1), [p, g, groups](int r) {
            if (r < g - 1) return inside(p, g, -r, true);
            r -= g - 1;
            if (r < groups - 1) return between(p, g, -r, true);
            r -= groups - 1;
            if (r < groups - 1) return between(p, g, 1 - r, false);
            r -= groups - 1;
            return inside(p, g, 1 - r, false);
          },
          [g, groups](int r) {
            int first = 0;
            for (const int count : {g - 1, groups - 1, groups - 1}) {
              if (r < first + count) return first;
              first += count;
            }
            return first;
          }};
}

/// 2(g-1)(α' + n/g·β') + 2(G-1)(α + n/p·β) + ((g-1)/g·n + (G-1)/G·n/g)γ, α' and β' inside a group
/// (those between groups when a group spans machines).
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size, groups = p / g;
  CostTerms terms;
  terms.add(parameters.group_fits ? Path::inner : Path::far, 2.0 * (g - 1), 2.0 * n * (g - 1) / g);
  terms.add(Path::far, 2.0 * (groups - 1), 2.0 * n * (groups - 1) / p);
  terms.reduced = n * (g - 1) / g + n * (groups - 1) / p;
  terms.sent = 2.0 * terms.reduced;
  return terms;
}

}  // namespace stepcast::hierarchical
