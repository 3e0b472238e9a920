#include "sim/replay/fair_flows.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace stepcast {

FairFlows::FairFlows(simgrid::s4u::Engine& engine, const Quotient& quotient, simgrid::s4u::Host* host)
    : quotient_(quotient), flows_(quotient) {
  sg::add_actor(engine, "flows", host, [this] { end_flows(); })->daemonize();
}

void FairFlows::carry(std::size_t flow, double bytes, Track& track) {
  sleep(quotient_.flows[flow].delay.si());
  if (quotient_.flows[flow].local || bytes <= 0) return;
  const RunningFlows::Id id = flows_.start(flow, bytes, now());
  if (carrying_.size() <= id) carrying_.resize(id + 1);
  carrying_[id] = &track;
  started_->release();
  while (carrying_[id] == &track) track.wait();
}

void FairFlows::end_flows() {
  while (true) {
    const double next = flows_.next_end();
    if (std::isinf(next)) started_->acquire();
    // A wait of no time would last for ever.
    else if (const double wait = next - now(); wait > 0) started_->acquire_timeout(wait);
    while (!started_->would_block()) started_->acquire();  // those that start at the same time
    std::vector<Track*> ended;
    for (const RunningFlows::Id id : flows_.end(now())) ended.push_back(std::exchange(carrying_[id], nullptr));
    for (Track* track : ended) track->notify();  // others go on meanwhile, and start flows with these numbers
  }
}

}  // namespace stepcast
