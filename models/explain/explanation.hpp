// Why a step takes as long as it does, and what would change that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/equation/evaluate.hpp"
#include "models/explain/changes.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// Version of the JSON document's shape; rises when a field changes its meaning or goes away.
inline constexpr int kExplanationSchemaVersion = 1;

/// What came of a change.
struct ChangedStep {
  Change change;
  Seconds step{};  ///< with the change
  /// Throughput with it over throughput without; of a collective alone, step without over step with it.
  double speedup = 1.0;
  std::string estimate{};         ///< not empty: `step` is of equations that may be off there, and why
  std::string refusal{};          ///< not empty: it cannot be combined with the rest of the scenario, and why
  std::optional<Bytes> memory{};  ///< that a worker needs with the change, where that is known
  bool lacks_memory = false;      ///< a worker's memory is more than the device has, as the point's own is
};

struct Explanation {
  std::string name;
  PointReport point;
  std::optional<CriticalTasks> critical;  ///< of the equations, also beside a replay; nothing where they cannot tell
  std::vector<ChangedStep> changes;
};

/// A share of the critical cycle and what it is spent on: computing by phase, communication by latency, bandwidth
/// (with the hosts' copies), reduction and set-up. In order of size; they add up to the equations' step time.
struct Cause {
  std::string name;
  Seconds time{};  ///< of one step
};
std::vector<Cause> causes_of(const CriticalTasks& critical);

/// A change as options of a POSIX shell's command line, quoted where it has to be.
std::string as_options(const Change& change);

std::string to_text(const Explanation& explanation);
Json explanation_document(const Explanation& explanation, const Json& manifest);

}  // namespace stepcast
