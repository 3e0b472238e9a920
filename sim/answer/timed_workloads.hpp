// What the points of a study share of their workloads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/describe/note.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

struct TimedWorkload {
  Workload workload;
  Notes notes;  ///< on its times (workload/timing_notes.hpp)
};

/// The workloads of scenarios, each table's made once. Not for several threads.
class TimedWorkloads {
 public:
  /// Good as long as this is.
  /// @pre the scenario's table outlives this
  const TimedWorkload& of(const Scenario& scenario);

 private:
  std::map<const WorkloadTable*, TimedWorkload> known_;
};

}  // namespace stepcast
