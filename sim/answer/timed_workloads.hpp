// Workloads that the points of a study share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/describe/note.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

struct TimedWorkload {
  Workload workload;
  Notes notes;  ///< about its layer times (workload/timing_notes.hpp)
};

/// The workloads of scenarios; makes each table's once. Not thread-safe.
class TimedWorkloads {
 public:
  /// Valid for the lifetime of this.
  const TimedWorkload& of(const Scenario& scenario);

 private:
  std::map<std::shared_ptr<const WorkloadTable>, TimedWorkload> known_;
};

}  // namespace stepcast
