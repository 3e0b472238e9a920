#include "models/strategy/exchange_price.hpp"

#include <variant>

namespace stepcast {

PricedCost exchange_price(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  if (const auto* collective = std::get_if<CollectiveWork>(&work)) {
    PricedCost cost = prices(collective->call);
    if (collective->call.recode > Seconds{})
      cost.reduction = collective->call.recode * (collective->call.among.size(prices.cluster().workers) - 1.0);
    return cost;
  }
  if (const auto* shards = std::get_if<ShardWork>(&work))
    return prices.shards(shards->exchange, shards->shard_bytes, graph.shards_co_located);
  if (const auto* neighbours = std::get_if<NeighbourWork>(&work))
    return prices.neighbours(neighbours->neighbours, neighbours->bytes, neighbours->added);
  if (const auto* negotiation = std::get_if<NegotiationWork>(&work)) return {.negotiation = negotiation->time};
  return {};
}

double stack_share(const Work& work, const PricedCost& price, const Cluster& cluster) {
  if (std::holds_alternative<ShardCopy>(work) || std::holds_alternative<NegotiationWork>(work)) return 1.0;
  if (std::holds_alternative<SimGridXml>(cluster.topology)) return 0.0;
  return price.total() > Seconds{} ? price.of_stack() / price.total() : 0.0;
}

double stack_share(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  const bool is_known = !std::holds_alternative<SimGridXml>(prices.cluster().topology);
  return stack_share(work, is_known ? exchange_price(work, graph, prices) : PricedCost{}, prices.cluster());
}

}  // namespace stepcast
