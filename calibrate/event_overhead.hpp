// The time that the two events around a sample add to it. A kernel in a stream of kernels does not have this cost.
//
// Between events, n empty kernels take S(n) = e + n·l: e is the events' time, l the fixed cost of a kernel in a
// stream. One empty kernel and a chain of n give both:
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
/// @throws CalibrationError if the chain takes no longer than the single kernel: a launch would cost nothing
/// @pre n > 1
EventOverhead event_overhead(double single, double chain, double n);

/// The records with e subtracted from every sample. Each time of a kernel loses e over its repeats. At least l over the
/// repeats remains, since every run launches a kernel. A time below that stays unchanged.
std::vector<Record> without_events(std::vector<Record> records, const EventOverhead& overhead);

}  // namespace stepcast::calibrate
