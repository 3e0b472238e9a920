// Explains a step's time, and the changes that would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/equation/evaluate.hpp"
#include "models/explain/changes.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// Version of the JSON document's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kExplanationSchemaVersion = 1;

/// The result of a change.
struct ChangedStep {
  Change change;
  Seconds step{};  ///< step time with the change
  /// Throughput with the change over throughput without; for a collective alone, the inverse ratio of step times.
  double speedup = 1.0;
  std::string estimate{};         ///< not empty: why `step` is an estimate of equations that may be off
  std::string refusal{};          ///< not empty: why the rest of the scenario does not allow the change
  std::optional<Bytes> memory{};  ///< memory that a worker needs with the change, if known
  /// A worker needs more memory than the device has; also set if the unchanged point does.
  bool lacks_memory = false;
};

struct Explanation {
  std::string name;
  PointReport point;
  std::optional<CriticalTasks> critical;  ///< by the equations, also beside a replay; empty if they cannot answer
  std::vector<ChangedStep> changes;
};

/// A share of the critical cycle. Computing is split by phase, and the stack's slowdown of it is apart. Communication is
/// split into the terms of PricedCost. Shares are in order of size and add up to the equations' step time.
struct Cause {
  std::string name;
  Seconds time{};  ///< of one step
};
std::vector<Cause> causes_of(const CriticalTasks& critical);

/// A change as options for a POSIX shell, quoted if necessary.
std::string as_options(const Change& change);

std::string to_text(const Explanation& explanation);
Json explanation_document(const Explanation& explanation, const Json& manifest);

}  // namespace stepcast
