#include "sim/answer/field_expander.hpp"

#include <algorithm>
#include <utility>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/origins.hpp"
#include "models/scenario/part_json.hpp"

namespace stepcast {

StudyPoint searched(StudyPoint point, Baselines baselines) {
  const bool kept = baselines == Baselines::kept;
  if (!kept) point.baselines.reset();
  const auto settle = [&](Scenario& scenario) {
    if (!kept) scenario.baseline.reset();
    scenario.output = {};
    if (scenario.evaluation.evaluator == Evaluator::both) scenario.evaluation.evaluator = Evaluator::automatic;
  };
  settle(point.scenario);
  std::for_each(point.phases.begin(), point.phases.end(), settle);
  return point;
}

FieldExpander::FieldExpander(Field field, std::string file, StudyAt study_at)
    : field_(std::move(field)),
      file_(std::move(file)),
      study_at_(std::move(study_at)),
      expander_(file_, default_library()) {}

bool FieldExpander::keeps_documents() const { return !is_at_or_below(field_.place, "/workload"); }

std::vector<StudyPoint> FieldExpander::at(const Known& known, const std::vector<double>& values, Baselines baselines) {
  if (auto points = by_document(known, values, baselines)) return *std::move(points);
  std::vector<StudyPoint> points;
  if (!gives_point(known, baselines)) points = of_study(known, values);
  if (points.size() != values.size()) points = expanded(known, values);  // tells an impossible value
  for (StudyPoint& point : points) {
    point = searched(std::move(point), baselines);
    point.coordinates.clear();
    point.notes.clear();
    share_tables(known.point, point);
  }
  return points;
}

std::vector<StudyPoint> FieldExpander::of_study(const Known& known, const std::vector<double>& values) const {
  Study study = study_at_(values);
  const std::string& axis = study.axes[axis_at(study, field_.place).value()];
  std::erase_if(study.points, [&](const StudyPoint& point) {
    return without_axis(point.coordinates, axis) != known.point.coordinates;
  });
  return std::move(study.points);
}

std::vector<StudyPoint> FieldExpander::expanded(const Known& known, const std::vector<double>& values) {
  return expander_.expand(document_of(known.point), {values_of(field_, field_.place, values)}).points;
}

namespace {

/// All that a search asks of a point.
std::vector<Json> json_of(const StudyPoint& point) {
  std::vector<Json> all;
  for (const Scenario* scenario : questions_of(point)) all.push_back(to_json(*scenario));
  return all;
}

}  // namespace

bool FieldExpander::gives_point(const Known& known, Baselines baselines) {
  if (known.point.phases.empty() && !known.point.baselines) return true;
  const auto [entry, is_new] = gives_point_.try_emplace(known.number, false);
  if (!is_new) return entry->second;
  try {
    const StudyPoint point = searched(std::move(expanded(known, {known.value}).at(0)), baselines);
    entry->second = json_of(point) == json_of(known.point);
  } catch (const ScenarioError&) {  // the whole study allows what the document does not
  }
  return entry->second;
}

std::optional<std::vector<StudyPoint>> FieldExpander::by_document(const Known& known, const std::vector<double>& values,
                                                                  Baselines baselines) {
  if (!keeps_documents() || !gives_point(known, baselines)) return {};
  std::vector<Override> each;
  for (const double value : values) {
    const auto [entry, is_new] = overrides_.try_emplace(value);
    if (is_new) entry->second = value_of(field_, value);
    each.push_back(entry->second);
  }
  auto points = expander_.at_values(kept_document_of(known.number, known.point), each);
  if (!points) return {};
  for (StudyPoint& one : *points) {
    one = searched(std::move(one), baselines);
    share_tables(known.point, one);
  }
  return points;
}

void FieldExpander::share_tables(const StudyPoint& known, StudyPoint& other) {
  const auto share = [&](const Scenario& theirs, Scenario& own) {
    if (own.workload == theirs.workload || !own.workload || !theirs.workload) return;
    const auto [entry, is_new] = tables_.try_emplace(own.workload, own.workload);
    if (is_new && *own.workload == *theirs.workload) entry->second = theirs.workload;
    own.workload = entry->second;
  };
  share(known.scenario, other.scenario);
  for (std::size_t phase = 0; phase < other.phases.size(); ++phase) share(known.phases[phase], other.phases[phase]);
}

Document FieldExpander::document_of(const StudyPoint& point) {
  if (!keeps_documents()) return {to_json(point.scenario), Origins(file_)};
  Scenario others = point.scenario;
  const std::shared_ptr<const WorkloadTable> written =
      others.workload_written ? others.workload_written : others.workload;
  others.workload = others.workload_written = nullptr;
  Document document{to_json(others), Origins(file_)};
  if (!written) return document;
  std::shared_ptr<const Json>& workload = workloads_[written];
  if (!workload) workload = std::make_shared<const Json>(write_value(*written));
  document.workload = workload;
  return document;
}

const Document& FieldExpander::kept_document_of(std::size_t which, const StudyPoint& point) {
  if (const auto known = documents_.find(which); known != documents_.end()) return known->second;
  if (documents_.size() == kMostDocuments) documents_.clear();
  return documents_.emplace(which, document_of(point)).first->second;
}

namespace {

/// The place of the axis among a point's coordinates, or their end.
std::size_t place_on(const StudyPoint& point, const std::string& axis) {
  const auto found = std::find_if(point.coordinates.begin(), point.coordinates.end(),
                                  [&](const Coordinate& c) { return c.axis == axis; });
  return static_cast<std::size_t>(found - point.coordinates.begin());
}

/// Whether b is the same point of the study as a, at the grid's last value instead of its first.
bool are_ends(StudyPoint a, const StudyPoint& b, const std::string& axis, const std::string& first,
              const std::string& last) {
  if (!a.notes.empty() || !b.notes.empty()) return false;
  if (const std::size_t place = place_on(a, axis); place < a.coordinates.size()) {
    if (std::exchange(a.coordinates[place].value, last) != first) return false;
  }
  return a.coordinates == b.coordinates;
}

}  // namespace

std::optional<Study> FieldExpander::study_between(Study first, Study last, const std::vector<double>& grid,
                                                  Baselines baselines) {
  std::vector<std::string> texts;
  for (const double value : grid) texts.push_back(coordinate_text(field_.range, value));
  const std::optional<std::size_t> number = axis_at(first, field_.place);
  if (!number || !first.notes.empty() || !last.notes.empty() || first.axes != last.axes ||
      first.points.size() != last.points.size() || first.points.size() * grid.size() > kMaxPoints)
    return {};
  const std::string& axis = first.axes[*number];
  for (std::size_t i = 0; i < first.points.size(); ++i)
    if (!are_ends(first.points[i], last.points[i], axis, texts.front(), texts.back())) return {};

  const std::vector<double> between(grid.begin() + 1, grid.end() - 1);
  std::vector<StudyPoint> points;
  for (std::size_t i = 0; i < first.points.size(); ++i) {
    points.push_back(searched(std::move(first.points[i]), baselines));
    const StudyPoint start = points.back();
    const std::size_t place = place_on(start, axis);
    if (place == start.coordinates.size()) continue;  // its variant sets the field
    auto others = by_document({i, start, grid.front()}, between, baselines);
    if (!others) return {};
    others->push_back(searched(std::move(last.points[i]), baselines));
    share_tables(start, others->back());
    for (std::size_t v = 0; v < others->size(); ++v) {
      points.push_back(std::move((*others)[v]));
      points.back().coordinates = start.coordinates;
      points.back().coordinates[place].value = texts[v + 1];
    }
  }
  Study study = std::move(first);
  study.points = std::move(points);
  study.axis_values[*number] = std::move(texts);
  study.source += last.source;
  return study;
}

}  // namespace stepcast
