#include "models/study/point_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/scenario/scenario_axes.hpp"

namespace stepcast {

std::optional<StudyPoint> PointReader::read(const Document& document, std::vector<Coordinate> coordinates,
                                            std::size_t number) {
  StudyPoint point;
  point.coordinates = std::move(coordinates);
  unused_.begin(point.coordinates);
  ScenarioReading own = reader_.read(document);
  unused_.see(document, own.scenario);
  std::vector<Fault> impossible = faults_.located(document, own.impossible), of_baseline;
  point.phases = read_phases(document, own, own.scenario, impossible);
  if (own.scenario.baseline) read_baseline(document, own, point, of_baseline);
  faults_.add(faults_.located(document, own.faults));
  // An impossible baseline does not exclude the point that is compared with it.
  if (impossible.empty()) faults_.add(of_baseline);
  if (!impossible.empty()) {
    const bool leave_out = own.on_impossible == ImpossiblePoints::leave_out;
    if (leave_out && own.faults.empty()) {
      left_out_.add(impossible.front(), (own.impossible.empty() ? impossible : own.impossible).front().pointer);
      return {};
    }
    faults_.add(impossible);
    refused_ += !leave_out;
  }
  if (!faults_.empty()) return {};
  unused_.keep(number);
  point.scenario = std::move(own.scenario);
  return point;
}

Document PointReader::changed(const Document& document, const Json& set, const std::string& pointer,
                              const std::string& where) {
  Document copy = document;
  changes_.apply_set(set, pointer, copy);
  for (const std::string& axis : scenario_axes(copy.json)) {
    faults_.add(copy, axis, "a list in " + where, fmt::format("one value: {} is one point", where));
    give_up(copy, axis);
  }
  changes_.take_out_workload(copy);
  return copy;
}

Scenario PointReader::read_changed(const Document& document, const ScenarioReading& own, const std::string& where,
                                   std::vector<Fault>& impossible) {
  ScenarioReading reading = reader_.read(document);
  unused_.see(document, reading.scenario);
  const auto of_this = [&](std::vector<Fault> faults, const std::vector<Fault>& known) {
    std::erase_if(faults,
                  [&](const Fault& fault) { return std::find(known.begin(), known.end(), fault) != known.end(); });
    for (Fault& fault : faults) fault.found += fmt::format(" (in {})", where);
    return faults_.located(document, std::move(faults));
  };
  faults_.add(of_this(std::move(reading.faults), own.faults));
  for (Fault& fault : of_this(std::move(reading.impossible), own.impossible)) impossible.push_back(std::move(fault));
  reading.scenario.baseline.reset();
  return std::move(reading.scenario);
}

void PointReader::read_baseline(const Document& document, const ScenarioReading& own, StudyPoint& point,
                                std::vector<Fault>& impossible) {
  Document copy = changed(document, *own.scenario.baseline->set, "/baseline/set", "the baseline");
  const bool is_known = baselines_of_ && baselines_of_->json == copy.json && baselines_of_->workload == copy.workload &&
                        baselines_of_->workload_file == copy.workload_file;
  if (is_known && !own.scenario.run) {
    unused_.see(copy, baselines_->front());
    point.baselines = baselines_;
    return;
  }
  std::vector<Scenario> all{read_changed(copy, own, "the baseline", impossible)};
  for (Scenario& phase : read_phases(copy, own, all.front(), impossible)) all.push_back(std::move(phase));
  if (!is_known) baselines_ = std::move(all);
  point.baselines = baselines_;
  // One with faults is read again, so that each point tells them.
  const bool is_sound = faults_.empty() && impossible.empty() && own.faults.empty() && own.impossible.empty();
  baselines_of_ = is_sound ? std::optional(std::move(copy)) : std::nullopt;
}

std::vector<Scenario> PointReader::read_phases(const Document& document, const ScenarioReading& own,
                                               const Scenario& scenario, std::vector<Fault>& impossible) {
  std::vector<Scenario> phases;
  if (!scenario.run) return phases;
  Document base = document;
  for (const char* known : {"phases", "target"}) base.json["run"].erase(known);  // avoids a copy with every phase
  for (std::size_t i = 0; i < scenario.run->phases.size(); ++i) {
    const TrainingPhase& phase = scenario.run->phases[i];
    const std::string where = fmt::format("phase \"{}\"", phase.name), pointer = fmt::format("/run/phases/{}/set", i);
    phases.push_back(read_changed(changed(base, *phase.set, pointer, where), own, where, impossible));
    phases.back().run.reset();
  }
  return phases;
}

}  // namespace stepcast
