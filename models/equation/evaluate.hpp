// The equations: a step graph's tasks priced by closed forms, its steady state by the maximum cycle ratio.
#pragma once

#include <string>
#include <vector>

#include "models/forecast/forecast.hpp"
#include "models/part/cluster.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// α-β-γ price of a communication task among all of the prices' cluster's workers.
/// @throws ModelError for tasks of asynchronous servers, whose order depends on time
PricedCost communication_price(const Work& work, const StepGraph& graph, const ClusterPrices& prices);

/// Messages, bytes and reductions of a communication task.
CostTerms communication_terms(const Work& work, const StepGraph& graph, const ClusterPrices& prices);

/// Evaluates the graph in closed form. Workers of one speed are one vertex per compute task; a communication task is
/// one vertex for all.
///
/// Exact are:
/// - all strategies with like links on the ideal star;
/// - collectives on other topologies and links, as far as their rounds are followed (ClusterPrices::slack);
/// - equal shards on nodes and racks, where all wait for the busiest way out (shard_terms_are_exact);
/// - gossip, where those who use the busiest link wait longest (ClusterPrices::neighbours_are_exact).
///
/// Estimates, which replay refines, are:
/// - other parameter servers: their pushes are priced as if all began at once and met no pull. Pushes of unlike
///   workers do not, and may be faster for it or, where co-located servers push and pull by the same links, up to
///   2 times slower;
/// - other gossip: as if all workers exchanged at once;
/// - collectives with many unlike messages in a round: within the bounds that step_range has.
///
/// How far off an answer may be is for exactness.hpp.
/// @throws ModelError when the graph cannot be evaluated so (asynchronous servers, collectives of too many unlike
/// messages)
StepForecast evaluate(const StepGraph& graph, const ClusterPrices& prices);
StepForecast evaluate(const StepGraph& graph, const Cluster& cluster);

/// What the replay's step may be, by what is known of its collectives: the periods with the least, the middle and the
/// most that each may take; all 0 where nothing is open.
struct StepRange {
  Seconds low{}, middle{}, high{};
};
/// @throws ModelError as evaluate does
StepRange step_range(const StepGraph& graph, const ClusterPrices& prices);

/// A task on the critical cycle.
struct CriticalTask {
  std::string name;
  Phase phase = Phase::forward;
  Seconds time{};              ///< on the slowest worker
  PricedCost communication{};  ///< what a communication task's time is made of; nothing of others
};

/// What determines the step time: the cycle of tasks whose times add up to `steps` steps, and no other cycle to more.
/// A change that shortens none of them shortens nothing.
struct CriticalTasks {
  std::vector<CriticalTask> tasks;  ///< in order, those that take no time left out
  double steps = 1;                 ///< training steps that once around it takes
  struct Load {
    std::string stream;
    Seconds busy{};  ///< in a training step, on the slowest worker
  };
  std::vector<Load> loads{};  ///< of all streams that have work
};

/// The critical cycle whose length evaluate() calls a step.
/// @throws ModelError as evaluate does
CriticalTasks critical_tasks(const StepGraph& graph, const ClusterPrices& prices);

}  // namespace stepcast
