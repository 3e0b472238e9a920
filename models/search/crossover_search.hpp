// Finds changes in the ranking of alternatives along one field.
//
// Each alternative has a score at each value of the field; more is better. One of them is the reference. An alternative
// pays if it scores more than the reference. The search finds where each alternative pays, and which one is the
// fastest.
//
// Both are first known on a grid. Between neighbours that differ in one of them, the search narrows the bracket to
// kCrossoverWidth, or to neighbours in a discrete range. Both sides of every change found are evaluated. Two opposite
// changes between neighbours of the grid are not seen.
//
// From the grid's largest speedup of an alternative, the search narrows its bracket to kPeakWidth.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "models/study/axis_range.hpp"

namespace stepcast {

/// Scores with a smaller relative difference are equal. Among equal scores, the first is the fastest, and none pays.
inline constexpr double kSameScore = 1e-9;
/// Relative distance of the two sides of a change. In a range from zero, the distance is never below a millionth of
/// this share of its end.
inline constexpr double kCrossoverWidth = 1e-4;

/// Relative distance of the values beside the largest speedup. At a kink, the speedup itself is as exact.
inline constexpr double kPeakWidth = 1e-3;

/// -1, 0 or 1 if a is less than, equal to or more than b.
int compare_scores(double a, double b);
/// a over b; 1 for equal scores.
double score_ratio(double a, double b);

/// Values from `from` to `to` that meet a condition: an alternative pays or is the fastest, or a score is large enough.
///
/// An end inside the range is a change. It is the middle of its two sides, or in a discrete range the outermost value
/// that meets the condition. `at_from` and `at_to` belong to the first and last evaluated value inside. They are the
/// speedup (score_ratio of the alternative and the reference), or the score.
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

  /// @param grid  values to evaluate first, for all alternatives: in order, with both ends of the range
  CrossoverSearch(const AxisRange& range, std::vector<double> grid, std::size_t alternatives, std::size_t reference);

  /// The next scores to evaluate, without repetition; empty when all changes are found. The first requests are the
  /// grid's.
  [[nodiscard]] std::vector<Request> requests() const;
  /// Takes the answers to all requests as one round.
  /// @param scores  in the requests' order; at least 0, and infinite for a time of zero
  void answer(const std::vector<Request>& requests, const std::vector<double>& scores);

  /// Intervals in which the alternative scores more than the reference.
  [[nodiscard]] std::vector<FieldInterval> pays(std::size_t alternative) const;
  /// Intervals in which it is the fastest of all.
  [[nodiscard]] std::vector<FieldInterval> fastest(std::size_t alternative) const;

  /// The largest speedup over the reference, and the first evaluated value that has it.
  struct Most {
    double speedup = 1.0, value = 0.0;
  };
  [[nodiscard]] Most most(std::size_t alternative) const;

  /// All known scores of an alternative, by value.
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
  double step_;     ///< the grid's largest step, in coordinates
  int rounds_ = 0;  ///< rounds after the grid's
  Known known_;
};

}  // namespace stepcast
