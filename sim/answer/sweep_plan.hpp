// What there is to do in a sweep: which replays its points need, and the pieces of work in the order of the points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "models/study/study.hpp"
#include "sim/answer/digest.hpp"

namespace stepcast {

/// A part of a study's points: those for which shard_of(point, count) is index.
struct Shard {
  std::size_t index = 0, count = 1;
};

/// Of `count` points in a row each shard has one, in each row another, so that shards cost alike also where an axis
/// has as many values as there are shards.
inline std::size_t shard_of(std::size_t point, std::size_t count) { return (point + point / count) % count; }

/// A scenario to replay, whichever points and baselines ask for it.
struct ReplayQuestion {
  const Scenario* scenario = nullptr;
  Digest key{};
};

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct PlannedPoint {
  std::size_t index = 0;             ///< in the study
  std::vector<std::size_t> replays;  ///< which question answers each of questions_of(point); kNone: equations do
  std::string refusal;               ///< why it has no answer; empty where it has one

  [[nodiscard]] bool by_equations() const {
    return std::all_of(replays.begin(), replays.end(), [](std::size_t question) { return question == kNone; });
  }
};

struct SweepPlan {
  std::vector<PlannedPoint> points;       ///< in the study's order
  std::vector<ReplayQuestion> questions;  ///< each key once, in the order in which points ask
};

/// The same on every machine that has the same study and program. Refers to the study's scenarios.
SweepPlan plan_sweep(const Study& study, Shard shard, const std::string& program);

/// A piece of work for one process: one run of a replay, or a block of points that equations answer.
struct SweepTask {
  std::size_t question = kNone;
  int run = 0;
  std::vector<std::size_t> block{};  ///< positions in SweepPlan::points
};

/// Points of a block, of `points` by equations in all: many blocks, so that none of points that take long keeps others
/// waiting; and large ones where there are many points, since a process costs as much as some ten to fifty of them.
constexpr std::size_t block_size(std::size_t points) { return std::clamp<std::size_t>(points / 64, 1, 512); }

/// What is left to do when some questions are answered.
std::vector<SweepTask> list_tasks(const SweepPlan& plan, const std::vector<bool>& answered);

}  // namespace stepcast
