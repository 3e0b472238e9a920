// A study's points at any values of one field. Each is answered on request.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/goal.hpp"
#include "models/study/study.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/answer/field.hpp"
#include "sim/answer/field_expander.hpp"

namespace stepcast {

class FieldPoints {
 public:
  /// @param study  at the values of a grid, as values_of sets them
  /// @throws std::invalid_argument where a list of values makes no axis, or a point stands at some of the grid's values
  /// only
  FieldPoints(Study study, const std::vector<double>& grid, std::unique_ptr<FieldExpander> expander,
              Baselines baselines, int jobs, PointProgress progress);

  /// The same points, each with a change of all its scenarios but the baseline's.
  /// @pre nothing has been answered, and points keep no baselines
  [[nodiscard]] FieldPoints changed(const std::function<void(Scenario&)>& change) const;

  /// Changes the number of replays at a time.
  void use_jobs(int jobs) { jobs_ = jobs; }
  void hide_progress() { progress_ = {}; }

  /// The study's points without their coordinate on the field: points that differ in the field alone are one.
  [[nodiscard]] const std::vector<StudyPoint>& points() const { return points_; }
  /// The name of the field's axis.
  [[nodiscard]] const std::string& axis() const { return axis_; }
  /// Whether the point's variant sets the field itself, so all values of it give the same point.
  [[nodiscard]] bool is_constant(std::size_t point) const { return constant_[point]; }

  /// Answers the whole study.
  /// @param choose  chooses the metric, given all reports
  void answer_grid(const std::function<const Metric&(const std::vector<PointReport>&)>& choose);

  /// Requested values for each point.
  using Wanted = std::map<std::size_t, std::set<double>>;
  /// Answers values that are not known yet. Expands each point at its few own values, instead of the whole study at all
  /// values.
  void know(const Wanted& wanted);

  /// @pre the point is known at this value
  [[nodiscard]] double score(std::size_t point, double value) const { return scores_[point].at(value); }
  /// The stack's part of the step over the step, by value. A point that does not vary has one for each grid value.
  [[nodiscard]] const std::map<double, double>& stack_shares(std::size_t point) const { return stack_shares_[point]; }
  /// The memory note in the point's report at this value.
  [[nodiscard]] std::optional<Note> memory_note(std::size_t point, double value) const;
  [[nodiscard]] const Metric& metric() const { return *metric_; }
  /// Whether a replay gave any answer.
  [[nodiscard]] bool is_replayed() const { return replayed_; }
  /// The notes of all answers, each once. Notes that differ in numbers alone count as one. Notes on memory are left
  /// out, since they belong to one value each.
  [[nodiscard]] const Notes& notes() const { return notes_; }

 private:
  /// Records a point's report at a value.
  void learn(std::size_t point, double value, const PointReport& report);
  [[nodiscard]] std::vector<PointReport> ask(const Study& study);
  /// A point at these values, without coordinates and notes.
  [[nodiscard]] std::vector<StudyPoint> expanded(std::size_t point, const std::vector<double>& values);

  Study study_;  ///< at the grid's values, until it is answered
  Baselines baselines_;
  int jobs_;
  PointProgress progress_;
  PointAnswerer answerer_{Details::left_out};
  std::unique_ptr<FieldExpander> expander_;
  std::string axis_;
  std::map<std::string, double> grid_;  ///< values by their coordinates
  std::vector<std::size_t> owners_;     ///< for each point of the study, its point here
  std::vector<StudyPoint> points_;
  std::vector<double> values_;  ///< by point, the value that it has here; 0 if it does not vary
  std::vector<bool> constant_;
  std::vector<std::map<double, double>> scores_;        ///< by point and value
  std::vector<std::map<double, double>> stack_shares_;  ///< the same
  std::vector<std::map<double, Note>> memory_notes_;    ///< the same
  const Metric* metric_ = nullptr;
  bool replayed_ = false;
  Notes notes_;
  std::set<std::string> told_;  ///< texts of the points' notes, without numbers
};

}  // namespace stepcast
