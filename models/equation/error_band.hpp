// The error band of a step from a device profile's spread and a stack's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/unit/quantity.hpp"
#include "models/workload/spread.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

struct Band {
  Seconds low{}, high{};
};

/// Workloads with every time at one side of its profile's spread, which points share. Keeps those of some tables. Not
/// thread-safe.
class SidedWorkloads {
 public:
  struct Sided {
    std::shared_ptr<const WorkloadTable> table;  ///< with the profile at that side
    Workload workload;
  };
  /// Valid until the next call.
  /// @pre the table has a profile and outlives this
  const Sided& of(const Scenario& scenario, Side side);

 private:
  std::map<std::pair<const WorkloadTable*, Side>, Sided> known_;
};

/// Whether a profile of the scenario (the workload's or the codec's) has a spread, or the stack of several workers has.
bool has_spread(const Scenario& scenario);

/// The step time with every profile time at the fast side of its spread, and at the slow side. All times move together,
/// since the errors of one calibration have the same direction. Layers without an entry move by the roofline's own
/// spread, if known. This is the widest band: independent errors of many layers would partly cancel. The equations give
/// factors of `stated`, their answer at the stated times; the factors are then applied to `shown`. A stack's spread s
/// widens the band by a factor e^(1.645 s) on both sides, a normal distribution's 90 % interval.
/// @param prices  the cluster's, which no profile changes
/// @param sides   that other points share
/// @throws ModelError if the equations cannot evaluate the scenario
Band band_of(const Scenario& scenario, const ClusterPrices& prices, Seconds stated, Seconds shown,
             SidedWorkloads& sides);

/// A scenario's band, or why it has none although a spread is known. Neither where the spread moves nothing: a
/// band without width would read as certainty.
struct ErrorBand {
  std::optional<Band> band;
  std::string why_none;
};
/// @param stated  what the equations say, where they were asked
ErrorBand error_band(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices,
                     std::optional<Seconds> stated, Seconds shown, SidedWorkloads& sides);

}  // namespace stepcast
