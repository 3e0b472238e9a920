// The equations: a step graph's tasks priced by closed forms, its steady state by the maximum cycle ratio.
#pragma once

#include "models/report/forecast.hpp"
#include "models/scenario/cluster.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// α-β-γ price of a communication task among all of the cluster's workers.
/// @throws ModelError for tasks of asynchronous servers, whose order depends on time
PricedCost communication_price(const Work& work, const StepGraph& graph, const Cluster& cluster);

/// Messages, bytes and reductions of a communication task.
CostTerms communication_terms(const Work& work, const StepGraph& graph, int workers);

/// Evaluates the graph in closed form. Workers of one speed are one vertex per compute task; a communication
/// task is one vertex for all. Exact for every strategy with like links and workers on the ideal star; with
/// unequal shards, unlike links or contended topologies an estimate that errs on the slow side.
/// @throws ModelError when the graph cannot be evaluated so (asynchronous servers)
StepForecast evaluate(const StepGraph& graph, const Cluster& cluster);

/// End of the last task of steps 0 .. steps-1: how long that many steps take from a standing start.
Seconds makespan(const StepGraph& graph, const Cluster& cluster, int steps);

}  // namespace stepcast
