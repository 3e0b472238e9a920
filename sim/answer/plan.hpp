// What there is to do: which replays points need, and the pieces of work in the order of the points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/study/study.hpp"
#include "sim/answer/replay_key.hpp"

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
  std::size_t index = 0;                             ///< in the study
  std::map<const Scenario*, std::size_t> replays{};  ///< which question answers each of its scenarios that is replayed
  std::string refusal{};                             ///< why it has no answer; empty where it has one

  [[nodiscard]] bool by_equations() const { return replays.empty(); }
};

/// Refers to the points' scenarios.
class AnswerPlan {
 public:
  /// No replay is known yet.
  /// @param program  version and source state: part of what an answer belongs to
  AnswerPlan(std::span<const StudyPoint> points, Shard shard, std::string program);

  /// Asks for the replays that the evaluators' choice tells before anything is answered. The same on every machine that
  /// has the same points and program.
  void foresee(std::span<const StudyPoint> points);
  /// Asks for the replay of a scenario of a point.
  void replay(PlannedPoint& point, const Scenario& scenario);

  std::vector<PlannedPoint> points;       ///< in the study's order
  std::vector<ReplayQuestion> questions;  ///< each key once, in the order in which points ask

 private:
  ReplayKeys keys_;
  std::map<Digest, std::size_t> known_;
};

/// A piece of work for one process: one run of a replay, or a block of points that equations answer.
struct AnswerTask {
  std::size_t question = kNone;
  int run = 0;
  std::vector<std::size_t> block{};  ///< positions in AnswerPlan::points
};

/// Points of a block, of `points` by equations in all: many blocks, so that none of points that take long keeps others
/// waiting; and large ones where there are many points, since a process costs as much as some ten to fifty of them.
constexpr std::size_t block_size(std::size_t points) { return std::clamp<std::size_t>(points / 64, 1, 512); }

/// What is left to do when some questions are answered.
std::vector<AnswerTask> list_tasks(const AnswerPlan& plan, const std::vector<bool>& answered);

}  // namespace stepcast
