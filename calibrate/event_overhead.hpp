// The time that the two events around a sample add to it. A kernel in a stream of kernels does not have this cost.
//
// Between events, n empty kernels take S(n) = e + n·l: e is what the events add, l what a kernel of a stream costs
// whatever it does. One empty kernel and a chain of n give both:
//
//     e = (n·S(1) - S(n))/(n - 1),   l = (S(n) - e)/n
#pragma once

#include <vector>

#include "calibrate/sample_file.hpp"

namespace stepcast::calibrate {

struct EventOverhead {
  double events = 0;  ///< s of a sample, e; 0 where n·S(1) is less than S(n)
  double launch = 0;  ///< s of a kernel, l
};

/// @param single  S(1), s
/// @param chain   S(n), s
/// @throws CalibrationError where the chain takes no longer than the single kernel, so that a launch would cost nothing
/// @pre n > 1
EventOverhead event_overhead(double single, double chain, double n);

/// The records with e taken from every sample: e over its repeats from each time, since that is of one pass. What
/// remains is l over the repeats, since every run launches a kernel, or more; a time that is less than that stays as it
/// is.
std::vector<Record> without_events(std::vector<Record> records, const EventOverhead& overhead);

}  // namespace stepcast::calibrate
