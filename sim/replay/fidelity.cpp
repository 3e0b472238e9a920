#include "sim/replay/fidelity.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "models/scenario/fault.hpp"
#include "models/scenario/fidelity.hpp"

namespace stepcast {

std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph) {
  if (auto refusal = folding_refusal(scenario)) return refusal;
  std::set<StreamId> streams;
  bool any_direct = false;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<CollectiveWork>(task.work)) streams.insert(task.worker_stream);
    any_direct = any_direct || std::holds_alternative<DirectWork>(task.work);
  }
  if (streams.size() > 1 || (!streams.empty() && any_direct)) return "a collective may share links with other communication";
  return {};
}

FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph) {
  if (scenario.evaluation.fidelity == Fidelity::full) return {};
  const auto refusal = folding_refusal(scenario, graph);
  if (refusal && scenario.evaluation.fidelity == Fidelity::folded)
    throw ModelError(fmt::format("the replay cannot be folded exactly: {}; use --fidelity full", *refusal));
  return {!refusal, refusal.value_or("")};
}

}  // namespace stepcast
