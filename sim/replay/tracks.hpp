// The life of a track: an actor that runs the tasks of its stream in order, step after step, each when its dependencies
// on the same participant have ended. A worker whose staleness is bounded waits for the slowest before it begins a step.
#pragma once

#include <vector>

#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/executor.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/step_progress.hpp"

namespace stepcast {

/// Simulates all tracks of the participants until they have ended: how tasks are done is the executor's, when to stop
/// the progress's.
/// @throws ModelError when a worker runs away, or a message is too large to be counted
void run_tracks(simgrid::s4u::Engine& engine, std::vector<Participant>& participants, const StepGraph& graph,
                Executor& executor, StepProgress& progress, Recorder& recorder);

}  // namespace stepcast
