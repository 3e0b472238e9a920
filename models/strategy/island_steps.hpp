// Steps of islands: synchronous SGD inside each, one step after the other, or several steps of workers alone before an
// average of the island.
#pragma once

#include <optional>
#include <vector>

#include "models/part/islands.hpp"
#include "models/part/strategy.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {

/// The strategy of a step with sharded state, of all workers or inside islands; nothing if each holds all of the state.
std::optional<ShardedStrategy> sharded_step(const Strategy& strategy);

/// One step of each island, all at the same time, by strategy all-reduce or sharded; or `steps` of them, with one average of
/// parameters at their end.
StepGraph island_step(const Islands& islands, const GraphInput& input);

/// The all-gather of n bytes inside each island, after its workers have averaged their shares.
CollectiveCall gather_in_islands(const Islands& islands, const GraphInput& input, Bytes n);

/// Repeats such steps in the graph of a round.
class IslandSteps {
 public:
  /// @param step     of island_step(); its stream "compute" becomes `compute`, and its others streams of their own
  IslandSteps(StepGraph step, StepGraph& round, StreamId compute);

  /// Adds them, with dependencies on the steps before. Returns the tasks that begin them and those that end them.
  LocalSteps add();

  /// Lets the first steps of a round follow the last ones of the round before.
  void close();

 private:
  StepGraph step_;
  StepGraph& round_;
  std::vector<StreamId> streams_;     ///< by stream of the step
  std::vector<TaskId> first_, last_;  ///< of a step, from its first task on
  std::vector<TaskId> begun_;         ///< by step: its first task in the round
};

}  // namespace stepcast
