// The replay of steps whose workers differ by chance and meet in collectives alone.
//
// Nothing else is on the links while a collective runs, so it takes the same time in every step. It is simulated once.
// Each worker's computing between collectives is its own (worker_clock.hpp). Only who comes when is new in each step: a
// collective starts when its last worker has come.
//
// The result is that of a full replay: the same draws, the same times, the same passes.
//
// Memory: the state of every worker, and the ends of its passes. Timelines are made anew for one worker after the
// other.
#pragma once

#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/replay_log.hpp"

namespace stepcast {

/// Whether the workers differ by chance and meet in collectives alone, on one stream.
bool are_arrivals(const Scenario& scenario, const StepGraph& graph);

/// @param times  by task: the seconds that its collective takes once all have come
/// @param run  number of the run, for the random numbers of jitter
/// @param observer  called for every task, in order of time, once all collectives are known
/// @pre are_arrivals, and the scenario and the graph outlive the result
ReplayLog replay_arrivals(const Scenario& scenario, const StepGraph& graph, const std::vector<double>& times, int run,
                          const TaskObserver& observer);

}  // namespace stepcast
