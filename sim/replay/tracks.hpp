// A track is an actor that runs the tasks of its stream in order, step after step. Each task waits for its dependencies
// on the same participant. A worker with bounded staleness waits for the slowest before it begins a step.
#pragma once

#include <vector>

#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/executor.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/step_progress.hpp"

namespace stepcast {

/// Simulates all tracks of the participants until they have ended. The executor does the tasks, and the progress
/// decides when to stop.
/// @throws ModelError when a worker runs away, or a message is too large to be counted
void run_tracks(simgrid::s4u::Engine& engine, std::vector<Participant>& participants, const StepGraph& graph,
                Executor& executor, Progress& progress, Recorder& recorder);

}  // namespace stepcast
