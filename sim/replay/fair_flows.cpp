#include "sim/replay/fair_flows.hpp"

#include <algorithm>
#include <limits>

namespace stepcast {
namespace {

/// SimGrid's clock is a sum of many short times. Ends that are as near as this are reached.
double reached(double time) { return time * (1 + 1e-14) + 1e-12; }

}  // namespace

FairFlows::FairFlows(simgrid::s4u::Engine& engine, const Quotient& quotient, simgrid::s4u::Host* host)
    : quotient_(quotient), shares_(quotient) {
  sg::add_actor(engine, "flows", host, [this] { live(); })->daemonize();
}

void FairFlows::carry(std::size_t flow, double bytes, Track& track) {
  sleep(quotient_.flows[flow].delay.si());
  if (quotient_.flows[flow].local || bytes <= 0) return;
  bool ended = false;
  running_.push_back(flow);
  carried_.push_back({bytes, std::numeric_limits<double>::infinity(), &track, &ended});
  started_->release();
  while (!ended) track.wait();
}

void FairFlows::live() {
  while (true) {
    if (running_.empty()) {
      started_->acquire();
    } else {
      const auto next = std::min_element(carried_.begin(), carried_.end(),
                                         [](const Carried& a, const Carried& b) { return a.end < b.end; });
      // A wait of no time would last for ever.
      if (const double wait = next->end - now(); wait > 0) started_->acquire_timeout(wait);
    }
    while (!started_->would_block()) started_->acquire();  // those that start at the same time are shared once
    look();
    share();
  }
}

/// Counts what has been carried since the last look. Ends the flows that have come to their end.
void FairFlows::look() {
  const double passed = now() - last_look_, reached_now = reached(now());
  last_look_ = now();
  std::size_t left = 0;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Carried& one = carried_[i];
    if (i < rates_.size()) one.rest -= rates_[i] * passed;
    if (one.end <= reached_now) {
      *one.ended = true;
      one.track->notify();
      continue;
    }
    running_[left] = running_[i];
    carried_[left++] = one;
  }
  running_.resize(left);
  carried_.resize(left);
}

void FairFlows::share() {
  shares_.share(running_, rates_);
  for (std::size_t i = 0; i < running_.size(); ++i)
    carried_[i].end = now() + std::max(0.0, carried_[i].rest) / rates_[i];
}

}  // namespace stepcast
