// Fragments of the parameters, which local SGD averages one after the other.
#pragma once

#include <vector>

#include "models/workload/workload.hpp"

namespace stepcast {

/// Parameters that are averaged together.
struct Fragment {
  int number = 0;  ///< 0 to P - 1
  int due = 0;     ///< steps of a round before they are sent: ceil((number + 1)·H/P)
  Bytes bytes{};
  std::vector<Bucket> buckets;
};

/// The fragments that are not empty. A fragment has the buckets whose middle lies in its part of all bytes. With
/// grouping whole-model it has one bucket, of the tensors whose middle lies there.
std::vector<Fragment> fragments_of(const LocalSgdStrategy& strategy, const Workload& workload);

/// The most bytes of fragments that are sent and not yet used at one time.
Bytes most_in_flight(const LocalSgdStrategy& strategy, const Workload& workload);

}  // namespace stepcast
