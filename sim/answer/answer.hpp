// The one engine: gives each of any number of points a report, or the reason why it has none. Replays run in processes
// of their own, on one machine or under MPI; answers are handed on in the order of the points.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "models/study/study.hpp"
#include "sim/answer/answer_cache.hpp"
#include "sim/answer/answer_point.hpp"
#include "sim/answer/plan.hpp"
#include "sim/answer/ranks.hpp"

namespace stepcast {

struct AnswerOptions {
  std::string program{};  ///< version and source state: part of what an answer in the cache belongs to
  int jobs = 1;           ///< processes at a time, of each rank
  Shard shard{};
  AnswerCache* cache = nullptr;  ///< used on rank 0 only; null for none
  /// For one rank: every answer is packed in the calling process, so that `pack` may keep it, and which scenarios are
  /// replayed turns out as they are answered, which saves asking for it before.
  bool here = false;
};

struct AnswerCount {
  std::size_t points = 0, done = 0;
  std::size_t by_equations = 0;  ///< points that need no replay, where that is asked before
  /// Different scenarios to replay; found in the cache; replayed now.
  std::size_t replays = 0, cached = 0, computed = 0;
  std::size_t runs = 0, runs_ended = 0;  ///< of the replays that the cache lacks
  bool stopped = false;
};

/// Who takes the answers.
struct AnswerSink {
  /// Called where a point is answered: here, in a child or on another rank. What it returns arrives at `take`.
  std::function<std::string(std::size_t point, PointAnswer&& answer)> pack;
  // Called on rank 0, in the process that called answer().
  std::function<void(std::size_t point, std::string packed)> take;  ///< in the order of the points
  std::function<void(const AnswerCount&)> progress{};               ///< now and then, at least five times a second
  std::function<bool()> stop{};                                     ///< asked as often; true ends the work early
};

/// Answers every point of the shard. A point that cannot be answered has a reason, and the rest go on. What was replayed
/// is in the cache before its answer is handed on. Scenarios that are alike are replayed once. Packed answers wait in
/// memory until those before them are there.
/// @pre the points stay where they are
/// @throws std::runtime_error, std::system_error when the cache, the sink or starting a process fails
AnswerCount answer(std::span<const StudyPoint> points, const AnswerOptions& options, Ranks& ranks,
                   const AnswerSink& sink);

}  // namespace stepcast
