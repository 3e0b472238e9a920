#include "models/collective/neighbours.hpp"

#include <algorithm>
#include <numeric>

namespace stepcast {
namespace {

std::vector<int> dimensions_of(const Neighbours& torus, int p) {
  if (!torus.dimensions.empty()) return torus.dimensions;
  int shorter = 1;
  for (int i = 2; i <= p / i; ++i)
    if (p % i == 0) shorter = i;
  return {shorter, p / shorter};
}

/// Messages of rank `rank` to the next ranks along each dimension.
void add_torus(const std::vector<int>& dimensions, int rank, Round& round) {
  int stride = 1;
  for (const int size : dimensions) {
    const int place = rank / stride % size;
    const auto add = [&](int next) { round.push_back({rank, rank + (next % size - place) * stride, {0, 1}}); };
    if (size > 1) add(place + 1);
    if (size > 2) add(place + size - 1);
    stride *= size;
  }
}

/// The messages that a rank of a list of edges sends.
std::vector<int> counts(const std::vector<NeighbourEdge>& edges, int p) {
  std::vector<int> all(static_cast<std::size_t>(p));
  for (const NeighbourEdge& edge : edges) {
    ++all[edge.a];
    ++all[edge.b];
  }
  return all;
}

/// The graph of the islands themselves.
Neighbours between_islands(Neighbours neighbours) {
  neighbours.island = 1;
  return neighbours;
}

/// The messages of each worker of an island, given those between islands.
Round of_each_share(const Round& between, int island) {
  Round round;
  round.reserve(between.size() * static_cast<std::size_t>(island));
  for (auto first = between.begin(); first != between.end();) {
    const auto last = std::find_if(first, between.end(), [&](const Message& m) { return m.from != first->from; });
    for (int share = 0; share < island; ++share)
      for (auto m = first; m != last; ++m)
        round.push_back({m->from * island + share, m->to * island + share, m->slice});
    first = last;
  }
  return round;
}

}  // namespace

bool changes_by_step(NeighbourGraph graph) {
  return graph == NeighbourGraph::one_peer_hypercube || graph == NeighbourGraph::one_peer_exponential;
}

int unlike_steps(const Neighbours& neighbours, int p) {
  return changes_by_step(neighbours.graph) ? std::max(1, ceil_log2(p / neighbours.island)) : 1;
}

int degree(const Neighbours& neighbours, int ranks) {
  const int p = ranks / neighbours.island;
  if (p == 1) return 0;
  switch (neighbours.graph) {
    case NeighbourGraph::ring: return std::min(2, p - 1);
    case NeighbourGraph::torus: {
      int sum = 0;
      for (const int size : dimensions_of(neighbours, p)) sum += std::min(2, size - 1);
      return sum;
    }
    case NeighbourGraph::hypercube:
    case NeighbourGraph::exponential: return ceil_log2(p);
    case NeighbourGraph::complete: return p - 1;
    case NeighbourGraph::one_peer_hypercube:
    case NeighbourGraph::one_peer_exponential: return 1;
    case NeighbourGraph::edges: break;
  }
  const std::vector<int> all = counts(neighbours.edges, p);
  return *std::max_element(all.begin(), all.end());
}

std::int64_t message_count(const Neighbours& neighbours, int p) {
  if (neighbours.graph == NeighbourGraph::edges)
    return static_cast<std::int64_t>(2 * neighbours.edges.size()) * neighbours.island;
  return std::int64_t{p} * degree(neighbours, p);
}

Round messages_of(const Neighbours& neighbours, int p) {
  if (neighbours.island > 1)
    return of_each_share(messages_of(between_islands(neighbours), p / neighbours.island), neighbours.island);
  Round round;
  if (p <= 1) return round;
  round.reserve(static_cast<std::size_t>(message_count(neighbours, p)));
  const auto add = [&](int from, int to) { round.push_back({from, to, {0, 1}}); };
  if (neighbours.graph == NeighbourGraph::edges) {
    for (const NeighbourEdge& edge : neighbours.edges) {
      add(edge.a, edge.b);
      add(edge.b, edge.a);
    }
    std::stable_sort(round.begin(), round.end(), [](const Message& x, const Message& y) { return x.from < y.from; });
    return round;
  }
  const int powers = ceil_log2(p), power = 1 << (neighbours.step % powers);
  const std::vector<int> dimensions = dimensions_of(neighbours, p);
  for (int rank = 0; rank < p; ++rank) {
    switch (neighbours.graph) {
      case NeighbourGraph::ring:
        add(rank, (rank + 1) % p);
        if (p > 2) add(rank, (rank + p - 1) % p);
        break;
      case NeighbourGraph::torus: add_torus(dimensions, rank, round); break;
      case NeighbourGraph::hypercube:
        for (int k = 0; k < powers; ++k) add(rank, rank ^ (1 << k));
        break;
      case NeighbourGraph::exponential:
        for (int k = 0; k < powers; ++k) add(rank, (rank + (1 << k)) % p);
        break;
      case NeighbourGraph::complete:
        for (int other = 1; other < p; ++other) add(rank, (rank + other) % p);
        break;
      case NeighbourGraph::one_peer_hypercube: add(rank, rank ^ power); break;
      case NeighbourGraph::one_peer_exponential: add(rank, (rank + power) % p); break;
      case NeighbourGraph::edges: break;
    }
  }
  return round;
}

bool is_connected(const Neighbours& neighbours, int ranks) {
  const int p = ranks / neighbours.island;
  std::vector<int> root(static_cast<std::size_t>(p));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int rank) {
    while (root[rank] != rank) rank = root[rank] = root[root[rank]];
    return rank;
  };
  int parts = p;
  Neighbours one = between_islands(neighbours);
  for (one.step = 0; one.step < unlike_steps(one, p); ++one.step)
    for (const Message& message : messages_of(one, p))
      if (const int a = find(message.from), b = find(message.to); a != b) {
        root[a] = b;
        --parts;
      }
  return parts == 1;
}

std::optional<std::vector<bool>> two_colours(const Neighbours& neighbours, int p) {
  if (neighbours.island > 1) {
    const auto of_islands = two_colours(between_islands(neighbours), p / neighbours.island);
    if (!of_islands) return {};
    std::vector<bool> colours;
    for (int rank = 0; rank < p; ++rank) colours.push_back((*of_islands)[rank / neighbours.island]);
    return colours;
  }
  std::vector<std::vector<int>> joined(static_cast<std::size_t>(p));
  for (const Message& message : messages_of(neighbours, p)) {
    joined[message.from].push_back(message.to);
    joined[message.to].push_back(message.from);
  }
  std::vector<std::optional<bool>> found(joined.size());
  found.front() = false;
  std::vector<int> known{0};
  for (std::size_t i = 0; i < known.size(); ++i)
    for (const int rank : joined[known[i]]) {
      const bool own = *found[known[i]];
      if (found[rank] == own) return {};
      if (!found[rank]) known.push_back(rank);
      found[rank] = !own;
    }
  if (known.size() < joined.size()) return {};
  std::vector<bool> colours;
  for (const std::optional<bool> colour : found) colours.push_back(*colour);
  return colours;
}

std::optional<std::vector<bool>> choosing_ranks(const Neighbours& neighbours, PairChoosers choosers, int p) {
  if (choosers == PairChoosers::all) return std::vector<bool>(static_cast<std::size_t>(p), true);
  auto ranks = two_colours(neighbours, p);
  if (ranks) ranks->flip();
  return ranks;
}

CostTerms neighbour_exchange_cost(const Neighbours& neighbours, Bytes n, Bytes added, int p) {
  CostTerms terms;
  const double most = degree(neighbours, p);
  if (most == 0) return terms;
  terms.add(Path::neighbour, 1, n * most);
  terms.reduced = added * most;
  terms.sent = n * (static_cast<double>(message_count(neighbours, p)) / p);
  return terms;
}

}  // namespace stepcast
