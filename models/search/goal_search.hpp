// Where, along one field, is a worth the largest, and where is it large enough?
//
// Three questions one after the other, each closed in on like a crossover (crossover_search.hpp): against a worth that
// is the same everywhere. The first finds the largest worth, the second where the worth is as near to it as is asked
// for, the third where it is at least the one that is asked for. Each starts from every value that is known by then;
// where one comes upon a larger worth than the first did, all begin again.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "models/search/crossover_search.hpp"

namespace stepcast {

/// So much less than the largest worth, as a share of it, is as good to most who choose a value.
inline constexpr double kNearBest = 0.01;

/// Values from `from` to `to` over which a worth is large enough, and the worths at the two outermost values that were
/// evaluated there; the ends are those of a Stretch.
struct Reach {
  double from = 0.0, to = 0.0;
  double worth_from = 0.0, worth_to = 0.0;
};

class GoalSearch {
 public:
  /// @param grid    values at which the worth is to be known first: in order, both ends of the range among them
  /// @param wanted  the worth to be reached, above 0, if any
  /// @param near    what is given up of the largest worth, as a share of it: above 0, below 1
  GoalSearch(const AxisRange& range, std::vector<double> grid, std::optional<double> wanted, double near = kNearBest);

  /// Values at which the worth has to be known next; none when all is found.
  [[nodiscard]] std::vector<double> requests() const;
  /// @param worths  in the requests' order; at least 0, and infinite where nothing takes time
  void answer(const std::vector<double>& values, const std::vector<double>& worths);

  /// Of a search that has ended. Of equal worths that at the first value; worth 0 where no value has more.
  struct Best {
    double value = 0.0, worth = 0.0;
  };
  [[nodiscard]] Best best() const;
  /// Where the worth is within `near` of the best.
  [[nodiscard]] const std::vector<Reach>& near_best() const { return near_best_; }
  /// Where it is at least what is wanted.
  [[nodiscard]] const std::vector<Reach>& reached() const { return reached_; }

  /// Worth by value.
  [[nodiscard]] const std::map<double, double>& worths() const { return known_; }
  [[nodiscard]] const AxisRange& range() const { return range_; }

 private:
  enum class Stage { grid, best, near_best, reached };

  void begin(Stage stage, double level);
  void begin_best();
  [[nodiscard]] bool finish_search();
  void proceed();
  [[nodiscard]] std::vector<Reach> above_level() const;

  AxisRange range_;
  std::vector<double> grid_;
  std::optional<double> wanted_;
  double near_;
  std::map<double, double> known_;
  Stage stage_ = Stage::grid;
  std::optional<CrossoverSearch> search_;  ///< of the stage: the level, and the worth; none when all is found
  double level_ = 0.0;
  double best_before_ = 0.0;  ///< the largest worth when the one near it was looked for
  std::vector<Reach> near_best_, reached_;
};

}  // namespace stepcast
