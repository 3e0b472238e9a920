#include "models/price/cluster_prices.hpp"

#include <algorithm>

#include "models/collective/direct.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/protocols.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/ideal_equivalent.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {
namespace {

/// The longest copies of a worker with both ring neighbours, for each byte.
SecondsPerByte longest_neighbour_copies(const HostCosts& costs) {
  SecondsPerByte longest{};
  if (costs.any())
    for (int rank = 0; rank < costs.workers; ++rank) longest = std::max(longest, costs.with_neighbours(rank));
  return longest;
}

}  // namespace

ClusterPrices::ClusterPrices(const Cluster& cluster, PriceCache& cache)
    : cluster_(cluster),
      ideal_(ideal_equivalent(cluster)),
      paths_(collective_prices(ideal_)),
      shards_(ideal_, cache.shards),
      cache_(cache) {
  for (const Protocol& protocol : protocols_of(ideal_)) {
    if (cache.protocols.size() == protocols_.size()) cache.protocols.emplace_back();
    protocols_.push_back(std::make_unique<const ProtocolPrices>(ideal_, protocol, cache.protocols[protocols_.size()]));
  }
}

CollectiveCall ClusterPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                     const Communicators& among) const {
  CollectiveCall best;
  std::optional<Seconds> least;
  for (std::size_t i = 0; i < protocols_.size(); ++i) {
    CollectiveCall call = protocols_[i]->decide(operation, choice, bytes, among);
    call.protocol = static_cast<int>(i);
    // A single protocol needs no comparison.
    const Seconds time = protocols_.size() > 1 ? (*this)(call).total() : Seconds{};
    if (least && time >= *least) continue;
    best = call;
    least = time;
  }
  return best;
}

bool ClusterPrices::neighbours_are_routed() const {
  constexpr int kMost = 1 << 20;  // workers; routing their messages takes one or two seconds
  return !is_plain_star(ideal_) && !std::holds_alternative<SimGridXml>(ideal_.topology) && ideal_.workers > 1 &&
         ideal_.workers <= kMost;
}

const RoundFlows& ClusterPrices::neighbour_flows() const {
  if (!cache_.neighbours) {
    const int p = ideal_.workers;
    Round round;
    for (int rank = 0; rank < p; ++rank) {
      round.push_back({rank, (rank + 1) % p, {0, 1}});
      if (p > 2) round.push_back({rank, (rank + p - 1) % p, {0, 1}});
    }
    Fabric fabric(ideal_, 0);
    cache_.neighbours.emplace(followed_flows(round, fabric));
  }
  return *cache_.neighbours;
}

PricedCost ClusterPrices::neighbours(Bytes bytes) const {
  const CostTerms terms = neighbour_exchange_cost(bytes, ideal_.workers);
  PricedCost cost = price(terms, paths_);
  cost.setup = Seconds{};
  cost.copies = bytes * longest_neighbour_copies(host_costs(ideal_));
  if (!neighbours_are_routed()) return cost;
  const RoundFlows::Duration time = neighbour_flows().duration(bytes);
  cost.latency = time.latency;
  cost.bandwidth = time.bandwidth;
  return cost;
}

bool ClusterPrices::neighbours_are_exact() const {
  if (ideal_.workers == 1 || direct_prices_are_exact(ideal_)) return !host_costs(ideal_).differ();
  return workers_are_alike(ideal_) && !host_costs(ideal_).differ() && neighbours_are_routed() &&
         neighbour_flows().is_closed();
}

}  // namespace stepcast
