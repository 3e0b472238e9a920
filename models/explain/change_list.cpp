#include "models/explain/change_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/describe/json.hpp"
#include "models/fabric/machines.hpp"
#include "models/scenario/collective_choice.hpp"

namespace stepcast {

Json without_defaults(const Json& part, const Json& usual) {
  Json rest = Json::object();
  for (const auto& [key, value] : part.items()) {
    const auto other = usual.find(key);
    const bool stays = key == "kind" || other == usual.end();
    if (!stays && value == *other) continue;
    rest[key] = !stays && value.is_object() && other->is_object() ? without_defaults(value, *other) : value;
  }
  return rest;
}

CollectiveChoice kept_choice(const Strategy& strategy, std::initializer_list<Operation> operations) {
  const CollectiveChoice* choice = collective_of(strategy);
  const auto fits = [&](Operation operation) { return fitted(*choice, operation) == *choice; };
  return choice && std::all_of(operations.begin(), operations.end(), fits) ? *choice : CollectiveChoice{};
}

CollectiveChoice kept_choice_inside(const Strategy& strategy, bool is_group) {
  CollectiveChoice choice = kept_choice(strategy, {Operation::all_gather, Operation::reduce_scatter});
  const bool is_of_groups = choice.algorithm == Algorithm::hierarchical || choice.algorithm == Algorithm::multi_ring;
  return is_group && is_of_groups ? CollectiveChoice{} : choice;
}

CollectiveChoice kept_all_reduce(const Scenario& scenario) {
  return kept_choice(scenario.strategy, {Operation::all_reduce});
}

std::optional<int> machine_group(const Scenario& scenario) {
  const int group = natural_group(scenario.cluster), workers = scenario.cluster.workers;
  return group > 1 && group < workers && workers % group == 0 ? std::optional(group) : std::nullopt;
}

std::string steps_text(int steps) { return steps == 1 ? "step" : fmt::format("{} steps", steps); }

Settings computed_again(const Place<WorkloadTable>& workload, double share) {
  Settings set{setting(workload, &WorkloadTable::recomputation, Recomputation::blocks)};
  if (workload.part.recomputed_share != share)
    set.push_back(setting(workload, &WorkloadTable::recomputed_share, share));
  return set;
}

Settings passes_of(const Place<WorkloadTable>& workload, int accumulation, int batch) {
  Settings set{setting(workload, &WorkloadTable::batch, batch)};
  if (!workload.part.global_batch) set.push_back(setting(workload, &WorkloadTable::accumulation, accumulation));
  return set;
}

}  // namespace stepcast
