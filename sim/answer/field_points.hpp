// A study's points at any values of one field, each answered when it is asked for.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/goal.hpp"
#include "models/study/axis_range.hpp"
#include "models/study/study.hpp"
#include "sim/answer/answer_study.hpp"

namespace stepcast {

struct Override;

/// The field that values are given to.
struct Field {
  std::string pointer;  ///< where the values are set
  /// Where they arrive in a point: the same, or what a pointer into one variant's changes leads to.
  std::string place;
  AxisRange range;
};

/// The field at `pointer` in a study.
/// @param range  as parse_axis_range reads it, whose whole ends have real numbers between them where the field takes
/// any
/// @throws std::invalid_argument of the range
Field field_at(std::string pointer, std::string_view range);

/// The field's values as an override of the study, or of a point's own document.
Override values_of(const Field& field, const std::string& pointer, const std::vector<double>& values);

/// How a point's coordinate says a value of the field.
std::string coordinate_text(const AxisRange& range, double value);

class FieldPoints {
 public:
  /// @param study  at the values of a grid, as values_of sets them
  /// @param file   the study's, for errors
  /// @param baselines  whether points keep theirs, of which their speedup is
  /// @throws std::invalid_argument where a list of values makes no axis, or a point stands at some of the grid's values
  /// only
  FieldPoints(Study study, Field field, const std::vector<double>& grid, std::string file, bool baselines, int jobs,
              PointProgress progress);

  /// All points of the study that differ in the field alone are one, its coordinate on the field left out.
  [[nodiscard]] const std::vector<StudyPoint>& points() const { return points_; }
  /// The axis that the field is.
  [[nodiscard]] const std::string& axis() const { return axis_; }
  /// Whether the point's variant sets the field itself, so that all values of it are one.
  [[nodiscard]] bool is_constant(std::size_t point) const { return constant_[point]; }

  /// Answers the whole study.
  /// @param choose  by what points are measured, given all reports
  void answer_grid(const std::function<const Metric&(const std::vector<PointReport>&)>& choose);

  /// Values at which points are to be known.
  using Wanted = std::map<std::size_t, std::set<double>>;
  /// Answers what is not known yet. Each point is expanded at its own values, which are few, instead of the whole study
  /// at all.
  void know(const Wanted& wanted);

  /// @pre the point is known at this value
  [[nodiscard]] double score(std::size_t point, double value) const { return scores_[point].at(value); }
  /// What the point's report at this value says of memory.
  [[nodiscard]] std::optional<Note> memory_note(std::size_t point, double value) const;
  [[nodiscard]] const Metric& metric() const { return *metric_; }
  /// Whether any answer is a replay's.
  [[nodiscard]] bool is_replayed() const { return replayed_; }
  /// Of all answers, each once; of those that differ in numbers alone the first. Less those of memory, which are of one
  /// value each.
  [[nodiscard]] const Notes& notes() const { return notes_; }

 private:
  /// Takes down what a point's report at a value says.
  void learn(std::size_t point, double value, const PointReport& report);
  [[nodiscard]] std::vector<PointReport> ask(const Study& study);
  [[nodiscard]] Study expanded(const StudyPoint& point, const std::vector<double>& values) const;

  Study study_;  ///< at the grid, until that is answered
  Field field_;
  std::string file_;
  bool baselines_;
  int jobs_;
  PointProgress progress_;
  std::string axis_;
  std::map<std::string, double> grid_;  ///< values by their coordinates
  std::vector<std::size_t> owners_;     ///< the point that each of the study's is
  std::vector<StudyPoint> points_;
  std::vector<bool> constant_;
  std::vector<std::map<double, double>> scores_;      ///< by point and value
  std::vector<std::map<double, Note>> memory_notes_;  ///< the same
  const Metric* metric_ = nullptr;
  bool replayed_ = false;
  Notes notes_;
};

}  // namespace stepcast
