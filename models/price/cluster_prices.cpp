#include "models/price/cluster_prices.hpp"

#include <cstdint>

#include "models/part/host_costs.hpp"
#include "models/part/protocols.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/ideal_equivalent.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {

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

bool ClusterPrices::are_routed(const Neighbours& neighbours) const {
  constexpr std::int64_t kMost = 1 << 21;  // messages; routing them takes one or two seconds
  return routes_are_known(ideal_) && ideal_.workers > 1 && message_count(neighbours, ideal_.workers) <= kMost;
}

const RoundFlows& ClusterPrices::flows_of(const Neighbours& neighbours) const {
  auto known = cache_.neighbours.find(neighbours);
  if (known == cache_.neighbours.end()) {
    Fabric fabric(ideal_, 0);
    known =
        cache_.neighbours.emplace(neighbours, followed_flows(messages_of(neighbours, ideal_.workers), fabric)).first;
  }
  return known->second;
}

PricedCost ClusterPrices::neighbours(const Neighbours& neighbours, Bytes bytes, Bytes added) const {
  const CostTerms terms = neighbour_exchange_cost(neighbours, bytes, added, ideal_.workers);
  PricedCost cost = price(terms, paths_);
  cost.setup = Seconds{};
  if (const HostCosts costs = host_costs(ideal_); costs.any())
    cost.copies = bytes * load_of(messages_of(neighbours, ideal_.workers), costs).copies;
  if (!are_routed(neighbours)) return cost;
  const RoundFlows::Duration time = flows_of(neighbours).duration(bytes);
  cost.latency = time.latency;
  cost.bandwidth = time.bandwidth;
  return cost;
}

bool ClusterPrices::neighbours_are_exact(const Neighbours& neighbours) const {
  const HostCosts costs = host_costs(ideal_);
  const int p = ideal_.workers;
  if (costs.differ()) return false;
  if (p == 1) return true;
  const bool alike = workers_are_alike(ideal_), star = direct_prices_are_exact(ideal_);
  if (unlike_steps(neighbours, p) > 1) return alike && star;
  if (star) return alike || is_regular(neighbours, p);
  const bool adds = costs.any() || ideal_.reduction_cost > SecondsPerByte{}, regular = is_regular(neighbours, p);
  if (!alike || (adds && !regular) || !are_routed(neighbours) || !flows_of(neighbours).is_closed()) return false;
  return flows_of(neighbours).fullest().link >= 0 || (is_plain_star(ideal_) && regular);
}

}  // namespace stepcast
