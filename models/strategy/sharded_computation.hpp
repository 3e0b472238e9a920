// What a worker of sharded state computes in a step, and for which of it units are gathered and reduced.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/part/strategy.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// One task of the step's computation; a unit is what sharded.cpp gathers and reduces together.
struct Piece {
  std::string name;
  Phase phase = Phase::forward;
  Seconds time{};
  int unit = 0;
  bool gathered = false;  ///< its unit is gathered for it
  bool reduced = false;   ///< its unit's gradients are reduced after it
  bool summed = false;    ///< and then summed up between groups
  int begun = 0;          ///< passes that begin with it
  int passes = 1;         ///< that it belongs to
  bool is_tail = false;   ///< backward of layers before all units
  bool ends = false;      ///< the backward pass of units that are reduced
};

/// A step's computation, in order.
/// @param slowdown  of backward passes while something is exchanged
/// @param gathers_ahead  whether units are gathered while others compute
std::vector<Piece> sharded_computation(const ShardedStrategy& strategy, const Workload& workload,
                                       const std::vector<Bucket>& units, double slowdown, bool gathers_ahead);

}  // namespace stepcast
