// How many messages a replay sends, and whether these are too many to start by default.
#pragma once

#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Steps until a steady state is usually proven. Where there is none, with jitter and asynchronous servers, max_steps
/// count.
inline constexpr double kStepsToSteadyState = 4;
/// Of servers on a torus, whose workers wait for different links: 18 to 75.
inline constexpr double kStepsToConvergence = 48;

/// Messages of all steps and runs of a replay in full. Those of asynchronous servers are estimated.
double replay_messages(const Scenario& scenario, const StepGraph& graph);

/// Messages of a replay, sent or folded, that "auto" starts at most.
inline constexpr double kMostReplayed = 1e8;
/// Why "auto" does not start the replay; empty where it does.
std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
