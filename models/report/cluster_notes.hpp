// Notes on a point's links and on the collectives over them.
#pragma once

#include "models/describe/note.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Appends notes on TCP effects, free latencies, fitted links and algorithms that a library may not have.
void add_cluster_notes(const Scenario& scenario, const StepGraph& graph, Notes& notes);

}  // namespace stepcast
