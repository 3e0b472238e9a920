// Answers a study of any number of points: replays in processes of their own, on one machine or under MPI, and
// hands the rows on in the order of the points.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/study/study.hpp"
#include "sim/answer/answer_cache.hpp"
#include "sim/answer/point_rows.hpp"
#include "sim/answer/ranks.hpp"
#include "sim/answer/sweep_plan.hpp"

namespace stepcast {

struct SweepSettings {
  std::string program;             ///< version and source state: part of what an answer belongs to
  int jobs = 1;                    ///< processes at a time, of each rank
  std::vector<RowFormat> formats;  ///< of the rows
  Shard shard;
  AnswerCache* cache = nullptr;  ///< used on rank 0 only; null for none
};

struct SweepCount {
  std::size_t points = 0, done = 0, failed = 0;
  std::size_t by_equations = 0;  ///< points that need no replay
  /// Different scenarios to replay; found in the cache; replayed now.
  std::size_t replays = 0, cached = 0, computed = 0;
  std::size_t compared = 0, beyond_tolerance = 0;  ///< points that both evaluators answered
  double largest_difference = 0;
  bool stopped = false;
};

/// Called on rank 0, in the process that called sweep().
struct SweepEvents {
  std::function<void(std::size_t format, std::string_view row)> write;  ///< rows in the order of the points
  std::function<void(std::size_t point, const std::string& error)> failed;
  std::function<void(const SweepCount&)> progress;  ///< now and then, at least five times a second
  std::function<bool()> stop;                       ///< asked as often; true ends the sweep early
};

/// Answers every point of the shard. A point that cannot be answered has a row that says why, and the rest go on.
/// What was replayed is in the cache before its row is written. Rows wait in memory until those before them are
/// there: at most all of them, about 0.5 KB each.
/// @throws std::runtime_error, std::system_error when the cache, an event or a process fails
SweepCount sweep(const Study& study, const SweepSettings& settings, Ranks& ranks, const SweepEvents& events);

}  // namespace stepcast
