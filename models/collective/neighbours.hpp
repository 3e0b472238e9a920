// The messages of decentralized SGD: each worker sends its parameters to its neighbours in a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collective/cost_counts.hpp"
#include "models/collective/schedule.hpp"
#include "models/part/neighbour_graph.hpp"

namespace stepcast {

/// The neighbours of one step among p ranks.
///
///     graph                 rank r sends to                                        degree d
///     ring                  r-1 and r+1                                            2; 1 if p = 2
///     torus                 the two next ones along each dimension                 2 a dimension; 1 if it has 2 ranks
///     hypercube             r xor 2^k, for all k < lg p                            lg p
///     exponential           r + 2^k modulo p, for all k < ceil(lg p)               ceil(lg p)
///     complete              all others                                             p-1
///     one-peer-hypercube    r xor 2^k, k = step modulo lg p                        1
///     one-peer-exponential  r + 2^k modulo p, k = step modulo ceil(lg p)           1
///     edges                 both ends of a pair to each other                      the most pairs of one rank
///
/// Each rank receives as many messages as it sends.
///
/// With islands of g consecutive ranks, this is the graph of p/g islands, and p stands for their number above. Rank r of
/// an island exchanges with rank r of the neighbours.
struct Neighbours {
  NeighbourGraph graph = NeighbourGraph::ring;
  /// Sides of a torus; the product is p. None: two, as equal as can be, the shorter one first. For prime p that is a ring.
  std::vector<int> dimensions{};
  std::vector<NeighbourEdge> edges{};  ///< pairs of ranks, of graph edges alone
  int step = 0;                        ///< of those that differ (unlike_steps)
  int island = 1;                      ///< g

  auto operator<=>(const Neighbours&) const = default;
};

/// Whether a rank has other neighbours in the next step.
bool changes_by_step(NeighbourGraph graph);
/// The number of steps after which a graph that changes is the same again; at least 1.
int unlike_steps(const Neighbours& neighbours, int p);

/// d: the most messages that one rank sends. With edges, others may send fewer.
int degree(const Neighbours& neighbours, int p);
/// The messages of all ranks together.
std::int64_t message_count(const Neighbours& neighbours, int p);
/// Those messages, of one block each, in order of their senders. None goes to its own sender.
Round messages_of(const Neighbours& neighbours, int p);
/// Whether all ranks send equally many messages.
inline bool is_regular(const Neighbours& neighbours, int p) {
  return message_count(neighbours, p) == std::int64_t{p} * degree(neighbours, p);
}
/// Whether all ranks, or islands, are joined, by messages in either direction over all steps.
bool is_connected(const Neighbours& neighbours, int p);

/// Two colours of the ranks such that each message joins unlike ones; rank 0 has `false`. None if some ranks form a
/// cycle of odd length, or if the graph has parts apart.
std::optional<std::vector<bool>> two_colours(const Neighbours& neighbours, int p);

/// By rank: whether it chooses neighbours: all, or those of rank 0's colour. None if half of a graph cannot choose.
std::optional<std::vector<bool>> choosing_ranks(const Neighbours& neighbours, PairChoosers choosers, int p);

/// Whether ranks may each choose a neighbour: the graph does not change by step, and has two colours if only half choose.
inline bool allows_pairs(const Neighbours& neighbours, PairChoosers choosers, int p) {
  return !changes_by_step(neighbours.graph) && choosing_ranks(neighbours, choosers, p);
}

/// Every worker sends n bytes to each of d neighbours, and adds `added` bytes of each message that it receives:
/// α + d·n·β + d·added·γ for the busiest worker.
CostTerms neighbour_exchange_cost(const Neighbours& neighbours, Bytes n, Bytes added, int p);

}  // namespace stepcast
