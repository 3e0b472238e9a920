#include "models/study/study.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/describe/reader.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/scenario_axes.hpp"
#include "models/scenario/scenario_reader.hpp"
#include "models/study/axis_labels.hpp"
#include "models/study/left_out.hpp"
#include "models/study/no_possible_point.hpp"
#include "models/study/unused_fields.hpp"
#include "models/study/variants.hpp"

namespace stepcast {
namespace {

/// The shared state of all points of a study while its document is expanded.
class Expansion {
 public:
  Expansion(const std::filesystem::path& file, const std::filesystem::path& library, std::size_t max_points,
            PointFilter wanted = {}, PlatformInspector inspect = {})
      : files_(file.parent_path(), library),
        reader_(files_, std::move(inspect)),
        max_points_(max_points),
        wanted_(std::move(wanted)),
        unused_(file.string()) {}

  Study expand(Document document, const std::vector<Override>& overrides) {
    apply(overrides, document);
    study_.source = document.json.dump() + "\n";
    resolve(document);
    const std::string file = document.origins.file_of("");
    if (document.json.is_object()) expand_variants(std::move(document), overrides);
    else if (document.given_up.empty()) add_fault(document, "", describe_value(document.json), "an object");
    const bool none_is_possible = faults_.empty() && study_.points.empty() && left_out_.points() > 0;
    if (study_.points.empty()) add(left_out_.faults());
    if (faults_.size() >= kMaxFaults)
      faults_.push_back({file, "", fmt::format("{} faults or more", kMaxFaults), "", "mend these first"});
    else if (refused_ > 0 && refused_ < points_)
      faults_.push_back({file, "", fmt::format("{} of {} points whose parts do not go together", refused_, points_),
                         "none", "--set /impossible=leave-out answers the others"});
    if (none_is_possible) throw NoPossiblePoint(told(std::move(faults_)));
    if (!faults_.empty()) throw ScenarioError(told(std::move(faults_)));
    for (std::string& note : left_out_.notes(points_)) study_.notes.push_back(std::move(note));
    unused_.add_notes(study_);
    name_axes();
    study_.source += files_.text();
    return std::move(study_);
  }

 private:
  /// Applies a change of the scenario's base ("/from") first, so that other changes apply to the merged scenario.
  void apply(const std::vector<Override>& overrides, Document& document) {
    const auto is_base = [](const Override& change) { return change.pointer == "/from"; };
    for (const Override& change : overrides)
      if (is_base(change)) attempt([&] { stepcast::apply(change, document); });
    std::vector<Fault> faults;
    resolve_scenario(document, files_, faults);
    add(faults);
    for (const Override& change : overrides) {
      if (is_base(change)) continue;
      // List indices refer to content in the files of parts, so resolve these first.
      if (counts_below_part(change.pointer)) resolve(document);
      attempt([&] { stepcast::apply(change, document); });
    }
  }

  /// True for "/cluster/protocols/0/name", but not for "/cluster/0".
  static bool counts_below_part(const std::string& pointer) {
    const auto tokens = tokens_of(pointer).value_or(std::vector<std::string>{});
    return tokens.size() > 2 &&
           std::any_of(tokens.begin() + 2, tokens.end(), [](const std::string& token) { return is_index(token); });
  }

  void expand_variants(Document document, const std::vector<Override>& overrides) {
    std::vector<Fault> faults;
    std::vector<Variant> variants;
    if (const auto found = document.json.find("variants"); found != document.json.end()) {
      read_value(*found, "/variants", variants, {}, faults);
      document.json.erase("variants");  // avoids a copy with every variant's document
    }
    if (faults.empty()) check_variants(variants, faults);
    add(located(document, std::move(faults)));
    if (!are_affordable(document, variants, overrides)) return;
    if (variants.empty()) return expand_axes(std::move(document), {});
    for (const Override& change : overrides) {
      LostOverride lost = find_lost(change, variants);
      if (lost.fault) add({*lost.fault});
      if (lost.note) study_.notes.push_back(*std::move(lost.note));
    }
    for (std::size_t i = 0; i < variants.size() && !full(); ++i) {
      see("variant", variants[i].name);
      if (!is_wanted({{"variant", variants[i].name}})) continue;
      expand_axes(varied(document, variants[i], i, overrides), {{"variant", variants[i].name}});
    }
    changed_after_.clear();
  }

  /// The document with the changes of its i-th variant.
  Document varied(const Document& document, const Variant& variant, std::size_t i,
                  const std::vector<Override>& overrides) {
    Document copy = document;
    const std::string place = fmt::format("/variants/{}/set", i);
    apply_set(variant.set, place, copy);
    apply_below(variant, place, overrides, copy);
    return copy;
  }

  /// Counts all points before making any. With a filter, points are counted while they are made.
  bool are_affordable(const Document& document, const std::vector<Variant>& variants,
                      const std::vector<Override>& overrides) {
    const std::vector<Fault> faults = faults_;  // making the points finds the same faults again
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
    sharing_.clear();
    changed_after_.clear();
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
        Document copy = taken(document, axis, i, values[i]);
        resolve(copy);
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
      return axis.find('/', 1) == std::string::npos || axis == "/codec/device" || axis.ends_with("/kind");
    if (!value.is_structured()) return false;
    return (value.is_object() && value.contains("from")) ||
           std::any_of(value.begin(), value.end(), [](const Json& inside) {
             return inside.is_array() || (inside.is_object() && may_hold_axes(inside, "/inside/"));
           });
  }

  /// The document with one value of an axis in place of the list.
  static Document taken(const Document& document, const std::string& axis, std::size_t i, const Json& value) {
    Document copy = document;
    copy.json[Json::json_pointer(axis)] = value;
    copy.origins.move(pointer_to(axis, i), axis);
    return copy;
  }

  /// If a variant sets a whole object, an override of one of its fields is applied after the variant.
  void apply_below(const Variant& variant, const std::string& place, const std::vector<Override>& overrides,
                   Document& document) {
    changed_after_.clear();
    for (const Override& change : overrides) {
      if (!variant.set.is_object()) return;
      Json own = Json::object();  // the variant's own settings there have priority
      for (const auto& [target, value] : variant.set.items())
        if (is_at_or_below(target, change.pointer)) own[target] = value;
      if (own.contains(change.pointer)) continue;
      for (const auto& [target, value] : variant.set.items()) {
        if (change.pointer == target || !is_at_or_below(change.pointer, target)) continue;
        attempt([&] { stepcast::apply(change, document); });
        apply_set(own, place, document);
        changed_after_.push_back(
            {change.pointer, variant.name, pointer_to(place, target) + change.pointer.substr(target.size())});
        break;
      }
    }
    if (!changed_after_.empty()) resolve(document);
  }

  /// Applies the changes at `pointer` and resolves their references.
  void apply_set(const Json& set, const std::string& pointer, Document& document) {
    if (!set.is_object()) return;
    const Origins written = document.origins;
    for (const auto& [target, value] : set.items()) {
      const Fault at = written.locate({"", pointer_to(pointer, target), "", "", ""});
      attempt([&, &target = target, &value = value] {
        if (is_at_or_below(pointer, "/run") &&
            (is_at_or_below(target, "/run") || is_at_or_below(target, "/cluster/workers")))
          throw ScenarioError({{at.file, at.pointer, "a change of " + target + " in a phase",
                                "the JSON pointer of another field: workers and run are the same in all phases", ""}});
        if (is_at_or_below(pointer, "/run"))
          for (const char* of_study : {"/name", "/description", "/baseline", "/output", "/impossible"})
            if (is_at_or_below(target, of_study))
              throw ScenarioError(
                  {{at.file, at.pointer, "a change of " + target + " in a phase",
                    "the JSON pointer of a field that a phase can have otherwise", "set it for the whole scenario"}});
        if (is_at_or_below(target, "/from"))
          throw ScenarioError(
              {{at.file, at.pointer, "a change of the scenario that this one is laid over",
                "the JSON pointer of another field", "write \"from\" at the top, or --set /from=NAME"}});
        if (is_at_or_below(target, "/variants"))
          throw ScenarioError(
              {{at.file, at.pointer, "a change of the variants", "the JSON pointer of another field", ""}});
        stepcast::apply({target, value, at.file, at.pointer}, document);
      });
    }
    resolve(document);
  }

  /// Takes the values of the first axis one by one, and expands the remaining axes for each.
  void expand_axes(Document document, std::vector<Coordinate> coordinates) {
    const auto axes = scenario_axes(document.json);
    if (std::none_of(axes.begin(), axes.end(),
                     [](const std::string& axis) { return is_at_or_below(axis, "/workload"); }))
      take_out_workload(document);
    if (axes.empty()) return add_point(document, std::move(coordinates));
    if (!is_affordable(document, axes, coordinates.size())) return;
    const std::string& axis = axes.front();
    const Json::json_pointer pointer(axis);
    const Json values = std::move(document.json[pointer]);  // avoids a copy with every value's document
    if (values.empty()) {
      add_fault(document, axis, "an empty list", "one value, or a list of at least one");
      give_up(document, axis);
      return expand_axes(std::move(document), std::move(coordinates));
    }
    find_repeated(document, axis, values);
    const auto labels = axis_labels(values);
    for (std::size_t i = 0; i < values.size() && !full(); ++i) {
      see(axis, labels[i]);
      std::vector<Coordinate> extended = coordinates;
      extended.push_back({axis, labels[i]});
      if (!is_wanted(extended)) continue;
      Document copy = taken(document, axis, i, values[i]);
      for (Document::Spread& spread : copy.spread)
        if (spread.list == axis) spread.value = labels[i];
      const bool lists_files = values[i].is_object() && values[i].contains("from") && values[i]["from"].is_array();
      const Fault second =
          copy.origins.locate({"", lists_files ? pointer_to(axis, "from") : axis,
                               describe_value(lists_files ? values[i]["from"] : values[i]),
                               "one value in each place of an axis", "write its values into the list around it"});
      resolve(copy);
      if (copy.json[pointer].is_array()) {
        const auto left = scenario_axes(copy.json);
        if (std::find(left.begin(), left.end(), axis) != left.end()) {
          add({second});
          give_up(copy, axis);
        }
      }
      expand_axes(std::move(copy), std::move(extended));
    }
  }

  /// A workload with one value is the same in all further points, and it is most of the document.
  void take_out_workload(Document& document) {
    const auto found = document.json.find("workload");
    if (found == document.json.end() || !found->is_object()) return;
    auto& shared = taken_out_[found->dump() + document.origins.file_of("/workload/profile") + "\n" +
                              document.origins.file_of("/workload/measured/profile")];
    if (!shared) shared = std::make_shared<const Json>(std::move(*found));
    document.workload = shared;
    *found = nullptr;
  }

  [[nodiscard]] bool is_wanted(const std::vector<Coordinate>& some) const { return !wanted_ || wanted_(some); }

  void see(const std::string& axis, const std::string& value) {
    auto found = std::find_if(seen_.begin(), seen_.end(), [&](const SeenAxis& one) { return one.pointer == axis; });
    if (found == seen_.end()) found = seen_.insert(seen_.end(), {axis, {}, {}});
    if (found->known.insert(value).second) found->values.push_back(value);
  }

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
      add_fault(document, axes.front(), fmt::format("one of {} axes", axes.size() + taken),
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
    add_fault(
        document, pointer,
        fmt::format("{} of a study of {:g} points or more", pointer == "/variants" ? "variants" : "an axis", points),
        fmt::format("at most {} points", max_points_), "split the study");
    full_ = true;
  }

  void find_repeated(const Document& document, const std::string& axis, const Json& values) {
    constexpr const char* allowed = "each value of an axis once";
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [first, is_new] = seen.emplace(values[i].dump(), i);
      if (is_new) continue;
      const std::string own = pointer_to(axis, i), other = pointer_to(axis, first->second);
      auto changes = document.origins.changes_below(own, axis);
      if (changes.empty()) changes = document.origins.changes_below(other, axis);
      if (changes.empty()) {
        add_fault(document, own, describe_value(values[i]) + " a second time", allowed);
        continue;
      }
      // The list's author wrote different values; the changes make them equal.
      std::vector<std::string> others;
      for (std::size_t k = 1; k < changes.size(); ++k)
        others.push_back(fmt::format("{}: {}", changes[k].file, changes[k].place));
      const std::string& changed = changes.front().pointer;
      const Json::json_pointer field(changed.substr(changed.find('/', axis.size() + 1)));
      add({{changes.front().file, changes.front().place,
            fmt::format("{}{}, which makes {} what {} is",
                        describe_value(values[i].contains(field) ? values[i][field] : Json()),
                        others.empty() ? "" : fmt::format(", beside {}", fmt::join(others, ", ")), own, other),
            allowed, "leave one of the two out, or let them differ in another field"}});
    }
  }

  void add_point(const Document& document, std::vector<Coordinate> coordinates) {
    if (++points_ > max_points_) {
      add_fault(document, "", fmt::format("a study of more than {} points", max_points_), "fewer", "split the study");
      full_ = true;
      return;
    }
    StudyPoint point;
    point.coordinates = std::move(coordinates);
    unused_.begin(point.coordinates);
    ScenarioReading own = reader_.read(document);
    unused_.see(document, own.scenario);
    std::vector<Fault> impossible = located(document, own.impossible), of_baseline;
    point.phases = read_phases(document, own, own.scenario, impossible);
    if (own.scenario.baseline) read_baseline(document, own, point, of_baseline);
    add(located(document, own.faults));
    // An impossible baseline does not exclude the point that is compared with it.
    if (impossible.empty()) add(of_baseline);
    if (!impossible.empty()) {
      const bool leave_out = own.on_impossible == ImpossiblePoints::leave_out;
      if (leave_out && own.faults.empty())
        return left_out_.add(impossible.front(),
                             own.impossible.empty() ? impossible.front().pointer : own.impossible.front().pointer);
      add(impossible);
      refused_ += !leave_out;
    }
    if (!faults_.empty()) return;
    unused_.keep(study_.points.size());
    if (!study_.points.empty()) share(study_.points.back(), own.scenario);
    point.scenario = std::move(own.scenario);
    study_.name = point.scenario.name;
    study_.description = point.scenario.description;
    study_.output = point.scenario.output;
    study_.points.push_back(std::move(point));
  }

  /// The document with the changes of one place. It is a point of its own: a baseline, or a phase of a run.
  /// @param where  name for faults, such as "the baseline"
  Document changed(const Document& document, const Json& set, const std::string& pointer, const std::string& where) {
    Document copy = document;
    apply_set(set, pointer, copy);
    for (const std::string& axis : scenario_axes(copy.json)) {
      add_fault(copy, axis, "a list in " + where, fmt::format("one value, so that {} is one point", where));
      give_up(copy, axis);
    }
    take_out_workload(copy);
    return copy;
  }

  /// Omits faults that the point itself has.
  /// @param impossible  collects the faults between this scenario's parts
  Scenario read_changed(const Document& document, const ScenarioReading& own, const std::string& where,
                        std::vector<Fault>& impossible) {
    ScenarioReading reading = reader_.read(document);
    unused_.see(document, reading.scenario);
    const auto of_this = [&](std::vector<Fault> faults, const std::vector<Fault>& known) {
      std::erase_if(faults,
                    [&](const Fault& fault) { return std::find(known.begin(), known.end(), fault) != known.end(); });
      for (Fault& fault : faults) fault.found += fmt::format(" (in {})", where);
      return located(document, std::move(faults));
    };
    add(of_this(std::move(reading.faults), own.faults));
    for (Fault& fault : of_this(std::move(reading.impossible), own.impossible)) impossible.push_back(std::move(fault));
    reading.scenario.baseline.reset();
    return std::move(reading.scenario);
  }

  /// A point has of its predecessor what is equal in both.
  static void share(const StudyPoint& before, Scenario& scenario) {
    const auto take = [](const auto& theirs, auto& ours) {
      if (ours == theirs) ours = theirs;
    };
    take(before.scenario.run, scenario.run);
    take(before.scenario.baseline, scenario.baseline);
    take(before.scenario.codec.device, scenario.codec.device);
  }

  void read_baseline(const Document& document, const ScenarioReading& own, StudyPoint& point,
                     std::vector<Fault>& impossible) {
    const Document copy = changed(document, own.scenario.baseline->set, "/baseline/set", "the baseline");
    point.baseline = read_changed(copy, own, "the baseline", impossible);
    point.baseline_phases = read_phases(copy, own, *point.baseline, impossible);
    // One object for successive points that are compared with one scenario.
    if (baseline_of_ && baseline_of_->json == copy.json && baseline_of_->workload == copy.workload &&
        baseline_of_->workload_file == copy.workload_file) {
      point.baseline = baseline_;
    } else {
      baseline_ = point.baseline;
      baseline_of_ = copy;
    }
  }

  std::vector<Scenario> read_phases(const Document& document, const ScenarioReading& own, const Scenario& scenario,
                                    std::vector<Fault>& impossible) {
    std::vector<Scenario> phases;
    if (!scenario.run) return phases;
    Document base = document;
    for (const char* known : {"phases", "target"}) base.json["run"].erase(known);  // avoids a copy with every phase
    for (std::size_t i = 0; i < scenario.run->phases.size(); ++i) {
      const TrainingPhase& phase = scenario.run->phases[i];
      const std::string where = fmt::format("phase \"{}\"", phase.name), pointer = fmt::format("/run/phases/{}/set", i);
      phases.push_back(read_changed(changed(base, phase.set, pointer, where), own, where, impossible));
      phases.back().run.reset();
    }
    return phases;
  }

  /// Converts a fault's pointer to the original file and pointer. A workload shared by name has its own file. A fault
  /// with a file is already located: it is a profile's.
  static Fault locate(const Document& document, Fault fault) {
    constexpr std::string_view workload = "/workload";
    if (!fault.file.empty()) return fault;
    if (!document.workload_file || !is_at_or_below(fault.pointer, workload))
      return document.origins.locate(std::move(fault));
    fault.file = document.workload_file->string();
    fault.pointer.erase(0, workload.size());
    return fault;
  }

  void resolve(Document& document) {
    std::vector<Fault> faults;
    resolve_references(document, files_, faults);
    add(std::move(faults));
  }

  static void give_up(Document& document, const std::string& pointer) {
    document.json[Json::json_pointer(pointer)] = nullptr;
    document.given_up.push_back(pointer);
  }

  template <class F>
  void attempt(F&& change) {
    try {
      change();
    } catch (const ScenarioError& error) {
      add(error.faults());
    }
  }

  void add_fault(const Document& document, const std::string& pointer, std::string found, std::string allowed,
                 std::string remedy = "") {
    add({document.origins.locate({"", pointer, std::move(found), std::move(allowed), std::move(remedy)})});
  }

  /// Locates faults that have pointers into the document.
  /// Drops faults that follow from reported ones.
  std::vector<Fault> located(const Document& document, std::vector<Fault> faults) {
    std::erase_if(faults, [&](const Fault& fault) {
      return fault.file.empty() &&
             std::any_of(document.given_up.begin(), document.given_up.end(),
                         [&](const std::string& pointer) { return is_at_or_below(fault.pointer, pointer); });
    });
    for (Fault& fault : faults) {
      fault = locate(document, std::move(fault));
      const Fault bare = fault;
      if (fault.file == "--set") tell_variant(fault);
      tell_value(document, fault);
      if (fault.found.size() > bare.found.size())
        whose_[to_string(fault)] = {to_string(bare), fault.found.substr(bare.found.size())};
    }
    return faults;
  }

  /// Names the variant under a changed value: with another variant, the value may be valid.
  void tell_variant(Fault& fault) const {
    for (const auto& [pointer, variant, place] : changed_after_) {
      if (!is_at_or_below(pointer, fault.pointer) && !is_at_or_below(fault.pointer, pointer)) continue;
      fault.found += fmt::format(" (over what variant {} sets)", describe_value(variant));
      if (fault.remedy.empty())
        fault.remedy = fmt::format("here it is {}; set it so in the variants that have it", place);
      return;
    }
  }

  /// Names the list's value under a change: with another value, the change may be valid.
  static void tell_value(const Document& document, Fault& fault) {
    for (const Document::Spread& spread : document.spread)
      if (fault.file == spread.file && is_at_or_below(fault.pointer, spread.place))
        fault.found += fmt::format(" (with {} {})", spread.list, describe_value(spread.value));
  }

  /// Adds each fault once. A fault that several variants or values share names the first one and their number.
  void add(const std::vector<Fault>& faults) {
    for (const Fault& fault : faults) {
      const auto own = whose_.find(to_string(fault));
      if (own != whose_.end()) {
        auto [shared, is_first] = sharing_.try_emplace(own->second.first, fault, std::set<std::string>{});
        shared->second.second.insert(own->second.second);
        if (!is_first) continue;
      }
      if (faults_.size() < kMaxFaults && std::find(faults_.begin(), faults_.end(), fault) == faults_.end())
        faults_.push_back(fault);
    }
  }

  /// The faults, with the number of variants or values that share each of them.
  [[nodiscard]] std::vector<Fault> told(std::vector<Fault> faults) const {
    for (const auto& [text, shared] : sharing_) {
      const auto first = std::find(faults.begin(), faults.end(), shared.first);
      if (first == faults.end() || shared.second.size() < 2) continue;
      first->found.pop_back();  // ")"
      first->found += fmt::format(", the first of {})", shared.second.size());
    }
    return faults;
  }

  [[nodiscard]] bool full() const { return full_ || faults_.size() >= kMaxFaults; }

  /// Names an axis by the last name in its pointer, or by the whole pointer if two axes would have one name.
  void name_axes() {
    std::vector<std::string> pointers;
    for (const StudyPoint& point : study_.points)
      for (const Coordinate& c : point.coordinates)
        if (std::find(pointers.begin(), pointers.end(), c.axis) == pointers.end()) pointers.push_back(c.axis);
    if (study_.points.empty())
      for (const SeenAxis& axis : seen_) pointers.push_back(axis.pointer);
    const auto short_name = [](const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); };
    std::map<std::string, std::string> names;
    for (const std::string& pointer : pointers) {
      const auto alike = std::count_if(pointers.begin(), pointers.end(), [&](const std::string& other) {
        return short_name(other) == short_name(pointer);
      });
      names[pointer] = alike > 1 ? pointer : short_name(pointer);
      study_.axes.push_back(names[pointer]);
      study_.axis_pointers.push_back(pointer);
      const auto seen =
          std::find_if(seen_.begin(), seen_.end(), [&](const SeenAxis& one) { return one.pointer == pointer; });
      study_.axis_values.push_back(seen->values);
    }
    for (StudyPoint& point : study_.points)
      for (Coordinate& c : point.coordinates) c.axis = names[c.axis];
  }

  /// An axis found so far, with all its values, wanted or not.
  struct SeenAxis {
    std::string pointer;
    std::vector<std::string> values;
    std::set<std::string> known;  ///< the values
  };

  /// An override of a field inside an object that the current variant sets.
  struct ChangedAfter {
    std::string pointer, variant, place;
  };

  PartFiles files_;
  ScenarioReader reader_;
  std::size_t max_points_;
  PointFilter wanted_;
  std::vector<ChangedAfter> changed_after_;
  /// The key is the workload's text and the files that profiles are relative to.
  std::map<std::string, std::shared_ptr<const Json>> taken_out_;
  Study study_;
  std::vector<SeenAxis> seen_;
  std::vector<Fault> faults_;
  /// For a fault with a variant or value: its text gives the text without them, and their name.
  std::map<std::string, std::pair<std::string, std::string>> whose_;
  /// For that shorter text: the first such fault, and the names of all its variants or values.
  std::map<std::string, std::pair<Fault, std::set<std::string>>> sharing_;
  LeftOut left_out_;
  UnusedFields unused_;
  Shared<Scenario> baseline_;            ///< the last one that was read
  std::optional<Document> baseline_of_;  ///< what it was read from
  std::size_t points_ = 0;
  std::size_t refused_ = 0;  ///< points whose parts do not fit together
  bool full_ = false;
};

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides,
                 const std::filesystem::path& library, std::size_t max_points, PointFilter wanted) {
  const std::string name = file == "-" ? "standard input" : file.string();
  return Expansion(name, library, max_points, std::move(wanted)).expand({read_json(file), Origins(name)}, overrides);
}

Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides,
                  const std::filesystem::path& library, std::size_t max_points) {
  return Expansion(name, library, max_points).expand({parse_json(text, name), Origins(name)}, overrides);
}

Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library,
                   std::size_t max_points, PointFilter wanted, PlatformInspector inspect) {
  const std::string file = document.origins.file_of("");
  return Expansion(file, library, max_points, std::move(wanted), std::move(inspect))
      .expand(std::move(document), overrides);
}

std::string value_on(const std::vector<Coordinate>& coordinates, std::string_view axis) {
  const auto found =
      std::find_if(coordinates.begin(), coordinates.end(), [&](const Coordinate& c) { return c.axis == axis; });
  return found == coordinates.end() ? "" : found->value;
}

std::vector<const Scenario*> questions_of(const StudyPoint& point) {
  std::vector<const Scenario*> all{&point.scenario};
  for (const Scenario& phase : point.phases) all.push_back(&phase);
  if (point.baseline) all.push_back(&*point.baseline);
  for (const Scenario& phase : point.baseline_phases) all.push_back(&phase);
  return all;
}

}  // namespace stepcast
