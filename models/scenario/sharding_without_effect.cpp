#include "models/scenario/sharding_without_effect.hpp"

#include <variant>

#include <fmt/format.h>

#include "models/scenario/workload_without_effect.hpp"

namespace stepcast {

std::string kept_parameters(const Scenario& s) {
  const auto* sharded = std::get_if<ShardedStrategy>(&s.strategy);
  return unless(!sharded || sharded->stage == ShardingStage::parameters,
                sharded ? fmt::format("stage is {}, which keeps gathered parameters", name_of(sharded->stage)) : "");
}
std::string backward_group_size(const Scenario& s) {
  const auto* sharded = std::get_if<ShardedStrategy>(&s.strategy);
  if (std::string kept = kept_parameters(s); !sharded || !kept.empty()) return kept;
  if (sharded->exchange.grouping == Grouping::whole_model) return "grouping is whole-model, which is gathered once";
  return unless(s.cluster.workers > 1 && sharded->backward_group(s.cluster.workers) < sharded->group(s.cluster.workers),
                "the forward pass gathers among these workers, too");
}
std::string quantized_gather(const Scenario& s) {
  return unless(!std::get_if<ShardedStrategy>(&s.strategy) || s.cluster.workers > 1, "a single worker gathers nothing");
}

std::string reduce_after(const Scenario& s) {
  return unless(!std::get_if<ShardedStrategy>(&s.strategy) || !s.workload || s.workload->accumulation > 1,
                "a step is one pass");
}

std::string reduce_dtype(const Scenario& s) {
  const auto* sharded = std::get_if<ShardedStrategy>(&s.strategy);
  return unless(!sharded || !s.workload || sharded->reduced_over(s.workload->dtype) != 1,
                s.workload ? fmt::format("the workload's dtype, {}, is as wide", name_of(s.workload->dtype)) : "");
}

std::string unless_bucketed(Grouping grouping) {
  return unless(grouping == Grouping::bucketed, fmt::format("grouping is {}", name_of(grouping)));
}

std::string bucket_cap_of_islands(const Scenario& s) {
  const Islands* islands = islands_of(s.strategy);
  return islands ? unless_bucketed(islands->grouping) : "";
}
std::string overlap_of_islands(const Scenario& s) {
  const Islands* islands = islands_of(s.strategy);
  if (islands && islands->steps > 1) return "islands average after their steps";
  return unless(!islands || islands->grouping != Grouping::whole_model,
                "grouping is whole-model, which never overlaps");
}

}  // namespace stepcast
