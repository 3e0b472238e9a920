#include "models/report/hosting_cost.hpp"

namespace stepcast {

std::optional<double> price_of_hour(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (!cluster.prices) return {};
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  const int servers = server && server->placement == ServerPlacement::dedicated ? server->shards : 0;
  return cluster.workers * cluster.prices->worker + servers * cluster.prices->server.value_or(cluster.prices->worker);
}

std::optional<double> cost_of(const Scenario& scenario, Seconds time) {
  const auto price = price_of_hour(scenario);
  return price ? std::optional(*price * (time / Seconds(3600))) : std::nullopt;
}

}  // namespace stepcast
