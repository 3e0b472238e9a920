// Two levels: groups of g consecutive ranks, and communicators of the ranks with one position in all G = p/g groups.
// All positions run at the same time. The algorithm between groups is a separate one with G participants.
//
//   all-reduce      ring reduce-scatter inside, an all-reduce of each share between, ring all-gather inside
//   all-gather      between groups for the data of each position, then ring all-gather inside of the gathered data
//   reduce-scatter  ring reduce-scatter inside, so that each position has 1/g of its group's sum, then between
//
// All-reduce: the buffer has g shares. The algorithm between groups gives the number of blocks in each share. A rank at
// position l ends the reduce-scatter with share (l + 1) mod g. Between groups, it is in communicator l. The other
// operations have one block for each rank, and the blocks of a position are g apart.
//
// With double-binary-tree, the all-reduce sends as much over a machine's NICs as NCCL's tree (nccl_tree.cpp). This is
// at most 2n out and 2n in, spread over all NICs. But the rounds inside come before and after, and the broadcast
// follows the reduction.
#include "models/collective/collective.hpp"

namespace stepcast::hierarchical {
namespace {

int modulo(int a, int m) { return (a % m + m) % m; }

/// Inside each group, position l sends the slice of position (l + offset) mod g to position l + 1.
template <class SliceOf>
Round inside(int p, int g, int offset, bool reduce, const SliceOf& slice) {
  Round round;
  round.reserve(p);
  for (int rank = 0; rank < p; ++rank) {
    const int l = rank % g, base = rank - l;
    round.push_back({rank, base + (l + 1) % g, slice(modulo(l + offset, g)), reduce});
  }
  return round;
}

/// For a buffer with one block for each rank: the blocks of the ranks at one position in all groups.
auto blocks_of_position(int g, int groups) {
  return [g, groups](int l) { return Slice{l, groups, g}; };
}

const CollectiveAlgorithm& algorithm_between(Operation operation, const CollectiveParameters& parameters) {
  return find_algorithm(operation, parameters.between_groups);
}

/// times·(g-1)(α' + n/g·β') inside groups, and the time of the algorithm between groups for n/g. A group that spans
/// machines has α and β inside, too. Between groups, α and β are those of g simultaneous messages from each group.
CostTerms cost(Operation operation, double times, Bytes n, int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size;
  const CostTerms between = algorithm_between(operation, parameters).cost(n / g, p / g, parameters);
  const Bytes inside = n * (g - 1) / g;
  CostTerms terms;
  terms.add(parameters.group_fits ? Path::inner : Path::far, times * (g - 1), times * inside);
  terms.add(Path::far, between.total_messages(), between.total_wire());
  for (const Bytes bytes : between.in_network) terms.in_network[static_cast<int>(Path::far)] += bytes;
  terms.reduced = between.reduced + (operation == Operation::all_gather ? Bytes{} : inside);
  terms.sent = times * inside + between.sent;
  return terms;
}

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size;
  const Schedule between = algorithm_between(Operation::all_reduce, parameters).schedule(p / g, parameters);
  const auto share = [blocks = between.blocks](int number) { return Slice{number * blocks, blocks}; };
  // A slice between groups does not wrap around the last block.
  const auto of_share = [g, blocks = between.blocks](int l, Slice slice) {
    return Slice{(l + 1) % g * blocks + slice.first, slice.count};
  };
  return {
      .participants = p,
      .blocks = g * between.blocks,
      .rounds = 2 * (g - 1) + between.rounds,
      .round =
          [=](int r) {
            if (r < g - 1) return inside(p, g, -r, true, share);
            r -= g - 1;
            if (r < between.rounds) return in_each(between.round(r), between_groups(g, p), g, of_share);
            return inside(p, g, 1 - (r - between.rounds), false, share);
          },
      .like =
          [g, between](int r) {
            if (r < g - 1) return 0;
            const int first = g - 1, last = first + between.rounds;
            return r < last ? first + between.like_round(r - first) : last;
          },
      .around =
          [g, between](int r) { return r < g - 1 || r >= g - 1 + between.rounds || between.goes_around(r - (g - 1)); }};
}

/// 2(g-1)(α' + n/g·β') + (g-1)/g·nγ + T(n/g)
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return cost(Operation::all_reduce, 2, n, p, parameters);
}

Schedule all_gather(int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size;
  const Schedule between = algorithm_between(Operation::all_gather, parameters).schedule(p / g, parameters);
  const auto of_position = blocks_of_position(g, p / g);
  const auto own = [g](int l, Slice slice) { return Slice{slice.first * g + l, slice.count, g}; };
  return {.participants = p,
          .blocks = p,
          .rounds = between.rounds + g - 1,
          .round =
              [=](int r) {
                if (r < between.rounds) return in_each(between.round(r), between_groups(g, p), g, own);
                return inside(p, g, -(r - between.rounds), false, of_position);
              },
          .like = [between](int r) { return r < between.rounds ? between.like_round(r) : between.rounds; },
          .around = [between](int r) { return r >= between.rounds || between.goes_around(r); }};
}

/// (g-1)(α' + n/g·β') + T(n/g)
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return cost(Operation::all_gather, 1, n, p, parameters);
}

/// Rank i ends with share i + 1, as in a ring. After the rounds inside, position l has the blocks of position l + 1.
/// Between groups, the algorithm leaves block k + 1 in group k. For most positions, this is group k's own block. At the
/// last position, it is group k + 1's block for position 0, which has the next share.
Schedule reduce_scatter(int p, const CollectiveParameters& parameters) {
  const int g = parameters.group_size, groups = p / g;
  const Schedule between = algorithm_between(Operation::reduce_scatter, parameters).schedule(groups, parameters);
  const auto of_position = blocks_of_position(g, groups);
  const auto own = [g, groups](int l, Slice slice) {
    const bool last = l == g - 1;
    return Slice{modulo(slice.first - (last ? 0 : 1), groups) * g + (last ? 0 : l + 1), slice.count, g};
  };
  return {.participants = p,
          .blocks = p,
          .rounds = g - 1 + between.rounds,
          .round =
              [=](int r) {
                if (r < g - 1) return inside(p, g, -r, true, of_position);
                return in_each(between.round(r - (g - 1)), between_groups(g, p), g, own);
              },
          .like = [g, between](int r) { return r < g - 1 ? 0 : g - 1 + between.like_round(r - (g - 1)); },
          .around = [g, between](int r) { return r < g - 1 || between.goes_around(r - (g - 1)); }};
}

/// (g-1)(α' + n/g·(β' + γ)) + T(n/g)
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  return cost(Operation::reduce_scatter, 1, n, p, parameters);
}

}  // namespace stepcast::hierarchical
