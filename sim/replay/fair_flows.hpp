// Flows of a folded replay that start at any time, without SimGrid's.
//
// SimGrid looks for the rates of all flows anew when one starts or ends, with some hundred nanoseconds for each. A
// thousand asynchronous workers have a thousand flows at a time. Here a flow costs some ten nanoseconds. The rates are
// the same, those of max-min fairness (fabric/fair_shares.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "models/fabric/fair_shares.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {

/// An actor of its own ends the flows. It sleeps until the next one ends, or another one starts.
class FairFlows {
 public:
  /// @param quotient  has to live as long
  /// @param host      any; its actor runs there
  FairFlows(simgrid::s4u::Engine& engine, const Quotient& quotient, simgrid::s4u::Host* host);

  /// Returns when the flow has carried the bytes, after its delay.
  void carry(std::size_t flow, double bytes, Track& track);

 private:
  struct Carried {
    double rest;  ///< bytes at the time of the last look
    double end;   ///< time of its end, if no rate changes
    Track* track;
    bool* ended;
  };

  void live();
  void look();
  void share();

  const Quotient& quotient_;
  FairShares shares_;
  simgrid::s4u::SemaphorePtr started_ = simgrid::s4u::Semaphore::create(0);
  std::vector<std::size_t> running_;  ///< flows
  std::vector<Carried> carried_;      ///< beside running_
  std::vector<double> rates_;         ///< beside running_, without the flows that have started since the last look
  double last_look_ = 0.0;
};

}  // namespace stepcast
