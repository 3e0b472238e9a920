// Scenarios made in code, and their answers from both evaluators.
#pragma once

#include <string>
#include <vector>

#include "models/forecast/forecast.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast::test {

/// A scenario's name in messages and what both evaluators say about it.
struct Comparison {
  std::string what;
  StepForecast equations;
  StepForecast replay;
};

struct Case {
  std::string what;
  Scenario scenario;
};

/// p workers on a star of 10 Gb/s and 25 us, γ = 0.05 ns/B, h = 0.1 ns/B (inside machines, too), S = 7 us: every term counts.
Cluster star(int p);

/// Four gradients of unlike sizes and gaps; forward 10 ms, backward 14 ms, update 1 ms, each times `pace`.
WorkloadTable small_workload(double pace = 1.0);

/// One gradient of 10 MB, ready when back-propagation ends.
WorkloadTable one_tensor(Seconds forward, Seconds backward, Seconds update = {});

/// A scenario with small_workload().
Scenario scenario_of(const Cluster& cluster, const Strategy& strategy);

/// The scenario with steps of several passes.
Scenario accumulating(Scenario scenario, int passes);

/// One collective per step.
Scenario collective_of(const Cluster& cluster, Operation operation, Algorithm algorithm, Bytes size);

/// Exposed communication with the stack's part of it.
inline Seconds exposed(const Breakdown& parts) { return parts.exposed_communication + parts.stack; }

/// Evaluates all cases both ways, replays in processes. Fails the running Catch2 test when a replay fails.
std::vector<Comparison> evaluate_both(const std::vector<Case>& cases);

/// Replays only.
std::vector<StepForecast> replay_all(const std::vector<Case>& cases);

/// Requires step, first step and every part of the breakdown to agree to `relative` (parts: relative to the step).
/// @param like_workers  false if workers differ in their communication, as with a server's shard on some hosts.
/// Equations charge all of a task's time to all of them. Their exposed communication is then no less than replay's.
/// With waiting, it adds up to the same
void require_same(const Comparison& comparison, double relative, bool like_workers = true);

}  // namespace stepcast::test
