// Messages of a folded replay that start at any time, on links of ours instead of SimGrid's.
//
// SimGrid looks for the rates of all flows anew when one starts or ends, with some hundred nanoseconds for each. A
// thousand asynchronous workers have a thousand flows at a time. Their rates here are the same, those of max-min fairness
// (fabric/running_flows.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "models/fabric/running_flows.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {

/// An actor of its own ends the flows. It sleeps until the next one ends, or another one starts.
class FairFlows {
 public:
  /// @param quotient  has to live as long
  /// @param host      any; the actor runs there
  FairFlows(simgrid::s4u::Engine& engine, const Quotient& quotient, simgrid::s4u::Host* host);

  /// Returns when the flow has carried the bytes, after its delay.
  void carry(std::size_t flow, double bytes, Track& track);

 private:
  void end_flows();

  const Quotient& quotient_;
  RunningFlows flows_;
  simgrid::s4u::SemaphorePtr started_ = simgrid::s4u::Semaphore::create(0);
  std::vector<Track*> carrying_;  ///< by id of the running flow; null once it has ended
};

}  // namespace stepcast
