// Finds along one field where a score is the largest, and where it is large enough.
//
// There are three questions, one after the other. The first is for the largest score. The second is for the values
// whose score is within a share of it. The third is for the values whose score reaches a given one.
//
// Each question narrows brackets like a crossover search (crossover_search.hpp), against a score that is the same
// everywhere. Each starts from every known value. If one finds a larger score than the first did, all begin again.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "models/search/crossover_search.hpp"

namespace stepcast {

/// The relative loss against the largest score that most users accept.
inline constexpr double kNearBest = 0.01;

class GoalSearch {
 public:
  /// @param grid    values to evaluate first: in order, with both ends of the range
  /// @param wanted  the score to be reached, above 0, if any
  /// @param near    the accepted loss, as a share of the largest score: above 0, below 1
  GoalSearch(const AxisRange& range, std::vector<double> grid, std::optional<double> wanted, double near = kNearBest);

  /// The next values to evaluate; none when the search has ended.
  [[nodiscard]] std::vector<double> requests() const;
  /// @param scores  in the requests' order; at least 0, and infinite for a time of zero
  void answer(const std::vector<double>& values, const std::vector<double>& scores);

  /// For a search that has ended. Among equal scores, the one at the first value; score 0 if all are zero.
  struct Best {
    double value = 0.0, score = 0.0;
  };
  [[nodiscard]] Best best() const;
  /// Intervals in which the score is within `near` of the best.
  [[nodiscard]] const std::vector<FieldInterval>& near_best() const { return near_best_; }
  /// Intervals in which it reaches the wanted score.
  [[nodiscard]] const std::vector<FieldInterval>& reached() const { return reached_; }

  /// Score by value.
  [[nodiscard]] const std::map<double, double>& scores() const { return known_; }
  [[nodiscard]] const AxisRange& range() const { return range_; }

 private:
  enum class Stage { grid, best, near_best, reached };

  void begin(Stage stage, double level);
  void begin_best();
  [[nodiscard]] bool finish_search();
  void proceed();
  [[nodiscard]] std::vector<FieldInterval> above_level() const;

  AxisRange range_;
  std::vector<double> grid_;
  std::optional<double> wanted_;
  double near_;
  std::map<double, double> known_;
  Stage stage_ = Stage::grid;
  /// The stage's search, with the level and the score as alternatives; none when all is found.
  std::optional<CrossoverSearch> search_;
  double level_ = 0.0;
  double best_before_ = 0.0;  ///< the largest score when the search near it began
  std::vector<FieldInterval> near_best_, reached_;
};

}  // namespace stepcast
