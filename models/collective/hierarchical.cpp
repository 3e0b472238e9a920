// Two levels: ring reduce-scatter inside every group of g ranks, an all-reduce of each share among the ranks of the same
// position in all G = p/g groups, ring all-gather inside. Groups are consecutive ranks. What runs between the groups is an
// algorithm of its own (ring, halving-doubling, recursive-doubling, double-binary-tree) over G participants, once for each
// position, all at the same time.
//
// The buffer has g shares, each of as many blocks as the algorithm between groups cuts its buffer into. A rank at position l
// ends the reduce-scatter with share (l + 1) mod g.
//
// With double-binary-tree it sends over a machine's NICs what NCCL's tree (Jeaugey 2019) does, 2n at most out and as much in,
// spread over all of them. The rest differs: NCCL's channels each have a chain inside the machine, from and to the worker that
// is in the tree, in one pipeline with it, of reduction and broadcast side by side; here the rounds inside come before and after,
// and the broadcast after the reduction. So long pipelines are as fast as NCCL's over NICs, and no faster inside than in series.
#include "models/collective/collective.hpp"

namespace stepcast::hierarchical {
namespace {

int modulo(int a, int m) { return (a % m + m) % m; }

/// Inside each group: position l sends share (l + offset) mod g to position l + 1.
Round inside(int p, int g, int share_blocks, int offset, bool reduce) {
  Round round;
  for (int rank = 0; rank < p; ++rank) {
    const int l = rank % g, base = rank - l;
    round.push_back({rank, base + (l + 1) % g, {modulo(l + offset, g) * share_blocks, share_blocks}, reduce});
  }
  return round;
}

/// A round among groups, carried out by the ranks of each position on their share.
/// @pre no slice goes beyond the last block
Round at_each_position(const Round& between, int g, int share_blocks) {
  Round round;
  round.reserve(between.size() * static_cast<std::size_t>(g));
  for (const Message& m : between)
    for (int l = 0; l < g; ++l) round.push_back({m.from * g + l, m.to * g + l, {(l + 1) % g * share_blocks + m.slice.first, m.slice.count}, m.reduce});
  return round;
}

const CollectiveAlgorithm& between_groups(const CollectiveParameters& parameters) { return find_algorithm(Operation::all_reduce, parameters.between_groups); }

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size;
  const Schedule between = between_groups(parameters).schedule(p / g, parameters);
  return {p, g * between.blocks, 2 * (g - 1) + between.rounds, [p, g, between](int r) {
            if (r < g - 1) return inside(p, g, between.blocks, -r, true);
            r -= g - 1;
            if (r < between.rounds) return at_each_position(between.round(r), g, between.blocks);
            return inside(p, g, between.blocks, 1 - (r - between.rounds), false);
          },
          [g, between](int r) {
            if (r < g - 1) return 0;
            const int first = g - 1, last = first + between.rounds;
            return r < last ? first + between.like_round(r - first) : last;
          }};
}

/// 2(g-1)(α' + n/g·β') + (g-1)/g·nγ, α' and β' inside a group (those between groups when a group spans machines), and what the
/// algorithm between G groups takes for n/g, with the α and β of g messages out of each group at once.
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size;
  const CostTerms between = between_groups(parameters).cost(n / g, p / g, parameters);
  CostTerms terms;
  terms.add(parameters.group_fits ? Path::inner : Path::far, 2.0 * (g - 1), 2.0 * n * (g - 1) / g);
  terms.add(Path::far, between.total_messages(), between.total_wire());
  terms.reduced = n * (g - 1) / g + between.reduced;
  terms.sent = 2.0 * n * (g - 1) / g + between.sent;
  return terms;
}

}  // namespace stepcast::hierarchical
