// Random graphs of decentralized SGD, and what comes between their exchanges.
#pragma once

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "models/part/strategy.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_islands.hpp"

namespace stepcast::test {

/// A graph that p workers can have.
inline GossipStrategy random_gossip(int p) {
  GossipStrategy gossip{coin()};
  gossip.graph = Choices<NeighbourGraph>::table[integer_between(0, 7)].value;
  const bool cube = gossip.graph == NeighbourGraph::hypercube || gossip.graph == NeighbourGraph::one_peer_hypercube;
  if (cube && !std::has_single_bit(static_cast<unsigned>(p))) gossip.graph = NeighbourGraph::exponential;
  if (gossip.graph == NeighbourGraph::torus && coin()) {
    int first = integer_between(1, p);
    while (p % first != 0) --first;
    gossip.dimensions = {first, p / first};
  }
  if (gossip.graph == NeighbourGraph::edges) {
    std::set<std::pair<int, int>> pairs;
    for (int rank = 1; rank < p; ++rank) pairs.insert({integer_between(0, rank - 1), rank});  // a tree, and some more
    for (int more = p > 2 ? integer_between(0, p) : 0; more > 0; --more) {
      const int a = integer_between(0, p - 1), b = integer_between(0, p - 1);
      if (a != b) pairs.insert(std::minmax(a, b));
    }
    for (const auto& [a, b] : pairs) gossip.edges.push_back({a, b});
  }
  return gossip;
}

/// The same, of workers or islands that may make some steps alone and may average all from time to time.
inline GossipStrategy random_gossip_rounds(int p) {
  const auto islands = coin() ? random_islands(p) : std::nullopt;
  GossipStrategy gossip = random_gossip(islands ? p / islands->size : p);
  gossip.islands = islands;
  if (coin()) gossip.steps = integer_between(1, 3);
  if (gossip.islands && !gossip.islands->sharding && coin()) gossip.islands->steps = integer_between(2, 3);
  if (coin()) gossip.average = GlobalAverage{gossip.steps + integer_between(1, 4), coin() ? real_between(0, 2) : 0.0};
  if (gossip.islands) {
    gossip.steps *= gossip.islands->steps;
    if (gossip.average) gossip.average->steps *= gossip.islands->steps;
  }
  return gossip;
}

}  // namespace stepcast::test
