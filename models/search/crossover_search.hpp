// Where, along one field, does the ranking of alternatives change?
//
// Each alternative has a score at each value of the field, more being better. One of them is the reference. Two things
// are told along the field: where each alternative pays, scoring more than the reference, and which one is the
// fastest. Both are known on a grid first. Between neighbours where one of them differs the change is closed in on
// until the two are within kCrossoverWidth of each other, or follow each other in a discrete range. So what is found
// has both its sides evaluated; what changes and changes back between two values of the grid is not seen. An
// alternative's largest speedup is closed in on from the grid's, to within kPeakWidth.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "models/study/axis_range.hpp"

namespace stepcast {

/// Scores nearer to each other than this, relatively, are equal; of equals the first is the fastest, and none pays.
inline constexpr double kSameScore = 1e-9;
/// How near both sides of a change are, relatively; where the range begins at zero, not nearer than a millionth of this
/// of its end.
inline constexpr double kCrossoverWidth = 1e-4;

/// How near the values on both sides of the largest speedup are, likewise; at a kink that is how near the speedup
/// itself is.
inline constexpr double kPeakWidth = 1e-3;

/// -1, 0 or 1 as a is less than b, as much, or more.
int compare_scores(double a, double b);
/// a over b; 1 of equals.
double score_ratio(double a, double b);

/// Values from `from` to `to` over which something holds: that an alternative pays or is the fastest, or that a score is
/// large enough. An end that is no end of the whole range is a change: the middle of its two sides, or in a discrete
/// range the outermost value where it holds. Of the first and the last value that were evaluated it has the
/// alternative's speedup (its score over the reference's, by score_ratio), or the score.
struct FieldInterval {
  double from = 0.0, to = 0.0;
  double at_from = 1.0, at_to = 1.0;
};

class CrossoverSearch {
 public:
  struct Request {
    std::size_t alternative;
    double value;
    auto operator<=>(const Request&) const = default;
  };

  /// @param grid  values at which all scores are to be known first: in order, both ends of the range among them
  CrossoverSearch(const AxisRange& range, std::vector<double> grid, std::size_t alternatives, std::size_t reference);

  /// What has to be known next, each thing once; nothing when all changes are found. The first are those of the grid.
  [[nodiscard]] std::vector<Request> requests() const;
  /// Takes the answers to all requests as one round.
  /// @param scores  in the requests' order; at least 0, and infinite where nothing takes time
  void answer(const std::vector<Request>& requests, const std::vector<double>& scores);

  /// Where the alternative scores more than the reference.
  [[nodiscard]] std::vector<FieldInterval> pays(std::size_t alternative) const;
  /// Where it is the fastest of all.
  [[nodiscard]] std::vector<FieldInterval> fastest(std::size_t alternative) const;

  /// The largest speedup over the reference, at the first evaluated value that has it.
  struct Most {
    double speedup = 1.0, value = 0.0;
  };
  [[nodiscard]] Most most(std::size_t alternative) const;

  /// All that is known of an alternative: score by value.
  [[nodiscard]] std::vector<std::pair<double, double>> scores(std::size_t alternative) const;
  [[nodiscard]] std::size_t reference() const { return reference_; }
  [[nodiscard]] std::size_t alternatives() const { return alternatives_; }
  [[nodiscard]] const AxisRange& range() const { return range_; }

 private:
  using Known = std::map<double, std::vector<std::optional<double>>>;  ///< scores of all alternatives by value

  [[nodiscard]] bool is_narrow(double a, double b, double width = kCrossoverWidth) const;
  [[nodiscard]] double middle(double a, double b) const;
  [[nodiscard]] double beside_end(double end) const;
  [[nodiscard]] std::vector<double> values_within(double a, double b, double log_ratio_at_a,
                                                  double log_ratio_at_b) const;
  [[nodiscard]] std::optional<std::size_t> fastest_at(const std::vector<std::optional<double>>& scores) const;
  [[nodiscard]] double speedup_at(double value, std::size_t alternative) const;
  template <class State>
  [[nodiscard]] std::vector<FieldInterval> intervals(std::size_t alternative, State&& holds) const;
  void close_in_on_pay(std::size_t alternative, std::vector<Request>& requests) const;
  void close_in_on_fastest(std::vector<Request>& requests) const;
  void close_in_on_most(std::size_t alternative, std::vector<Request>& requests) const;

  AxisRange range_;
  std::vector<double> grid_;
  std::size_t alternatives_, reference_;
  double step_;     ///< of the grid, in coordinates: the widest
  int rounds_ = 0;  ///< answered, the grid's left out
  Known known_;
};

}  // namespace stepcast
