#include "models/study/suite.hpp"

#include "models/study/expansion.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/part_json.hpp"
#include "models/study/choose_points.hpp"

namespace stepcast {
namespace {

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool has(const StudyPoint& point, const Coordinate& wanted) {
  return std::find(point.coordinates.begin(), point.coordinates.end(), wanted) != point.coordinates.end();
}

std::string near_text(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest_coordinate(name, known);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

/// Finds the points of measurements and collects faults.
class Matcher {
 public:
  Matcher(const Study& study, std::vector<Fault>& faults) : study_(study), faults_(faults) {
    for (std::size_t i = 0; i < study.points.size(); ++i)
      for (const Coordinate& c : study.points[i].coordinates) {
        Axis& axis = axes_[c.axis];
        std::vector<std::size_t>& points = axis.points[c.value];
        if (points.empty()) axis.values.push_back(c.value);
        points.push_back(i);
      }
  }

  std::optional<std::size_t> point_of(const Json& at, const std::string& pointer) {
    const std::size_t before = faults_.size();
    std::vector<Coordinate> wanted;
    for (const auto& [axis, value] : at.items()) {
      const std::string place = pointer_to(pointer, axis);
      if (std::find(study_.axes.begin(), study_.axes.end(), axis) == study_.axes.end()) {
        add(place, "no axis of the study",
            study_.axes.empty() ? "nothing: the study is one point" : fmt::format("{}", fmt::join(study_.axes, ", ")),
            near_text(axis, study_.axes));
        continue;
      }
      const Axis& known = axes_[axis];
      if (value.is_structured() || !known.points.contains(text_of(value)))
        add(place, describe_value(value), fmt::format("{}", fmt::join(known.values, "; ")),
            value.is_string() ? near_text(text_of(value), known.values) : "");
      else wanted.push_back({axis, text_of(value)});
    }
    if (faults_.size() > before) return {};
    const std::vector<std::size_t> found = points_at(wanted);
    if (found.size() == 1) return found.front();
    if (found.empty()) add(pointer, "coordinates that no point combines", "the coordinates of one point", "");
    else
      add(pointer, fmt::format("the coordinates of {} points", found.size()), "the coordinates of one point",
          missing_axes(found));
    return {};
  }

 private:
  /// The values of an axis in the order of the points, and the points of each value.
  struct Axis {
    std::vector<std::string> values;
    std::map<std::string, std::vector<std::size_t>> points;
  };

  /// The points with these coordinates. The search starts from the rarest coordinate.
  [[nodiscard]] std::vector<std::size_t> points_at(const std::vector<Coordinate>& wanted) const {
    std::vector<std::size_t> found(wanted.empty() ? study_.points.size() : 0);
    std::iota(found.begin(), found.end(), std::size_t{0});
    const std::vector<std::size_t>* rarest = nullptr;
    for (const Coordinate& c : wanted)
      if (const auto& points = axes_.at(c.axis).points.at(c.value); !rarest || points.size() < rarest->size())
        rarest = &points;
    for (const std::size_t i : rarest ? *rarest : std::vector<std::size_t>{})
      if (std::all_of(wanted.begin(), wanted.end(), [&](const Coordinate& c) { return has(study_.points[i], c); }))
        found.push_back(i);
    return found;
  }

  /// "add workers: 8; 16"
  [[nodiscard]] std::string missing_axes(const std::vector<std::size_t>& points) const {
    std::vector<std::string> parts;
    for (const std::string& axis : study_.axes) {
      std::vector<std::string> values;
      std::set<std::string> known;
      for (const std::size_t i : points)
        for (const Coordinate& c : study_.points[i].coordinates)
          if (c.axis == axis && known.insert(c.value).second) values.push_back(c.value);
      if (values.size() > 1) parts.push_back(fmt::format("{}: {}", axis, fmt::join(values, "; ")));
    }
    return fmt::format("add {}", fmt::join(parts, " and "));
  }

  void add(const std::string& pointer, std::string found, std::string allowed, std::string remedy) {
    faults_.push_back({"", pointer, std::move(found), std::move(allowed), std::move(remedy)});
  }

  const Study& study_;
  std::vector<Fault>& faults_;
  std::map<std::string, Axis> axes_;
};

/// The quantities that the measurement gives, in SI.
std::vector<std::pair<MeasuredQuantity, double>> quantities_of(const Measurement& m) {
  std::vector<std::pair<MeasuredQuantity, double>> given;
  if (m.step_time) given.emplace_back(MeasuredQuantity::step_time, m.step_time->si());
  if (m.forward) given.emplace_back(MeasuredQuantity::forward, m.forward->si());
  if (m.backward) given.emplace_back(MeasuredQuantity::backward, m.backward->si());
  if (m.throughput) given.emplace_back(MeasuredQuantity::throughput, *m.throughput);
  if (m.speedup) given.emplace_back(MeasuredQuantity::speedup, *m.speedup);
  if (m.scaling_efficiency) given.emplace_back(MeasuredQuantity::scaling_efficiency, *m.scaling_efficiency);
  if (m.algbw) given.emplace_back(MeasuredQuantity::algbw, m.algbw->si());
  if (m.busbw) given.emplace_back(MeasuredQuantity::busbw, m.busbw->si());
  return given;
}

std::string names_of_quantities() {
  std::vector<std::string_view> names;
  for (const auto& choice : Choices<MeasuredQuantity>::table) names.push_back(choice.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_of_training(MeasuredQuantity quantity) {
  return quantity == MeasuredQuantity::throughput || quantity == MeasuredQuantity::speedup ||
         quantity == MeasuredQuantity::scaling_efficiency;
}

/// Pairs each measurement with its point. Measurements with a fault are left out.
std::vector<MeasuredPoint> match(const std::vector<Measurement>& measurements, const Study& study,
                                 std::vector<Fault>& faults) {
  std::vector<MeasuredPoint> matched;
  std::set<std::pair<std::size_t, MeasuredQuantity>> seen;
  Matcher matcher(study, faults);
  for (std::size_t i = 0; i < measurements.size() && faults.size() < kMaxFaults; ++i) {
    const Measurement& m = measurements[i];
    const std::string pointer = pointer_to("/measurements", i);
    const auto fault = [&](const std::string& where, std::string found, std::string allowed, std::string remedy) {
      faults.push_back({"", where, std::move(found), std::move(allowed), std::move(remedy)});
    };
    const auto point = matcher.point_of(*m.at, pointer_to(pointer, "at"));
    const auto given = quantities_of(m);
    if (given.size() != 1) continue;  // reported before the study is read
    const auto [quantity, value] = given.front();
    if (!point) continue;
    if (is_of_training(quantity) && !trains(study.points[*point].scenario)) {
      fault(pointer_to(pointer, name_of(quantity)),
            fmt::format("the {} of a point without training", name_of(quantity)), "step_time, algbw or busbw", "");
      continue;
    }
    if (!seen.insert({*point, quantity}).second) {
      fault(pointer, fmt::format("the {} of that point a second time", name_of(quantity)),
            "each quantity of a point once", "remove one");
      continue;
    }
    matched.push_back({*point, quantity, value, m.spread, m.evidence, m.fitted});
  }
  return matched;
}

void check_fields(const SuiteFields& fields, std::vector<Fault>& faults) {
  if (!fields.study->is_object() && !fields.study->is_string())
    faults.push_back({"", "/study", describe_value(*fields.study), "a scenario, or the name or path of one", ""});
  if (fields.measurements.empty()) faults.push_back({"", "/measurements", "no measurement", "at least one", ""});
  for (std::size_t i = 0; i < fields.measurements.size() && faults.size() < kMaxFaults; ++i) {
    const Measurement& m = fields.measurements[i];
    const std::string pointer = pointer_to("/measurements", i);
    if (!m.at->is_object())
      faults.push_back({"", pointer_to(pointer, "at"), describe_value(*m.at), "an object of axes and values", ""});
    if (const std::size_t given = quantities_of(m).size(); given != 1)
      faults.push_back({"", pointer, given == 0 ? "no quantity" : fmt::format("{} quantities", given),
                        "exactly one of " + names_of_quantities(),
                        given == 0 ? "add it" : "write a separate measurement for each"});
    if (m.fitted && m.fitted->empty())
      faults.push_back(
          {"", pointer_to(pointer, "fitted"), "\"\"", "the constant that was set from this value, or null", ""});
  }
}

/// The study as a separate document. Its faults name their place in the suite.
Document study_document(const SuiteFields& fields, const std::string& name) {
  Document document{*fields.study, Origins(name)};
  document.origins.add("", name, "/study");
  if (document.json.is_string()) {
    document.json = Json::object({{"from", document.json}});
    document.origins.add("/from", name, "/study");
  } else if (!document.json.contains("name") && !document.json.contains("from")) {
    document.json["name"] = fields.name;
  }
  return document;
}

Suite read_suite(const Json& json, const std::string& name, const std::filesystem::path& library,
                 const PlatformInspector& inspect = {}) {
  SuiteFields fields;
  std::vector<Fault> faults;
  read_value(json, "", fields, {}, faults);
  if (faults.empty()) check_fields(fields, faults);
  Suite suite;
  if (json.is_object() && json.contains("study") && (fields.study->is_string() || fields.study->is_object())) {
    try {
      suite.document = study_document(fields, name);
      suite.study = expand_study(suite.document, {}, library, kMaxPoints, {}, inspect);
    } catch (const ScenarioError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  }
  if (faults.empty()) {
    if (fields.alternatives &&
        std::find(suite.study.axes.begin(), suite.study.axes.end(), *fields.alternatives) == suite.study.axes.end())
      faults.push_back({"", "/alternatives", describe_value(*fields.alternatives),
                        suite.study.axes.empty()
                            ? "null: the study is one point"
                            : fmt::format("an axis of the study: {}", fmt::join(suite.study.axes, ", ")),
                        near_text(*fields.alternatives, suite.study.axes)});
    suite.measurements = match(fields.measurements, suite.study, faults);
  }
  for (Fault& fault : faults)
    if (fault.file.empty()) fault.file = name;
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  suite.name = std::move(fields.name);
  suite.description = std::move(fields.description);
  suite.source = std::move(fields.source);
  suite.assumes = std::move(fields.assumes);
  suite.alternatives = std::move(fields.alternatives);
  suite.tolerance = fields.tolerance;
  return suite;
}

}  // namespace

Suite load_suite(const std::filesystem::path& file, const std::filesystem::path& library,
                 const PlatformInspector& inspect) {
  return read_suite(read_json(file), file == "-" ? "standard input" : file.string(), library, inspect);
}

Suite parse_suite(std::string_view text, const std::string& name, const std::filesystem::path& library) {
  return read_suite(parse_json(text, name), name, library);
}

std::filesystem::path suites_folder(const std::filesystem::path& library) { return library / "validation"; }

}  // namespace stepcast
