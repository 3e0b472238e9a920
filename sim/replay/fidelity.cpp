#include "sim/replay/fidelity.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/scenario/foldable.hpp"

namespace stepcast {

std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph) {
  if (auto refusal = folding_refusal(scenario)) return refusal;
  std::set<StreamId> streams;
  bool any_direct = false;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<CollectiveWork>(task.work)) streams.insert(task.worker_stream);
    any_direct =
        any_direct || std::holds_alternative<ShardWork>(task.work) || std::holds_alternative<NeighbourWork>(task.work);
  }
  if (streams.size() > 1 || (!streams.empty() && any_direct))
    return "a collective may share links with other communication";
  return {};
}

FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph) {
  if (scenario.evaluation.fidelity == Fidelity::full) return {};
  const auto refusal = folding_refusal(scenario, graph);
  if (refusal && scenario.evaluation.fidelity == Fidelity::folded)
    throw ModelError(fmt::format("the replay cannot be folded exactly: {}; use --fidelity full", *refusal));
  if (refusal) return {false, *refusal};
  constexpr double kFewest = 64, kMostCounted = 1 << 18;
  const double messages = direct_messages(scenario, graph);
  if (scenario.evaluation.fidelity == Fidelity::folded || messages < kFewest || messages > kMostCounted)
    return {true, ""};
  FidelityDecision decision{true, "", fold(scenario.cluster, graph)};
  const double all = messages * (graph.shards > 0 ? 2 : 1),
               left = static_cast<double>(decision.fold->direct_flows.size());
  if (3 * left > 2 * all) return {false, fmt::format("folding would leave {} of {} messages", left, all)};
  return decision;
}

double direct_messages(const Scenario& scenario, const StepGraph& graph) {
  const double p = scenario.cluster.workers;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<ShardWork>(task.work)) return p * graph.shards;
    if (std::holds_alternative<NeighbourWork>(task.work)) return p * std::min(2.0, p - 1);
  }
  return 0;
}

}  // namespace stepcast
