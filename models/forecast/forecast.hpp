// What an evaluator, equations or replay, answers for one scenario.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// Where a step's time goes, from the worker's point of view. The parts add up to the step time: computation
/// counts wherever it runs, communication only while the GPU has nothing to compute, and waiting is the rest
/// (for other workers, or for a server's work).
///
/// The equations know one time for a communication task, and charge it to all workers as communication. So a worker who
/// has his part of it done sooner, beside a server's shard or by a faster link, waits there by the replay and
/// communicates by the equations; the sum of both parts is the same where the step is.
struct Breakdown {
  Seconds forward{}, backward{}, update{}, encode{}, decode{}, exposed_communication{}, waiting{};

  [[nodiscard]] Seconds compute() const { return forward + backward + update; }
  [[nodiscard]] Seconds codec() const { return encode + decode; }
  [[nodiscard]] Seconds total() const { return compute() + codec() + exposed_communication + waiting; }
};

/// Every part, as files name it and in their order.
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
    BreakdownPart{"exposed_communication", &Breakdown::exposed_communication, "communication that nothing hides"},
    BreakdownPart{"waiting", &Breakdown::waiting, "waiting for other workers or servers"},
};

/// What workers of one kind (models/part/worker_kinds.hpp) spend a step on, their mean.
struct KindBreakdown {
  int first = 0, count = 0;  ///< workers first .. first + count - 1
  Breakdown breakdown;
};

/// Spread of the step time under jitter, over all steps of all workers in all runs.
struct Distribution {
  int samples = 0;
  Seconds p5{}, p50{}, p95{}, p99{};
};

struct StepForecast {
  /// From the start until every task of step 0 is done; local SGD: mean of the steps before the first exchange ends.
  Seconds first_step{};
  Seconds step{};       ///< steady-state time per step
  Breakdown breakdown;  ///< mean over workers, of one steady-state step
  /// The same of each kind, where there are several; their mean over workers is `breakdown`.
  std::vector<KindBreakdown> kinds;
  std::string steady_state;           ///< how the evaluator knows that the state is steady
  bool no_period = false;             ///< replay: a period was looked for in vain, and `step` is a mean
  std::vector<std::string> critical;  ///< equations: tasks of the critical cycle, in order
  int critical_steps = 0;             ///< equations: steps the critical cycle spans
  int steps = 0;                      ///< replay: steps simulated
  /// Replay, where `step` is a mean: how much longer steps are in the second half of its time than in the first,
  /// relatively.
  double drift = 0.0;
  /// Replay, stale-synchronous servers: how many more steps than the slowest worker's all did in that time, mean,
  /// relatively. In the long run none: where there are, bounds are yet to hold some back.
  double lead = 0.0;
  std::string fidelity;                      ///< replay: "folded" and to how much, or "full" and why
  std::optional<Distribution> distribution;  ///< replay with jitter
};

}  // namespace stepcast
