// The error band that a device profile's spread puts on a step.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/unit/quantity.hpp"

namespace stepcast {

struct Band {
  Seconds low{}, high{};
};

/// Whether a profile of the scenario, the workload's or its codec's, knows a spread.
bool has_spread(const Scenario& scenario);

/// The step time with every time of the profiles at the fast, and at the slow side of its spread: all together, since
/// errors of one calibration go one way. Layers without an entry move by the roofline's own spread, where it is known.
/// That is the widest band; independent errors of many layers would partly cancel. By the equations, as factors of
/// `stated`, their answer at the times stated, which are then laid on `shown`.
/// @throws ModelError where the equations cannot evaluate the scenario
Band band_of(const Scenario& scenario, Seconds stated, Seconds shown);

/// A scenario's band, or why it has none although a profile knows its spread. Neither where the spread moves nothing: a
/// band without width would read as certainty.
struct ErrorBand {
  std::optional<Band> band;
  std::string why_none;
};
/// @param stated  what the equations say, where they were asked
ErrorBand error_band(const Scenario& scenario, const StepGraph& graph, std::optional<Seconds> stated, Seconds shown);

}  // namespace stepcast
