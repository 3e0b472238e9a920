#include "sim/answer/field_points.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/point_notes.hpp"
#include "models/study/alternatives.hpp"

namespace stepcast {

FieldPoints::FieldPoints(Study study, const std::vector<double>& grid, std::unique_ptr<FieldExpander> expander,
                         Baselines baselines, int jobs, PointProgress progress)
    : study_(std::move(study)),
      baselines_(baselines),
      jobs_(jobs),
      progress_(std::move(progress)),
      expander_(std::move(expander)) {
  const Field& field = expander_->field();
  const std::optional<std::size_t> number = axis_at(study_, field.place);
  if (!number)
    throw std::invalid_argument(
        fmt::format("{} takes no single number: a list of them makes no axis of the study", field.pointer));
  axis_ = study_.axes[*number];
  for (const double value : grid) grid_[coordinate_text(field.range, value)] = value;

  std::map<std::vector<std::string>, std::size_t> index;  // points by coordinates
  std::vector<std::size_t> found;                         // number of grid values of each point
  for (StudyPoint& of_study : study_.points) {
    of_study = searched(std::move(of_study), baselines_);
    StudyPoint point = of_study;
    const std::string value = value_on(point.coordinates, axis_);
    point.coordinates = without_axis(std::move(point.coordinates), axis_);
    std::vector<std::string> key;
    for (const Coordinate& c : point.coordinates) key.insert(key.end(), {c.axis, c.value});
    const auto [entry, is_new] = index.try_emplace(std::move(key), points_.size());
    if (is_new) {
      points_.push_back(std::move(point));
      constant_.push_back(value.empty());
      values_.push_back(grid_.contains(value) ? grid_.at(value) : 0.0);
      found.push_back(0);
    }
    owners_.push_back(entry->second);
    if (grid_.contains(value)) ++found[entry->second];
  }
  scores_.resize(points_.size());
  stack_shares_.resize(points_.size());
  memory_notes_.resize(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (!constant_[i] && found[i] != grid_.size())
      throw std::invalid_argument(fmt::format(
          "{}: {} exists at only {} of the {} values: it has its own list there, or is impossible at the others; "
          "choose other points by --point, or give steps (8..64:8, 2..64:x2) that are possible",
          field.pointer, label(points_[i].coordinates), found[i], grid_.size()));
}

namespace {

void change_points(const std::function<void(Scenario&)>& change, Study& study) {
  for (StudyPoint& point : study.points) {
    change(point.scenario);
    std::for_each(point.phases.begin(), point.phases.end(), change);
  }
}

}  // namespace

FieldPoints FieldPoints::changed(const std::function<void(Scenario&)>& change) const {
  Study study = study_;
  change_points(change, study);
  std::vector<double> grid;
  for (const auto& [text, value] : grid_) grid.push_back(value);
  auto expander =
      std::make_unique<FieldExpander>(expander_->field(), expander_->file(),
                                      [change, study_at = expander_->study_at()](const std::vector<double>& values) {
                                        Study whole = study_at(values);
                                        change_points(change, whole);
                                        return whole;
                                      });
  return {std::move(study), grid, std::move(expander), baselines_, jobs_, progress_};
}

void FieldPoints::answer_grid(const std::function<const Metric&(const std::vector<PointReport>&)>& choose) {
  const std::vector<PointReport> reports = ask(study_);
  metric_ = &choose(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::size_t owner = owners_[i];
    if (!constant_[owner]) learn(owner, grid_.at(value_on(reports[i].coordinates, axis_)), reports[i]);
    else
      for (const auto& [text, value] : grid_) learn(owner, value, reports[i]);
  }
  study_ = {};
}

void FieldPoints::learn(std::size_t point, double value, const PointReport& report) {
  const Note impossible{NoteCode::impossible_by_memory,
                        "points that need more memory than their device has count as impossible"};
  const double score = score_of(*metric_, report);
  if (score == 0 && !report.lacks_memory.empty() && std::find(notes_.begin(), notes_.end(), impossible) == notes_.end())
    notes_.push_back(impossible);
  scores_[point][value] = score;
  const StepForecast& shown = report.answers.shown();
  stack_shares_[point][value] = shown.step > Seconds{} ? shown.breakdown.stack / shown.step : 0.0;
  if (const auto note = stepcast::memory_note(report)) memory_notes_[point].insert_or_assign(value, *note);
}

std::optional<Note> FieldPoints::memory_note(std::size_t point, double value) const {
  const auto found = memory_notes_[point].find(value);
  return found == memory_notes_[point].end() ? std::nullopt : std::optional(found->second);
}

void FieldPoints::know(const Wanted& wanted) {
  Study batch;
  std::vector<std::pair<std::size_t, double>> asked;
  for (const auto& [which, set] : wanted) {
    std::vector<double> values;
    for (const double value : set)
      if (constant_[which]) scores_[which][value] = scores_[which].begin()->second;
      else if (!scores_[which].contains(value)) values.push_back(value);
    if (values.empty()) continue;
    std::vector<StudyPoint> some = expanded(which, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      StudyPoint point = std::move(some.at(i));
      point.coordinates = points_[which].coordinates;
      point.coordinates.push_back({axis_, coordinate_text(expander_->field().range, values[i])});
      batch.points.push_back(std::move(point));
      asked.emplace_back(which, values[i]);
    }
  }
  if (batch.points.empty()) return;
  const std::vector<PointReport> reports = ask(batch);
  for (std::size_t i = 0; i < asked.size(); ++i) learn(asked[i].first, asked[i].second, reports[i]);
}

std::vector<PointReport> FieldPoints::ask(const Study& study) {
  Report report = answer_whole_study(study, jobs_, progress_, &answerer_);
  const Notes none, *before = &none;  // a point's notes are often those of the point before it
  for (const PointReport& point : report.points) {
    replayed_ |= point.answers.replay.has_value();
    const std::optional<Note> memory = stepcast::memory_note(point);
    for (const Note& note : point.notes)
      if (note != memory && std::find(before->begin(), before->end(), note) == before->end() &&
          told_.insert(without_numbers(note.text)).second)
        notes_.push_back(note);
    before = &point.notes;
  }
  return std::move(report.points);
}

std::vector<StudyPoint> FieldPoints::expanded(std::size_t which, const std::vector<double>& values) {
  const StudyPoint& point = points_[which];
  try {
    return expander_->at({which, point, values_[which]}, values, baselines_);
  } catch (const ScenarioError& error) {  // a value between those of the grid may be impossible
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(coordinate_text(expander_->field().range, value));
    std::vector<Fault> faults = error.faults();
    for (Fault& fault : faults)
      fault.found += fmt::format(" (in {}, {} {})", label(point.coordinates), axis_, fmt::join(texts, " or "));
    throw ScenarioError(std::move(faults));
  }
}

}  // namespace stepcast
