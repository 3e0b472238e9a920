// Converts a worker's timeline to the parts of its step time.
#pragma once

#include <vector>

#include "models/forecast/forecast.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// The time of one task on one worker.
struct Interval {
  Phase phase = Phase::forward;
  double start = 0.0, end = 0.0;  ///< seconds
  double stack_share = 0.0;       ///< share of it that the stack adds
};

/// Attributes every instant of [begin, begin + length) to the first active phase, in the order forward, backward,
/// update, encode, decode, exchange. The stack gets the least share that it has of any active interval of that phase.
/// An instant without an active phase is waiting. The parts add up to `length`. It is fast if intervals that touch
/// follow each other.
Breakdown attribute(const std::vector<Interval>& intervals, double begin, double length);

/// Folds intervals of a periodic timeline into [0, period), one steady-state period.
std::vector<Interval> wrap(const std::vector<Interval>& intervals, double period);

/// a + weight·b, part by part.
Breakdown add(const Breakdown& a, const Breakdown& b, double weight);

}  // namespace stepcast
