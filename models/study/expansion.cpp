#include "models/study/expansion.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/describe/reader.hpp"
#include "models/scenario/scenario_axes.hpp"
#include "models/study/axis_labels.hpp"
#include "models/study/document_changes.hpp"
#include "models/study/no_possible_point.hpp"
#include "models/study/point_faults.hpp"
#include "models/study/point_reader.hpp"
#include "models/study/range_lists.hpp"
#include "models/study/repeated_values.hpp"
#include "models/study/seen_axes.hpp"
#include "models/study/variants.hpp"

namespace stepcast {
namespace {

/// The shared state of all points of a study while its document is expanded.
class Expansion {
 public:
  /// @param files, reader  may know parts of other studies; they outlive this
  Expansion(const std::string& file, PartFiles& files, ScenarioReader& reader, std::size_t max_points,
            PointFilter wanted = {}, ReadPoints read = ReadPoints::all)
      : files_(files),
        changes_(files_, faults_),
        reader_(reader, changes_, faults_, file),
        max_points_(max_points),
        wanted_(std::move(wanted)),
        read_(read) {}

  Study expand(Document document, std::vector<Override> overrides) {
    expand_ranges(document.json);
    for (Override& change : overrides) expand_ranges(change.value);
    changes_.apply(overrides, document);
    study_.source = document.json.dump() + "\n";
    changes_.resolve(document);
    const std::string file = document.origins.file_of("");
    if (document.json.is_object()) expand_variants(std::move(document), overrides);
    else if (document.given_up.empty()) faults_.add(document, "", describe_value(document.json), "an object");
    const bool none_is_possible = faults_.empty() && study_.points.empty() && reader_.left_out().points() > 0;
    if (study_.points.empty()) faults_.add(reader_.left_out().faults());
    std::vector<Fault> faults = faults_.told();
    const std::size_t refused = reader_.refused();
    if (faults_.full())
      faults.push_back({file, "", fmt::format("{} faults or more", kMaxFaults), "", "correct these first"});
    else if (refused > 0 && refused < points_)
      faults.push_back({file, "", fmt::format("{} of {} points whose parts do not go together", refused, points_),
                        "none", "--set /impossible=leave-out answers the others"});
    if (none_is_possible) throw NoPossiblePoint(std::move(faults));
    if (!faults.empty()) throw ScenarioError(std::move(faults));
    for (std::string& note : reader_.left_out().notes(points_)) study_.notes.push_back(std::move(note));
    reader_.unused().add_notes(study_);
    axes_.name_axes(study_, read_ == ReadPoints::first);
    study_.source += files_.text();
    return std::move(study_);
  }

 private:
  void expand_variants(Document document, const std::vector<Override>& overrides) {
    std::vector<Fault> faults;
    std::vector<Variant> variants;
    if (const auto found = document.json.find("variants"); found != document.json.end()) {
      read_value(*found, "/variants", variants, {}, faults);
      document.json.erase("variants");  // avoids a copy with every variant's document
    }
    if (faults.empty()) check_variants(variants, faults);
    faults_.add(faults_.located(document, std::move(faults)));
    if (!are_affordable(document, variants, overrides)) return;
    if (variants.empty()) return expand_axes(std::move(document), {});
    for (const Override& change : overrides) {
      LostOverride lost = find_lost(change, variants);
      if (lost.fault) faults_.add({*lost.fault});
      if (lost.note) study_.notes.push_back(*std::move(lost.note));
    }
    for (std::size_t i = 0; i < variants.size() && !full(); ++i) {
      axes_.see("variant", variants[i].name);
      if (!is_wanted({{"variant", variants[i].name}})) continue;
      expand_axes(varied(document, variants[i], i, overrides), {{"variant", variants[i].name}});
    }
    faults_.changed_after.clear();
  }

  /// The document with the changes of its i-th variant.
  Document varied(const Document& document, const Variant& variant, std::size_t i,
                  const std::vector<Override>& overrides) {
    Document copy = document;
    const std::string place = fmt::format("/variants/{}/set", i);
    changes_.apply_set(*variant.set, place, copy);
    changes_.apply_below(variant, place, overrides, copy);
    return copy;
  }

  /// Counts all points before making any. With a filter, points are counted while they are made.
  bool are_affordable(const Document& document, const std::vector<Variant>& variants,
                      const std::vector<Override>& overrides) {
    const PointFaults faults = faults_;  // making the points finds the same faults again
    double points = 0;
    std::string at = "/variants";
    const auto count = [&](Document one) {
      const auto axes = scenario_axes(one.json);
      if (!axes.empty()) at = axes.front();
      points += count_points(std::move(one));
      return points <= static_cast<double>(max_points_);
    };
    bool few = true;
    if (variants.empty()) few = count(document);
    for (std::size_t i = 0; i < variants.size() && few; ++i) few = count(varied(document, variants[i], i, overrides));
    faults_ = faults;
    if (few) study_.points.reserve(static_cast<std::size_t>(points));
    if (few || wanted_) return true;
    add_too_many(document, at, points);
    return false;
  }

  /// The number of points from a document's axes. Values that may contain further axes are counted one by one. All
  /// other values count the same.
  double count_points(Document document) {
    double points = 1;
    for (const std::string& axis : scenario_axes(document.json)) {
      const Json::json_pointer pointer(axis);
      const auto is_plain = [&](const Json& value) { return !may_hold_axes(value, axis); };
      const Json& list = document.json[pointer];
      if (std::all_of(list.begin(), list.end(), is_plain)) {
        points *= std::max<double>(1, static_cast<double>(list.size()));
        continue;
      }
      const Json values = std::move(document.json[pointer]);  // avoids a copy with every value's document
      const auto plain = std::count_if(values.begin(), values.end(), is_plain);
      double below = plain > 0 ? static_cast<double>(plain) * count_points(document) : 0;
      for (std::size_t i = 0; i < values.size() && below <= static_cast<double>(max_points_); ++i) {
        if (is_plain(values[i])) continue;
        Document copy = with_value(document, axis, i, values[i]);
        changes_.resolve(copy);
        if (copy.json[pointer].is_array()) copy.json[pointer] = nullptr;  // a fault, reported when the points are made
        below += count_points(std::move(copy));
      }
      return below;
    }
    return points;
  }

  /// Whether a value of an axis, or its file, may contain lists.
  static bool may_hold_axes(const Json& value, const std::string& axis) {
    if (value.is_string())
      return axis.find('/', 1) == std::string::npos || axis == "/codec/device" || axis.ends_with("/kind") ||
             axis.ends_with("/compressor");
    if (!value.is_structured()) return false;
    return (value.is_object() && value.contains("from")) ||
           std::any_of(value.begin(), value.end(), [](const Json& inside) {
             return inside.is_array() || (inside.is_object() && may_hold_axes(inside, "/inside/"));
           });
  }

  /// Takes the values of the first axis one by one, and expands the remaining axes for each.
  void expand_axes(Document document, std::vector<Coordinate> coordinates) {
    const auto axes = scenario_axes(document.json);
    if (std::none_of(axes.begin(), axes.end(),
                     [](const std::string& axis) { return is_at_or_below(axis, "/workload"); }))
      changes_.take_out_workload(document);
    if (axes.empty()) return add_point(document, std::move(coordinates));
    if (!is_affordable(document, axes, coordinates.size())) return;
    const std::string& axis = axes.front();
    const Json::json_pointer pointer(axis);
    const Json values = std::move(document.json[pointer]);  // avoids a copy with every value's document
    if (values.empty()) {
      faults_.add(document, axis, "an empty list", "one value, or a list of at least one");
      give_up(document, axis);
      return expand_axes(std::move(document), std::move(coordinates));
    }
    faults_.add(repeated_values(document, axis, values));
    const auto labels = axis_labels(values);
    for (std::size_t i = 0; i < values.size() && !full(); ++i) {
      axes_.see(axis, labels[i]);
      std::vector<Coordinate> extended = coordinates;
      extended.push_back({axis, labels[i]});
      if (!is_wanted(extended)) continue;
      Document copy = with_value(document, axis, i, values[i]);
      for (Document::Spread& spread : copy.spread)
        if (spread.list == axis) spread.value = labels[i];
      const bool lists_files = values[i].is_object() && values[i].contains("from") && values[i]["from"].is_array();
      const Fault second =
          copy.origins.locate({"", lists_files ? pointer_to(axis, "from") : axis,
                               describe_value(lists_files ? values[i]["from"] : values[i]),
                               "one value in each place of an axis", "write its values into the list around it"});
      changes_.resolve(copy);
      if (copy.json[pointer].is_array()) {
        const auto left = scenario_axes(copy.json);
        if (std::find(left.begin(), left.end(), axis) != left.end()) {
          faults_.add({second});
          give_up(copy, axis);
        }
      }
      expand_axes(std::move(copy), std::move(extended));
    }
  }

  [[nodiscard]] bool is_wanted(const std::vector<Coordinate>& some) const { return !wanted_ || wanted_(some); }

  /// An upper limit on the number of points from these axes.
  /// @param wanted  whether to count only wanted values
  [[nodiscard]] double product(const Document& document, const std::vector<std::string>& axes, bool wanted) const {
    double points = 1;
    for (const std::string& axis : axes) {
      const Json& values = document.json[Json::json_pointer(axis)];
      std::size_t count = values.size();
      if (wanted) {
        const auto labels = axis_labels(values);
        count = static_cast<std::size_t>(std::count_if(labels.begin(), labels.end(), [&](const std::string& label) {
          return is_wanted({{axis, label}});
        }));
      }
      points *= std::max<double>(1, static_cast<double>(count));
    }
    return points;
  }

  /// Counts the points of the known axes before making any.
  bool is_affordable(const Document& document, const std::vector<std::string>& axes, std::size_t taken) {
    if (axes.size() + taken > kMaxAxes) {
      faults_.add(document, axes.front(), fmt::format("one of {} axes", axes.size() + taken),
                  fmt::format("at most {} axes", kMaxAxes));
      return false;
    }
    const auto are_few = [&](double points) {
      return static_cast<double>(points_) + points <= static_cast<double>(max_points_);
    };
    double points = product(document, axes, false);
    if (are_few(points)) return true;
    if (wanted_ && are_few(points = product(document, axes, true))) return true;
    add_too_many(document, axes.front(), static_cast<double>(points_) + points);
    return false;
  }

  void add_too_many(const Document& document, const std::string& pointer, double points) {
    faults_.add(
        document, pointer,
        fmt::format("{} of a study of {:g} points or more", pointer == "/variants" ? "variants" : "an axis", points),
        fmt::format("at most {} points", max_points_), "split the study");
    full_ = true;
  }

  void add_point(const Document& document, std::vector<Coordinate> coordinates) {
    if (++points_ > max_points_) {
      faults_.add(document, "", fmt::format("a study of more than {} points", max_points_), "fewer", "split the study");
      full_ = true;
      return;
    }
    if (read_ == ReadPoints::first && !study_.points.empty()) return;
    std::optional<StudyPoint> point = reader_.read(document, std::move(coordinates), study_.points.size());
    if (!point) return;
    if (!study_.points.empty()) share(study_.points.back(), point->scenario);
    study_.name = point->scenario.name;
    study_.description = point->scenario.description.value_or("");
    study_.output = point->scenario.output;
    study_.points.push_back(*std::move(point));
  }

  /// A point takes from its predecessor the parts that are equal in both.
  static void share(const StudyPoint& before, Scenario& scenario) {
    const auto take = [](const auto& theirs, auto& ours) {
      if (ours == theirs) ours = theirs;
    };
    take(before.scenario.description, scenario.description);
    take(before.scenario.codec.whole, scenario.codec.whole);
    take(before.scenario.run, scenario.run);
    take(before.scenario.baseline, scenario.baseline);
    take(before.scenario.codec.device, scenario.codec.device);
  }

  [[nodiscard]] bool full() const { return full_ || faults_.full(); }

  PartFiles& files_;
  PointFaults faults_;
  DocumentChanges changes_;
  PointReader reader_;
  SeenAxes axes_;
  std::size_t max_points_;
  PointFilter wanted_;
  ReadPoints read_;
  Study study_;
  std::size_t points_ = 0;
  bool full_ = false;
};

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides,
                 const std::filesystem::path& library, std::size_t max_points, PointFilter wanted) {
  const std::string name = file == "-" ? "standard input" : file.string();
  return expand_study({read_json(file), Origins(name)}, overrides, library, max_points, std::move(wanted));
}

Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides,
                  const std::filesystem::path& library, std::size_t max_points) {
  return expand_study({parse_json(text, name), Origins(name)}, overrides, library, max_points);
}

Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library,
                   std::size_t max_points, PointFilter wanted, PlatformInspector inspect, ReadPoints read) {
  const std::string file = document.origins.file_of("");
  PartFiles files(std::filesystem::path(file).parent_path(), library);
  ScenarioReader reader(files, std::move(inspect));
  return Expansion(file, files, reader, max_points, std::move(wanted), read).expand(std::move(document), overrides);
}

Expander::Expander(std::string file, const std::filesystem::path& library)
    : file_(std::move(file)), files_(std::filesystem::path(file_).parent_path(), library), reader_(files_) {}

Study Expander::expand(Document document, const std::vector<Override>& overrides) {
  return Expansion(file_, files_, reader_, kMaxPoints).expand(std::move(document), overrides);
}

std::optional<std::vector<StudyPoint>> Expander::at_values(const Document& document,
                                                           const std::vector<Override>& values) {
  PointFaults faults;
  DocumentChanges changes(files_, faults);
  PointReader reader(reader_, changes, faults, file_, LookForUnused::no);
  std::vector<StudyPoint> points;
  Document changed = document;
  Json* field = nullptr;  // once it is known to hold the value as it is written
  for (const Override& value : values) {
    if (field) {
      *field = value.value;
    } else {
      changes.apply({value}, changed);
      changes.resolve(changed);
      const Json::json_pointer place(value.pointer);
      if (changed.json.contains(place) && changed.json[place] == value.value) field = &changed.json[place];
    }
    std::optional<StudyPoint> point = reader.read(changed, {}, points.size());
    if (!point || !faults.empty()) return {};
    points.push_back(*std::move(point));
  }
  return points;
}

}  // namespace stepcast
