#include "models/scenario/servers_without_effect.hpp"

#include <variant>

#include <fmt/format.h>

#include "models/part/host_costs.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/scenario/workload_without_effect.hpp"

namespace stepcast {
namespace {

const ParameterServerStrategy* servers_of(const Scenario& s) {
  return std::get_if<ParameterServerStrategy>(&s.strategy);
}

std::string unless_consistency(const Scenario& s, Consistency consistency) {
  const auto* server = servers_of(s);
  return unless(!server || server->consistency == consistency,
                server ? fmt::format("consistency is {}", name_of(server->consistency)) : "");
}

}  // namespace

std::string backup_workers(const Scenario& s) { return unless_consistency(s, Consistency::backup_workers); }
std::string staleness_bound(const Scenario& s) { return unless_consistency(s, Consistency::stale_synchronous); }

std::string balance(const Scenario& s) {
  const auto* server = servers_of(s);
  return unless(!server || server->shards > 1, "there is one shard");
}

/// If messages cannot be summed, the time of the kernels that decode and add them applies instead.
std::string server_reduction_cost(const Scenario& s) {
  if (!servers_of(s) || !s.workload) return "";
  return unless(any_has(s, is_summed),
                fmt::format("messages of {} are added by the kernels that decode them", compressor_text(s)));
}

std::string sum_in_machine(const Scenario& s) {
  return unless(!servers_of(s) || host_costs(s.cluster).workers_of_machine > 1, "each worker is a machine");
}

std::string duplex(const Scenario& s) {
  const auto* server = servers_of(s);
  if (std::string other = unless_consistency(s, Consistency::synchronous); !server || !other.empty()) return other;
  return unless(server->shards == 1 || server->placement == ServerPlacement::dedicated,
                "several co-located shards push and pull in turn");
}

std::string server_update_factor(const Scenario& s) {
  const auto* server = servers_of(s);
  return unless(!server || !server->two_way, "two_way is true, and workers update");
}

std::string server_price(const Scenario& s) {
  const auto* server = servers_of(s);
  return unless(!s.cluster.prices || (server && server->placement == ServerPlacement::dedicated),
                "no parameter server has a separate host");
}

}  // namespace stepcast
