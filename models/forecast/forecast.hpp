// The answer of an evaluator (equations or replay) for one scenario.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The parts of a step's time, as a worker sees it. They add up to the step time. Computation always counts.
/// Communication counts only while the GPU has nothing to compute. The stack's part of both is apart. The rest is
/// waiting, for other workers or for a server's work.
///
/// The equations have one time for a communication task and count it as communication for all workers. A worker beside
/// a server's shard, or with a faster link, may finish its part earlier. Then the replay counts waiting where the
/// equations count communication. If the step times agree, so do the sums of both parts.
struct Breakdown {
  Seconds forward{}, backward{}, update{}, encode{}, decode{}, exposed_communication{}, stack{}, waiting{};

  [[nodiscard]] Seconds compute() const { return forward + backward + update; }
  [[nodiscard]] Seconds codec() const { return encode + decode; }
  [[nodiscard]] Seconds total() const { return compute() + codec() + exposed_communication + stack + waiting; }
};

/// All parts, with their names and order in files.
struct BreakdownPart {
  std::string_view name;
  Seconds Breakdown::*time;
  std::string_view meaning;
};
inline constexpr std::array kBreakdownParts = {
    BreakdownPart{"forward", &Breakdown::forward, "forward"},
    BreakdownPart{"backward", &Breakdown::backward, "backward"},
    BreakdownPart{"update", &Breakdown::update, "optimizer update on the worker"},
    BreakdownPart{"encode", &Breakdown::encode, "compressor's encode"},
    BreakdownPart{"decode", &Breakdown::decode, "compressor's decode"},
    BreakdownPart{"exposed_communication", &Breakdown::exposed_communication,
                  "communication that nothing hides, without the stack's part"},
    BreakdownPart{
        "stack", &Breakdown::stack,
        "the stack's part: of communication that nothing hides, copies, operations, negotiation and gathering; of "
        "backward, its slowdown; a server's copies count as waiting"},
    BreakdownPart{"waiting", &Breakdown::waiting, "waiting for other workers or servers"},
};

/// The mean breakdown of a step for workers of one kind (models/part/worker_kinds.hpp).
struct KindBreakdown {
  int first = 0, count = 0;  ///< workers first .. first + count - 1
  Breakdown breakdown;
};

/// Spread of the step time under jitter, over all steps of all workers in all runs.
struct Distribution {
  int samples = 0;
  Seconds p5{}, p50{}, p95{}, p99{};
};

/// Whether an answer has what reports alone show. For a forecast, that is the first step and the names of critical tasks.
/// For a point, it is the error band and the lower bound. They take time and memory, so a search leaves them out.
enum class Details { made, left_out };

struct StepForecast {
  /// Time until every task of step 0 is done. Local SGD: mean of the steps before the end of the first exchange.
  Seconds first_step{};
  Seconds step{};       ///< steady-state time per step
  Breakdown breakdown;  ///< mean over workers, for one steady-state step
  /// The same for each kind, if there are several. Their mean over workers is `breakdown`.
  std::vector<KindBreakdown> kinds;
  std::string steady_state;           ///< the evaluator's evidence that the state is steady
  bool no_period = false;             ///< replay: no period was found, so `step` is a mean
  std::vector<std::string> critical;  ///< equations: tasks of the critical cycle, in order
  int critical_steps = 0;             ///< equations: number of steps in the critical cycle
  int steps = 0;                      ///< replay: number of simulated steps
  /// Replay, if `step` is a mean: the relative increase of the step time from the first half of its time to the second
  /// half.
  double drift = 0.0;
  /// Replay, stale-synchronous servers: the mean relative lead of all workers' step counts over the slowest worker's.
  /// In the long run it is zero. A positive lead means that the staleness bounds do not yet hold all workers back.
  double lead = 0.0;
  std::string fidelity;                      ///< replay: "folded" with its degree, or "full" with the reason
  std::optional<Distribution> distribution;  ///< replay with jitter
};

}  // namespace stepcast
