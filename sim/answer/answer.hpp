// The engine. It gives each of any number of points a report, or the reason for having none. Replays run in separate
// processes, on one machine or under MPI. Answers are handed on in the order of the points.
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
  std::string program{};  ///< version and source state; part of an answer's key in the cache
  int jobs = 1;           ///< for each rank, processes at a time
  Shard shard{};
  AnswerCache* cache = nullptr;  ///< used on rank 0 only; null for none
  /// For one rank: packs every answer in the calling process, so that `pack` may keep it. The scenarios to replay are
  /// found while points are answered, which saves a look at them before.
  bool here = false;
  /// Keeps data that points share, for the points of the next call too. Null: this call has its own.
  PointAnswerer* answerer = nullptr;
};

struct AnswerCount {
  std::size_t points = 0, done = 0;
  std::size_t by_equations = 0;  ///< points that need no replay, if that is known before
  /// Different scenarios to replay, those found in the cache, and those replayed now.
  std::size_t replays = 0, cached = 0, computed = 0;
  std::size_t runs = 0, runs_ended = 0;  ///< replays that the cache lacks
  bool stopped = false;
};

/// Takes the answers.
struct AnswerSink {
  /// Called at the place that answers a point: here, in a child or on another rank. Its result arrives at `take`.
  std::function<std::string(std::size_t point, PointAnswer&& answer)> pack;
  // Called on rank 0, in the process that called answer().
  std::function<void(std::size_t point, std::string packed)> take;  ///< in the order of the points
  std::function<void(const AnswerCount&)> progress{};               ///< now and then, at least five times a second
  std::function<bool()> stop{};                                     ///< called as often; true ends the work early
};

/// Answers every point of the shard. If a point cannot be answered, it has a reason and the others go on. Replays are
/// in the cache before the point's answer is handed on. Scenarios that are alike are replayed once. Packed answers wait
/// in memory until it is their turn.
/// @pre the points stay at their addresses
/// @throws std::runtime_error, std::system_error when the cache, the sink or starting a process fails
AnswerCount answer(std::span<const StudyPoint> points, const AnswerOptions& options, Ranks& ranks,
                   const AnswerSink& sink);

}  // namespace stepcast
