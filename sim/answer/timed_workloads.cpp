#include "sim/answer/timed_workloads.hpp"

#include "models/strategy/builder.hpp"
#include "models/workload/timing_notes.hpp"

namespace stepcast {

const TimedWorkload& TimedWorkloads::of(const Scenario& scenario) {
  const auto [entry, is_new] = known_.try_emplace(scenario.workload);
  if (is_new) entry->second = {make_workload(scenario), scenario.workload ? timing_notes(*scenario.workload) : Notes{}};
  return entry->second;
}

}  // namespace stepcast
