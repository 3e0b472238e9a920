#include "models/scenario/foldable.hpp"

#include "models/part/host_costs.hpp"

namespace stepcast {

std::optional<std::string> folding_refusal(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  if (cluster.jitter.cv > 0 && server && server->consistency == Consistency::synchronous) return kUnlike;
  if (server && server->sum_in_machine && host_costs(cluster).workers_of_machine > 1)
    return "sums inside machines may share links with pushes and pulls";
  if (meets_by_chance(scenario.strategy)) return "pairs of workers meet by chance";
  if (std::holds_alternative<SimGridXml>(cluster.topology)) return "only SimGrid knows the links of a platform file";
  if (std::holds_alternative<TcpTransport>(cluster.transport))
    return "TCP flows share links by the latency of their routes, which a folded route does not keep";
  return {};
}

}  // namespace stepcast
