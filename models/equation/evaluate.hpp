// The equations: closed forms price the tasks of a step graph, and the maximum cycle ratio gives its steady state.
#pragma once

#include <string>
#include <vector>

#include "models/equation/unfolded_graph.hpp"
#include "models/forecast/forecast.hpp"
#include "models/part/cluster.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// α-β-γ price of a communication task among all workers of the prices' cluster.
/// @throws ModelError for tasks of asynchronous servers, because their order depends on time
PricedCost communication_price(const Work& work, const StepGraph& graph, const ClusterPrices& prices);

/// Messages, bytes and reductions of a communication task.
CostTerms communication_terms(const Work& work, const StepGraph& graph, const ClusterPrices& prices);

/// @throws ModelError for a graph of workers that do not wait for all others
void refuse_asynchronous(const StepGraph& graph);

/// Evaluates the graph in closed form. Workers with one speed share one vertex per compute task. A communication task
/// is a single vertex.
///
/// Exact answers:
/// - all strategies with equal links on the ideal star;
/// - collectives on other topologies and links, if their rounds are followed (ClusterPrices::slack);
/// - equal shards on nodes and racks, if all participants wait for the busiest way out (shard_terms_are_exact);
/// - gossip where ClusterPrices::neighbours_are_exact says so.
///
/// Estimates, which the replay refines:
/// - other parameter servers: the price assumes that all pushes begin together and meet no pull. With unequal workers
///   this is not so. Pushes may then be faster. If co-located servers push and pull by the same links, pushes may be up
///   to 2 times slower;
/// - other gossip: the price assumes that all workers exchange together;
/// - collectives with many distinct messages in a round: within the bounds of step_range.
///
/// exactness.hpp gives the possible error of an answer.
/// @throws ModelError when the equations cannot evaluate the graph (asynchronous servers, collectives with too many
/// distinct messages)
StepForecast evaluate(const StepGraph& graph, const ClusterPrices& prices, Details details = Details::made);
StepForecast evaluate(const StepGraph& graph, const Cluster& cluster);
/// The same for a graph that is unfolded already, for workers of the prices' speeds.
StepForecast evaluate(const StepGraph& graph, const UnfoldedGraph& unfolded, const ClusterPrices& prices,
                      Details details);

/// The range of the replay's step: the periods with the least, the middle and the largest time of each collective.
/// All are 0 if every collective is exact.
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
  PricedCost communication{};  ///< parts of a communication task's time; zero for other tasks
  Seconds slowdown{};          ///< the stack's part of a computation's time
};

/// The cause of the step time: a cycle of tasks whose times add up to `steps` steps. No cycle gives a longer step. Only
/// a change that shortens one of these tasks can shorten the step.
struct CriticalTasks {
  std::vector<CriticalTask> tasks;  ///< in order, without tasks that take no time
  double steps = 1;                 ///< number of training steps in one round of the cycle
  struct Load {
    std::string stream;
    Seconds busy{};  ///< in one training step, on the slowest worker
  };
  std::vector<Load> loads{};  ///< all streams with work
};

/// The critical cycle. Its length is the step of evaluate().
/// @throws ModelError as evaluate does
CriticalTasks critical_tasks(const StepGraph& graph, const ClusterPrices& prices);

}  // namespace stepcast
