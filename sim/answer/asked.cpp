#include "sim/answer/asked.hpp"

#include <stdexcept>

#include "models/strategy/builder.hpp"
#include "sim/answer/replay_messages.hpp"

namespace stepcast {

Asked asked(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices) {
  Asked answer{evaluators_of(scenario, graph, prices), ""};
  if (scenario.evaluation.evaluator == Evaluator::automatic && answer.evaluators.replay)
    answer.refusal = refuse_long_replay(scenario, graph);
  return answer;
}

Asked AskedEvaluators::of(const Scenario& scenario) {
  const auto known = evaluators_of(scenario);
  if (known && (scenario.evaluation.evaluator != Evaluator::automatic || known->equations)) return {*known, ""};
  if (!known && exchanges_by_collectives(scenario)) return {{.equations = true}, ""};
  try {
    const ClusterPrices& prices = prices_.of(scenario.cluster);
    return asked(scenario, build_step_graph(scenario, workloads_.of(scenario).workload, prices), prices);
  } catch (const std::exception&) {
    return {{.equations = true}, ""};
  }
}

}  // namespace stepcast
