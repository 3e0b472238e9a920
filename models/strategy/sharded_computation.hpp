// The computation of a worker with sharded state in one step, and the pieces with a gathering or a reduction.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/part/strategy.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// One task of the step's computation. sharded.cpp gathers and reduces whole units.
struct Piece {
  TaskName name;
  Phase phase = Phase::forward;
  Seconds time{};
  double stack_share = 0.0;  ///< of its time
  int unit = 0;
  bool gathered = false;  ///< its unit is gathered for it
  bool reduced = false;   ///< its unit's gradients are reduced after it
  bool summed = false;    ///< then summed between groups
  int begun = 0;          ///< number of passes that begin with it
  int passes = 1;         ///< number of passes that it belongs to
  bool is_tail = false;   ///< backward of the layers before all units
  bool ends = false;      ///< last piece of a backward pass with reductions
};

/// A step's computation, in order.
/// @param slowdown  of backward passes during an exchange
/// @param gathers_ahead  whether units are gathered while others compute
std::vector<Piece> sharded_computation(const ShardedStrategy& strategy, const Workload& workload,
                                       const std::vector<Bucket>& units, double slowdown, bool gathers_ahead);

}  // namespace stepcast
