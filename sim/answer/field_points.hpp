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
#include "models/scenario/override.hpp"
#include "models/study/axis_range.hpp"
#include "models/study/expansion.hpp"
#include "models/study/study.hpp"
#include "sim/answer/answer_study.hpp"

namespace stepcast {

struct Override;

/// The field that values are given to.
struct Field {
  std::string pointer;  ///< where the values are set
  /// The field's place in a point's document. It differs from `pointer` if that points into a variant's changes.
  std::string place;
  AxisRange range;
};

/// The field at `pointer` in a study.
/// @param range  as parse_axis_range reads it. If the field takes real numbers, whole ends have real numbers between
/// them
/// @throws std::invalid_argument for an unusable range
Field field_at(std::string pointer, std::string_view range);

/// The field's values as an override of the study, or of a point's own document.
Override values_of(const Field& field, const std::string& pointer, const std::vector<double>& values);

/// The text of a value in a point's coordinate.
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

  /// The same points, each with a change of all its scenarios but the baseline's.
  /// @pre nothing has been answered, and points keep no baselines
  [[nodiscard]] FieldPoints changed(const std::function<void(Scenario&)>& change) const;

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
  /// A point at these values, with notes and coordinates or without.
  [[nodiscard]] std::vector<StudyPoint> expanded(std::size_t point, const std::vector<double>& values);
  /// Lets a point that was read from another's document hold its table, if that is equal: graphs are kept by it.
  void share_table(const Scenario& known, Scenario& own);
  /// The point as a document. Documents share a workload without the field.
  [[nodiscard]] Document document_of(const StudyPoint& point);
  /// The same for a field outside the workload, kept for the next request.
  [[nodiscard]] const Document& kept_document_of(std::size_t point);

  Study study_;  ///< at the grid's values, until it is answered
  Field field_;
  std::string file_;
  bool baselines_;
  int jobs_;
  PointProgress progress_;
  PointAnswerer answerer_{Details::left_out};
  std::unique_ptr<Expander> expander_;
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const Json>> workloads_;  ///< as documents
  /// Tables read from these documents, and the equal ones that points hold instead.
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const WorkloadTable>> tables_;
  static constexpr std::size_t kMostDocuments = 512;  ///< limits the memory
  std::map<std::size_t, Document> documents_;         ///< by point
  std::string axis_;
  std::map<std::string, double> grid_;  ///< values by their coordinates
  std::vector<std::size_t> owners_;     ///< for each point of the study, its point here
  std::vector<StudyPoint> points_;
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
