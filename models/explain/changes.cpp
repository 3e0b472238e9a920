#include "models/explain/changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/explain/change_list.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {

std::vector<Change> changes_of(const Scenario& scenario) {
  ChangeList changes;
  add_cluster_changes(scenario, changes);
  add_exchange_changes(scenario, changes);
  if (trains(scenario)) {
    add_workload_changes(scenario, changes);
    add_training_changes(scenario, changes);
  }
  return std::move(changes.all());
}

std::vector<Change> leaner_changes(const Scenario& scenario) {
  ChangeList changes;
  if (!trains(scenario) || !gives_shapes(*scenario.workload)) return changes.all();
  const Place<WorkloadTable> here = workload_of(scenario);
  const WorkloadTable& w = here.part;
  struct Step {
    std::string what;  ///< empty: unchanged
    Settings set;
    bool is_told = false;  ///< changes_of already has it
  };
  std::vector<Step> passes{{}}, kept{{}}, states{{}};
  for (int parts = 2; w.batch % parts == 0 && w.accumulation <= kMostAccumulation / parts; parts *= 2)
    passes.push_back({fmt::format("{} passes of {}", w.accumulation * parts, w.batch / parts),
                      passes_of(here, w.accumulation * parts, w.batch / parts), parts == 2});
  if (w.recomputation == Recomputation::none && !blocks_of(list_gradients(w).layers).empty())
    for (const double share : {0.5, 1.0})
      kept.push_back({share < 1 ? "every second block computed again" : "blocks computed again",
                      computed_again(here, share), true});
  if (std::holds_alternative<AllReduceStrategy>(scenario.strategy) &&
      std::holds_alternative<NoCompressor>(scenario.compressor))
    for (const ShardingStage stage : {ShardingStage::gradients, ShardingStage::parameters}) {
      const ShardedStrategy sharded{.stage = stage, .collective = kept_choice_inside(scenario.strategy, false)};
      const bool is_told = stage == ShardingStage::gradients;
      states.push_back({is_told ? "gradients and optimizer state sharded" : "all state sharded",
                        {ChangeList::strategy_setting(sharded)},
                        is_told});
    }
  for (const Step& state : states)
    for (const Step& keep : kept)
      for (const Step& pass : passes) {
        std::vector<std::string> what;
        bool is_told = true;
        Settings set;
        for (const Step* step : {&pass, &keep, &state}) {
          if (step->what.empty()) continue;
          is_told = what.empty() && step->is_told;
          what.push_back(step->what);
          set.insert(set.end(), step->set.begin(), step->set.end());
        }
        if (!is_told) changes.add(ChangeOf::memory, fmt::format("{}", fmt::join(what, ", ")), std::move(set));
      }
  return std::move(changes.all());
}

}  // namespace stepcast
