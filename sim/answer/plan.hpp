// The plan of a sweep: the replays that points need, and the pieces of work in the order of the points.
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

/// Any `count` consecutive points are in `count` different shards, in a different order each time. Shards therefore
/// cost alike even if an axis has as many values as there are shards.
inline std::size_t shard_of(std::size_t point, std::size_t count) { return (point + point / count) % count; }

/// A scenario to replay. Several points and baselines may ask for it.
struct ReplayQuestion {
  const Scenario* scenario = nullptr;
  Digest key{};
};

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct PlannedPoint {
  std::size_t index = 0;                             ///< its number in the study
  std::map<const Scenario*, std::size_t> replays{};  ///< the question that answers each of its replayed scenarios
  std::string refusal{};                             ///< the reason for having no answer; empty if it has one

  [[nodiscard]] bool by_equations() const { return replays.empty(); }
};

/// The points' scenarios must outlive it.
class AnswerPlan {
 public:
  /// Starts without any replay.
  /// @param program  version and source state; part of an answer's key
  AnswerPlan(std::span<const StudyPoint> points, Shard shard, std::string program);

  /// Asks for the replays that are known before anything is answered. The result depends on the points and program
  /// alone, not on the machine.
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

/// The size of a block, for `points` points that equations answer. There are many blocks, so slow points do not keep
/// others waiting. Blocks are large if there are many points, since a process costs as much as ten to fifty points.
constexpr std::size_t block_size(std::size_t points) { return std::clamp<std::size_t>(points / 64, 1, 512); }

/// The work that is left when some questions are answered.
std::vector<AnswerTask> list_tasks(const AnswerPlan& plan, const std::vector<bool>& answered);

}  // namespace stepcast
