#include "models/validation/changed_suite.hpp"

#include "models/describe/json.hpp"
#include "models/study/expansion.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/study/no_possible_point.hpp"

namespace stepcast {
namespace {

/// The point's coordinates, with pointers for their axes.
std::vector<Coordinate> by_pointers(const Study& study, const StudyPoint& point) {
  std::vector<Coordinate> coordinates = point.coordinates;
  for (Coordinate& c : coordinates) {
    const auto axis = std::find(study.axes.begin(), study.axes.end(), c.axis);
    c.axis = study.axis_pointers[axis - study.axes.begin()];
  }
  return coordinates;
}

bool has_field(const Json& scenario, const std::string& pointer) {
  try {
    return scenario.contains(Json::json_pointer(pointer));
  } catch (const Json::exception&) {  // no pointer; its fault is reported when it is applied
    return false;
  }
}

/// Changes a suite's points. Points with the same changes are changed together.
class Changing {
 public:
  Changing(Suite suite, const std::vector<Override>& changes, const std::filesystem::path& library,
           const PlatformInspector& inspect)
      : suite_(std::move(suite)), changes_(changes), library_(library), inspect_(inspect) {
    for (std::size_t i = 0; i < suite_.measurements.size(); ++i) first_.emplace(suite_.measurements[i].point, i);
    for (const auto& [point, measurement] : first_)
      before_.emplace(point, to_json(suite_.study.points[point].scenario));
  }

  Suite change() {
    std::map<std::vector<bool>, std::vector<std::size_t>> points;  // points by the changes that apply to them
    const std::vector<bool> in_use = fields_in_use();
    for (const auto& [point, scenario] : before_) {
      std::vector<bool> takes;
      for (std::size_t i = 0; i < changes_.size(); ++i)
        takes.push_back(!in_use[i] || has_field(scenario, changes_[i].pointer));
      points[takes].push_back(point);
    }
    for (const auto& [takes, some] : points) change(some, takes);
    leave_out_measurements();
    std::set<std::size_t> others;
    for (const auto& [point, scenario] : before_)
      if (scenario != to_json(suite_.study.points[point].scenario)) others.insert(point);
    for (const MeasuredPoint& m : suite_.measurements) suite_.changed += others.contains(m.point);
    return std::move(suite_);
  }

 private:
  /// Whether any measured point has each change's field. A field that no point has is tried everywhere, to report the
  /// fault.
  [[nodiscard]] std::vector<bool> fields_in_use() const {
    std::vector<bool> in_use(changes_.size());
    for (const auto& [point, scenario] : before_)
      for (std::size_t i = 0; i < changes_.size(); ++i)
        if (has_field(scenario, changes_[i].pointer)) in_use[i] = true;
    return in_use;
  }

  void change(const std::vector<std::size_t>& points, const std::vector<bool>& takes) {
    std::vector<Override> changes;
    for (std::size_t i = 0; i < changes_.size(); ++i)
      if (takes[i]) changes.push_back(changes_[i]);
    if (changes.empty()) return;
    Study study;
    try {
      study = expanded(points, changes);
    } catch (const NoPossiblePoint& error) {
      impossible_.insert(points.begin(), points.end());
      for (const Fault& fault : error.faults()) first_impossible_.push_back(fault);
      return;
    } catch (const ScenarioError& error) {
      for (const std::size_t point : points) tell_measurement(point, changes);
      throw;
    }
    for (const std::size_t point : points) {
      const auto wanted = by_pointers(suite_.study, suite_.study.points[point]);
      const auto found = std::find_if(study.points.begin(), study.points.end(),
                                      [&](const StudyPoint& other) { return by_pointers(study, other) == wanted; });
      if (found == study.points.end()) {
        if (!leaves_out(changes)) throw ScenarioError({no_point(point, changes)});
        impossible_.insert(point);
        continue;
      }
      StudyPoint& own = suite_.study.points[point];
      std::vector<Coordinate> coordinates = std::move(own.coordinates);
      own = *found;
      own.coordinates = std::move(coordinates);
    }
    for (std::string& note : study.notes)
      if (std::find(suite_.study.notes.begin(), suite_.study.notes.end(), note) == suite_.study.notes.end())
        suite_.study.notes.push_back(std::move(note));
    suite_.study.source += study.source;
  }

  /// Whether the study leaves out impossible points. Changed points may then be impossible.
  [[nodiscard]] bool leaves_out(const std::vector<Override>& changes) const {
    const Json& document = suite_.document.json;
    bool out = document.is_object() && document.contains("impossible") && document["impossible"] == kLeaveOut;
    for (const Override& change : changes)
      if (change.pointer == "/impossible") out = change.value == kLeaveOut;
    return out;
  }

  /// @throws ScenarioError if no measurement is left
  void leave_out_measurements() {
    if (impossible_.empty()) return;
    const std::size_t all = suite_.measurements.size();
    const std::size_t out =
        std::erase_if(suite_.measurements, [&](const MeasuredPoint& m) { return impossible_.contains(m.point); });
    if (suite_.measurements.empty()) throw ScenarioError(std::move(first_impossible_));
    std::vector<std::string>& notes = suite_.study.notes;
    for (const Fault& fault : first_impossible_) notes.push_back("left out: " + to_string(fault));
    notes.push_back(fmt::format("{} of {} measurements left out, whose points are impossible so", out, all));
  }

  [[nodiscard]] Study expanded(const std::vector<std::size_t>& points, const std::vector<Override>& changes) const {
    std::vector<std::vector<Coordinate>> wanted;
    for (const std::size_t point : points) wanted.push_back(by_pointers(suite_.study, suite_.study.points[point]));
    const auto is_wanted = [&](const std::vector<Coordinate>& some) {
      return std::any_of(wanted.begin(), wanted.end(), [&](const std::vector<Coordinate>& one) {
        return std::all_of(some.begin(), some.end(),
                           [&](const Coordinate& c) { return std::find(one.begin(), one.end(), c) != one.end(); });
      });
    };
    return expand_study(suite_.document, changes, library_, kMaxPoints, is_wanted, inspect_);
  }

  /// @throws ScenarioError if the fault belongs to this point
  void tell_measurement(std::size_t point, const std::vector<Override>& changes) const {
    try {
      static_cast<void>(expanded({point}, changes));
    } catch (const ScenarioError& error) {
      std::vector<Fault> faults = error.faults();
      for (Fault& fault : faults) fault.found += fmt::format(" (at {})", place_of(point));
      throw ScenarioError(std::move(faults));
    }
  }

  [[nodiscard]] Fault no_point(std::size_t point, const std::vector<Override>& changes) const {
    std::vector<std::string> pointers;
    for (const Override& change : changes) pointers.push_back(change.pointer);
    return {changes.front().file, fmt::format("{}", fmt::join(pointers, ", ")),
            fmt::format("a study without the point of {}", place_of(point)),
            "one value of a field that is no axis of the study", ""};
  }

  /// "/measurements/3, workers 4"
  [[nodiscard]] std::string place_of(std::size_t point) const {
    std::string text = fmt::format("/measurements/{}", first_.at(point));
    for (const Coordinate& c : suite_.study.points[point].coordinates) text += fmt::format(", {} {}", c.axis, c.value);
    return text;
  }

  static constexpr const char* kLeaveOut = "leave-out";

  Suite suite_;
  const std::vector<Override>& changes_;
  const std::filesystem::path& library_;
  const PlatformInspector& inspect_;
  std::map<std::size_t, std::size_t> first_;  ///< each measured point's first measurement
  std::map<std::size_t, Json> before_;        ///< its scenario before the changes
  std::set<std::size_t> impossible_;          ///< points that are left out
  std::vector<Fault> first_impossible_;       ///< faults of the first group of points that are all impossible
};

}  // namespace

Suite changed_suite(Suite suite, const std::vector<Override>& changes, const std::filesystem::path& library,
                    const PlatformInspector& inspect) {
  Suite changed = Changing(std::move(suite), changes, library, inspect).change();
  for (const Override& change : changes)
    changed.sets.push_back(fmt::format(
        "{}={}", change.pointer, change.value.is_string() ? change.value.get<std::string>() : change.value.dump()));
  return changed;
}

}  // namespace stepcast
