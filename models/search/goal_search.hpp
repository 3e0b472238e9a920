// Where, along one field, is a score the largest, and where is it large enough?
//
// Three questions one after the other, each closed in on like a crossover (crossover_search.hpp): against a score that
// is the same everywhere. The first finds the largest score, the second where the score is as near to it as is asked
// for, the third where it is at least the one that is asked for. Each starts from every value that is known by then;
// where one comes upon a larger score than the first did, all begin again.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "models/search/crossover_search.hpp"

namespace stepcast {

/// So much less than the largest score, as a share of it, is as good to most who choose a value.
inline constexpr double kNearBest = 0.01;

class GoalSearch {
 public:
  /// @param grid    values at which the score is to be known first: in order, both ends of the range among them
  /// @param wanted  the score to be reached, above 0, if any
  /// @param near    what is given up of the largest score, as a share of it: above 0, below 1
  GoalSearch(const AxisRange& range, std::vector<double> grid, std::optional<double> wanted, double near = kNearBest);

  /// Values at which the score has to be known next; none when all is found.
  [[nodiscard]] std::vector<double> requests() const;
  /// @param scores  in the requests' order; at least 0, and infinite where nothing takes time
  void answer(const std::vector<double>& values, const std::vector<double>& scores);

  /// Of a search that has ended. Of equal scores that at the first value; score 0 where no value has more.
  struct Best {
    double value = 0.0, score = 0.0;
  };
  [[nodiscard]] Best best() const;
  /// Where the score is within `near` of the best.
  [[nodiscard]] const std::vector<FieldInterval>& near_best() const { return near_best_; }
  /// Where it is at least what is wanted.
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
  std::optional<CrossoverSearch> search_;  ///< of the stage: the level, and the score; none when all is found
  double level_ = 0.0;
  double best_before_ = 0.0;  ///< the largest score when the one near it was looked for
  std::vector<FieldInterval> near_best_, reached_;
};

}  // namespace stepcast
