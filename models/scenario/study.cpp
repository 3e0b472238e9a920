#include "models/scenario/study.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/axes.hpp"
#include "models/scenario/check.hpp"
#include "models/scenario/check_workload.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/reader.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/scenario/writer.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

template <class T>
struct IsPart : std::false_type {};
template <class T>
struct IsPart<Part<T>> : std::true_type {};

namespace {

/// ScenarioFields' visitor: like ObjectReader, with parts unwrapped and the shared workload left out.
class ScenarioReader {
 public:
  ScenarioReader(const Json& object, std::vector<Fault>& faults) : inner_(object, "", faults) {}

  template <class T>
  void required(const char* name, T& target, const char* meaning, Limits limits = {}) {
    if constexpr (IsPart<T>::value) inner_.required(name, target.value, meaning, limits);
    else inner_.required(name, target, meaning, limits);
  }
  template <class T>
  void optional(const char* name, T& target, const char* meaning, Limits limits = {}) {
    if constexpr (IsPart<T>::value) inner_.optional(name, target.value, meaning, limits);
    else if constexpr (std::is_same_v<T, std::optional<Part<WorkloadTable>>>) inner_.ignore(name);
    else inner_.optional(name, target, meaning, limits);
  }
  void report_unknown_keys() { inner_.report_unknown_keys(); }

 private:
  detail::ObjectReader inner_;
};

/// ScenarioFields' visitor: like AxisFinder, with parts unwrapped.
class ScenarioAxes {
 public:
  explicit ScenarioAxes(const Json& object) : inner_(object, "") {}
  template <class T>
  void required(const char* name, T& x, const char* meaning, Limits limits = {}) { optional(name, x, meaning, limits); }
  template <class T>
  void optional(const char* name, T& x, const char* meaning, Limits = {}) {
    if constexpr (IsPart<T>::value) inner_.optional(name, x.value, meaning);
    else if constexpr (std::is_same_v<T, std::optional<Part<WorkloadTable>>>) {
      WorkloadTable table;
      inner_.optional(name, table, meaning);
    } else if constexpr (!kOfStudy<T>)
      inner_.optional(name, x, meaning);
  }
  [[nodiscard]] std::vector<std::string> axes() && { return std::move(inner_).axes(); }

 private:
  detail::AxisFinder inner_;
};

std::vector<std::string> axes_of(const Json& document) {
  if (!document.is_object()) return {};
  ScenarioAxes axes(document);
  ScenarioFields probe;
  ScenarioFields::describe(axes, probe);
  return std::move(axes).axes();
}

/// "" of what has no name.
std::string label_of(const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text.ends_with(".json") ? std::filesystem::path(text).stem().string() : text;
  }
  if (value.is_object())
    for (const char* key : {"name", "kind", "from"})
      if (const auto found = value.find(key); found != value.end() && found->is_string()) return found->get<std::string>();
  return value.is_structured() ? "" : value.dump();
}

/// The numbers, texts and truth values in an object, by the pointers that lead to them.
std::map<std::string, std::string> leaves_of(const Json& object) {
  std::map<std::string, std::string> leaves;
  const Json flat = object.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const std::string name = pointer.substr(pointer.rfind('/') + 1);
    const bool in_list = name.find_first_not_of("0123456789") == std::string::npos;
    if (!in_list && !value.is_structured()) leaves[pointer] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return leaves;
}

/// "shards=8, balance=greedy": what each of several objects has that is not in all of them.
std::vector<std::string> differences_of(const std::vector<Json>& objects) {
  std::vector<std::map<std::string, std::string>> leaves;
  std::map<std::pair<std::string, std::string>, std::size_t> uses;
  for (const Json& object : objects)
    for (const auto& leaf : leaves.emplace_back(leaves_of(object))) ++uses[leaf];
  std::vector<std::string> texts;
  for (const auto& own : leaves) {
    std::vector<std::string> parts;
    for (const auto& leaf : own)
      if (uses[leaf] < objects.size()) parts.push_back(fmt::format("{}={}", leaf.first.substr(leaf.first.rfind('/') + 1), leaf.second));
    texts.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return texts;
}

/// The axis' values as text. Objects that would read alike are told apart by what they differ in, and what that leaves alike,
/// or too long for a table, by its place.
std::vector<std::string> labels_of(const Json& values) {
  constexpr std::size_t kLongest = 48;
  std::vector<std::string> labels;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < values.size(); ++i) alike[labels.emplace_back(label_of(values[i]))].push_back(i);
  for (const auto& [label, places] : alike) {
    if (places.size() == 1 && !label.empty()) continue;
    std::vector<Json> objects;
    for (const std::size_t i : places)
      if (values[i].is_object()) objects.push_back(values[i]);
      else if (values[i].is_string()) objects.push_back({{"from", values[i]}});  // what a plain reference is short for
    const std::vector<std::string> texts = objects.size() == places.size() ? differences_of(objects) : std::vector<std::string>{};
    const bool empty = label.empty() && std::find(texts.begin(), texts.end(), "") != texts.end();
    const bool serves = !texts.empty() && !empty && std::set<std::string>(texts.begin(), texts.end()).size() == texts.size() && std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return text.size() <= kLongest; });
    for (std::size_t k = 0; k < places.size(); ++k) {
      std::string& text = labels[places[k]];
      if (!serves) text += fmt::format("{}#{}", text.empty() ? "" : " ", places[k] + 1);
      else if (text.empty()) text = texts[k];
      else if (!texts[k].empty()) text += fmt::format(" ({})", texts[k]);
    }
  }
  return labels;
}

/// Carries what all points of a study share while its document is expanded.
class Expansion {
 public:
  Expansion(const std::filesystem::path& file, const std::filesystem::path& library, std::size_t max_points) : files_(file.parent_path(), library), max_points_(max_points) {}

  Study expand(Document document, const std::vector<Override>& overrides) {
    for (const Override& change : overrides) attempt([&] { stepcast::apply(change, document); });
    study_.source = document.json.dump() + "\n";
    resolve(document);
    if (document.json.is_object()) expand_variants(document, overrides);
    else if (document.given_up.empty()) add_fault(document, "", describe_value(document.json), "an object");
    if (faults_.size() >= kMaxFaults) faults_.push_back({document.origins.file_of(""), "", fmt::format("{} faults or more", kMaxFaults), "", "mend these first"});
    if (!faults_.empty()) throw ScenarioError(std::move(faults_));
    name_axes();
    study_.source += files_.text();
    return std::move(study_);
  }

 private:
  void expand_variants(const Document& document, const std::vector<Override>& overrides) {
    std::vector<Fault> faults;
    std::vector<Variant> variants;
    if (const auto found = document.json.find("variants"); found != document.json.end()) read_value(*found, "/variants", variants, {}, faults);
    if (faults.empty()) check_variants(variants, faults);
    add_faults(document, std::move(faults));
    if (variants.empty()) return expand_axes(document, {});
    for (const Override& change : overrides) find_lost(change, variants);
    for (std::size_t i = 0; i < variants.size() && !full(); ++i) {
      Document copy = document;
      const std::string place = fmt::format("/variants/{}/set", i);
      apply_set(variants[i].set, place, copy);
      apply_below(variants[i], place, overrides, copy);
      expand_axes(std::move(copy), {{"variant", variants[i].name}});
    }
    changed_after_.clear();
  }

  /// What a variant sets as a whole, an override of one of its fields changes after it.
  void apply_below(const Variant& variant, const std::string& place, const std::vector<Override>& overrides, Document& document) {
    changed_after_.clear();
    for (const Override& change : overrides) {
      if (!variant.set.is_object()) return;
      Json own = Json::object();  // what the variant sets there itself, which stands
      for (const auto& [target, value] : variant.set.items())
        if (is_at_or_below(target, change.pointer)) own[target] = value;
      if (own.contains(change.pointer)) continue;
      for (const auto& [target, value] : variant.set.items()) {
        if (change.pointer == target || !is_at_or_below(change.pointer, target)) continue;
        attempt([&] { stepcast::apply(change, document); });
        apply_set(own, place, document);
        changed_after_.push_back({change.pointer, variant.name, pointer_to(place, target) + change.pointer.substr(target.size())});
        break;
      }
    }
    if (!changed_after_.empty()) resolve(document);
  }

  /// What a variant makes of an override: sets it, or a part of it, itself; and to another value.
  struct Undone {
    std::string by;  ///< the first pointer of the variant's that does; empty: none does
    bool other_value = false;
  };
  static Undone undone(const Override& change, const Json& set) {
    if (!set.is_object()) return {};
    for (const auto& [target, value] : set.items()) {
      if (!is_at_or_below(target, change.pointer)) continue;
      try {
        const Json::json_pointer rest(target.substr(change.pointer.size()));
        if (change.value.contains(rest)) return {target, change.value[rest] != value};
      } catch (const Json::exception&) {  // a malformed pointer, which is a fault where it is applied
      }
    }
    return {};
  }

  /// An override that no variant leaves standing is a fault; one that some undo, a note.
  void find_lost(const Override& change, const std::vector<Variant>& variants) {
    std::size_t setting = 0;
    std::vector<std::string> names;
    std::string place, target;  // of the first that sets another value
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const Undone found = undone(change, variants[i].set);
      if (found.by.empty()) continue;
      ++setting;
      if (!found.other_value) continue;
      if (names.empty()) {
        place = pointer_to(fmt::format("/variants/{}/set", i), found.by);
        target = found.by;
      }
      names.push_back(describe_value(variants[i].name));
    }
    if (names.empty()) return;
    if (setting == variants.size())
      return add({{change.file, change.place, fmt::format("{}, but every variant sets {} itself", describe_value(change.value), target), "a field that some variant leaves as it is", fmt::format("change {} and its like, a field below it, or leave the variants out: --set '/variants=[]'", place)}});
    constexpr std::size_t kNamed = 3;
    const std::size_t named = std::min(names.size(), kNamed);
    study_.notes.push_back(fmt::format("{}: {} has no effect in {} of {} variants, which set {} themselves ({}{}); change {} and its like there", change.file, change.pointer, names.size(), variants.size(), target,
                                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "), names.size() > named ? ", ..." : "", place));
  }

  static void check_variants(const std::vector<Variant>& variants, std::vector<Fault>& faults) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (!names.insert(variants[i].name).second) faults.push_back({"", fmt::format("/variants/{}/name", i), describe_value(variants[i].name) + " a second time", "each name once", ""});
      if (!variants[i].set.is_object()) faults.push_back({"", fmt::format("/variants/{}/set", i), describe_value(variants[i].set), "an object of JSON pointers and values", ""});
    }
  }

  /// Applies the changes that stand at `pointer`, and resolves what they refer to.
  void apply_set(const Json& set, const std::string& pointer, Document& document) {
    if (!set.is_object()) return;
    const Origins written = document.origins;
    for (const auto& [target, value] : set.items()) {
      const Fault at = written.locate({"", pointer_to(pointer, target), "", "", ""});
      attempt([&, &target = target, &value = value] {
        if (is_at_or_below(pointer, "/run") && (is_at_or_below(target, "/run") || is_at_or_below(target, "/cluster/workers")))
          throw ScenarioError({{at.file, at.pointer, "a change of " + target + " in a phase", "the JSON pointer of another field: workers and run are the same in all phases", ""}});
        if (is_at_or_below(target, "/variants")) throw ScenarioError({{at.file, at.pointer, "a change of the variants", "the JSON pointer of another field", ""}});
        stepcast::apply({target, value, at.file, at.pointer}, document);
      });
    }
    resolve(document);
  }

  /// Takes the first axis' values one after the other, each time going on with the axes that are left.
  void expand_axes(Document document, std::vector<Coordinate> coordinates) {
    const auto axes = axes_of(document.json);
    if (std::none_of(axes.begin(), axes.end(), [](const std::string& axis) { return is_at_or_below(axis, "/workload"); })) take_out_workload(document);
    if (axes.empty()) return add_point(document, std::move(coordinates));
    if (!is_affordable(document, axes, coordinates.size())) return;
    const std::string& axis = axes.front();
    const Json::json_pointer pointer(axis);
    const Json values = std::move(document.json[pointer]);  // not to be copied with every value's document
    if (values.empty()) {
      add_fault(document, axis, "an empty list", "one value, or a list of at least one");
      give_up(document, axis);
      return expand_axes(std::move(document), std::move(coordinates));
    }
    find_repeated(document, axis, values);
    const auto labels = labels_of(values);
    for (std::size_t i = 0; i < values.size() && !full(); ++i) {
      Document copy = document;
      copy.json[pointer] = values[i];
      copy.origins.move(pointer_to(axis, i), axis);
      if (values[i].is_array()) {
        const auto left = axes_of(copy.json);
        if (std::find(left.begin(), left.end(), axis) != left.end()) {
          add_fault(copy, axis, describe_value(values[i]), "one value in each place of an axis");
          give_up(copy, axis);
        }
      }
      resolve(copy);
      std::vector<Coordinate> extended = coordinates;
      extended.push_back({axis, labels[i]});
      expand_axes(std::move(copy), std::move(extended));
    }
  }

  /// A workload of one value is the same in all points that are made from here on, and most of the document.
  void take_out_workload(Document& document) {
    const auto found = document.json.find("workload");
    if (found == document.json.end() || !found->is_object()) return;
    auto& shared = taken_out_[found->dump() + document.origins.file_of("/workload/profile")];
    if (!shared) shared = std::make_shared<const Json>(std::move(*found));
    document.workload = shared;
    *found = nullptr;
  }

  /// Counts the points that the axes in sight make before any is made.
  bool is_affordable(const Document& document, const std::vector<std::string>& axes, std::size_t taken) {
    if (axes.size() + taken > kMaxAxes) {
      add_fault(document, axes.front(), fmt::format("one of {} axes", axes.size() + taken), fmt::format("at most {} axes", kMaxAxes));
      return false;
    }
    double points = 1;
    for (const std::string& axis : axes) points *= std::max<double>(1, static_cast<double>(document.json[Json::json_pointer(axis)].size()));
    if (static_cast<double>(points_) + points <= static_cast<double>(max_points_)) return true;
    add_fault(document, axes.front(), fmt::format("an axis of a study of {:g} points or more", static_cast<double>(points_) + points), fmt::format("at most {} points", max_points_), "split the study");
    full_ = true;
    return false;
  }

  void find_repeated(const Document& document, const std::string& axis, const Json& values) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!seen.insert(values[i].dump()).second) add_fault(document, pointer_to(axis, i), describe_value(values[i]) + " a second time", "each value of an axis once");
  }

  void add_point(const Document& document, std::vector<Coordinate> coordinates) {
    if (++points_ > max_points_) {
      add_fault(document, "", fmt::format("a study of more than {} points", max_points_), "fewer", "split the study");
      full_ = true;
      return;
    }
    StudyPoint point;
    point.coordinates = std::move(coordinates);
    std::vector<Fault> faults;
    point.scenario = read(document, faults);
    point.phases = read_phases(document, faults, point.scenario);
    if (point.scenario.baseline) read_baseline(document, faults, point);
    const bool good = faults.empty();
    add_faults(document, std::move(faults));
    if (!good || !faults_.empty()) return;
    study_.name = point.scenario.name;
    study_.description = point.scenario.description;
    study_.output = point.scenario.output;
    study_.points.push_back(std::move(point));
  }

  /// The document with one place's changes, which is one point of its own: a baseline, or a phase of a run.
  /// @param where  for faults, such as "the baseline"
  Document changed(const Document& document, const Json& set, const std::string& pointer, const std::string& where) {
    Document copy = document;
    apply_set(set, pointer, copy);
    for (const std::string& axis : axes_of(copy.json)) {
      add_fault(copy, axis, "a list in " + where, fmt::format("one value, so that {} is one point", where));
      give_up(copy, axis);
    }
    take_out_workload(copy);
    return copy;
  }

  /// Faults that the point itself has are not told again.
  Scenario read_changed(const Document& document, const std::vector<Fault>& known, const std::string& where) {
    std::vector<Fault> faults;
    Scenario scenario = read(document, faults);
    scenario.baseline.reset();
    std::erase_if(faults, [&](const Fault& fault) { return std::find(known.begin(), known.end(), fault) != known.end(); });
    for (Fault& fault : faults) fault.found += fmt::format(" (in {})", where);
    add_faults(document, std::move(faults));
    return scenario;
  }

  void read_baseline(const Document& document, const std::vector<Fault>& known, StudyPoint& point) {
    const Document copy = changed(document, point.scenario.baseline->set, "/baseline/set", "the baseline");
    point.baseline = read_changed(copy, known, "the baseline");
    point.baseline_phases = read_phases(copy, known, *point.baseline);
  }

  std::vector<Scenario> read_phases(const Document& document, const std::vector<Fault>& known, const Scenario& scenario) {
    std::vector<Scenario> phases;
    if (!scenario.run) return phases;
    for (std::size_t i = 0; i < scenario.run->phases.size(); ++i) {
      const TrainingPhase& phase = scenario.run->phases[i];
      const std::string where = fmt::format("phase \"{}\"", phase.name), pointer = fmt::format("/run/phases/{}/set", i);
      phases.push_back(read_changed(changed(document, phase.set, pointer, where), known, where));
      phases.back().run.reset();
    }
    return phases;
  }

  Scenario read(const Document& document, std::vector<Fault>& faults) {
    ScenarioFields fields;
    ScenarioReader reader(document.json, faults);
    ScenarioFields::describe(reader, fields);
    reader.report_unknown_keys();

    Scenario scenario;
    scenario.name = std::move(fields.name);
    scenario.description = std::move(fields.description);
    scenario.cluster = std::move(fields.cluster.value);
    scenario.strategy = std::move(fields.strategy.value);
    scenario.compressor = fields.compressor.value;
    scenario.codec = std::move(fields.codec);
    scenario.run = std::move(fields.run);
    scenario.baseline = std::move(fields.baseline);
    scenario.evaluation = fields.evaluation;
    scenario.output = std::move(fields.output);
    if (scenario.baseline && !scenario.baseline->set.is_object())
      faults.push_back({"", "/baseline/set", describe_value(scenario.baseline->set), "an object of JSON pointers and values", ""});
    find_platform(document, scenario.cluster, faults);
    scenario.workload = read_workload(document, faults);
    if (faults.empty() && document.given_up.empty()) {
      const Checked& known = checked(scenario.workload);
      faults = known.faults;
      check(scenario, known.workload ? &*known.workload : nullptr, faults);
    }
    return scenario;
  }

  /// A table with what comes of it alone.
  struct Checked {
    std::shared_ptr<const WorkloadTable> table;
    std::vector<Fault> faults;
    std::optional<Workload> workload;  ///< where there are no faults
  };
  const Checked& checked(const std::shared_ptr<const WorkloadTable>& table) {
    const auto [entry, is_new] = checked_.try_emplace(table.get(), Checked{table, {}, {}});
    Checked& known = entry->second;
    if (!is_new || !table) return known;
    check_workload(*table, known.faults);
    if (known.faults.empty()) known.workload = make_workload(*table);
    return known;
  }

  /// Rewrites a fault's pointer to file and pointer as written. A workload shared by name has its own file, and a
  /// fault that names its file already is a profile's.
  static Fault locate(const Document& document, Fault fault) {
    constexpr std::string_view workload = "/workload";
    if (!fault.file.empty()) return fault;
    if (!document.workload_file || !is_at_or_below(fault.pointer, workload)) return document.origins.locate(std::move(fault));
    fault.file = document.workload_file->string();
    fault.pointer.erase(0, workload.size());
    return fault;
  }

  /// A platform file is given relative to the file that names it.
  static void find_platform(const Document& document, Cluster& cluster, std::vector<Fault>& faults) {
    constexpr const char* pointer = "/cluster/topology/file";
    auto* xml = std::get_if<SimGridXml>(&cluster.topology);
    if (!xml || !document.json.value(Json::json_pointer(pointer), Json()).is_string()) return;
    std::error_code error;
    const auto path = std::filesystem::absolute(std::filesystem::path(document.origins.file_of(pointer)).parent_path() / xml->file, error).lexically_normal();
    if (!std::filesystem::is_regular_file(path, error))
      faults.push_back({"", pointer, fmt::format("{}, but there is no file {}", describe_value(xml->file), shorten(path.string(), 200)), "an existing SimGrid platform file", "paths are relative to the file that names them"});
    xml->file = path.string();
  }

  /// Points share a table that was read without a fault: by file, or where the same is written inline.
  std::shared_ptr<const WorkloadTable> read_workload(const Document& document, std::vector<Fault>& faults) {
    const auto found = document.json.find("workload");
    if (!document.workload && (found == document.json.end() || found->is_null())) return nullptr;
    const bool shared = document.workload || document.workload_file;
    const Json& written = document.workload ? *document.workload : document.workload_file ? files_.read(*document.workload_file) : *found;
    if (const auto known = tables_.find(&written); shared && known != tables_.end()) return known->second;
    const std::string file = document.workload_file ? document.workload_file->string() : document.origins.file_of("/workload/profile");
    Json json = written;
    const std::size_t before = faults.size();
    resolve_workload(json, "/workload", file, files_, faults);
    auto table = std::make_shared<WorkloadTable>();
    read_value(json, "/workload", *table, {}, faults);
    if (faults.size() == before && shared) tables_[&written] = table;
    return table;
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

  void add_fault(const Document& document, const std::string& pointer, std::string found, std::string allowed, std::string remedy = "") {
    add({document.origins.locate({"", pointer, std::move(found), std::move(allowed), std::move(remedy)})});
  }

  /// Adds faults whose pointers are the document's, less those that follow from faults already reported.
  void add_faults(const Document& document, std::vector<Fault> faults) {
    std::erase_if(faults, [&](const Fault& fault) {
      return fault.file.empty() && std::any_of(document.given_up.begin(), document.given_up.end(), [&](const std::string& pointer) { return is_at_or_below(fault.pointer, pointer); });
    });
    for (Fault& fault : faults) {
      fault = locate(document, std::move(fault));
      if (fault.file == "--set") tell_variant(fault);
    }
    add(std::move(faults));
  }

  /// A value that was laid over a variant may fit another one.
  void tell_variant(Fault& fault) const {
    for (const auto& [pointer, variant, place] : changed_after_) {
      if (!is_at_or_below(pointer, fault.pointer) && !is_at_or_below(fault.pointer, pointer)) continue;
      fault.found += fmt::format(" (over what variant {} sets)", describe_value(variant));
      if (fault.remedy.empty()) fault.remedy = fmt::format("here it is {}; set it so in the variants that have it", place);
      return;
    }
  }

  void add(const std::vector<Fault>& faults) {
    for (const Fault& fault : faults)
      if (faults_.size() < kMaxFaults && std::find(faults_.begin(), faults_.end(), fault) == faults_.end()) faults_.push_back(fault);
  }

  [[nodiscard]] bool full() const { return full_ || faults_.size() >= kMaxFaults; }

  /// An axis is called by the last name of its pointer, or by the whole pointer where two would be alike.
  void name_axes() {
    std::vector<std::string> pointers;
    for (const StudyPoint& point : study_.points)
      for (const Coordinate& c : point.coordinates)
        if (std::find(pointers.begin(), pointers.end(), c.axis) == pointers.end()) pointers.push_back(c.axis);
    const auto short_name = [](const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); };
    std::map<std::string, std::string> names;
    for (const std::string& pointer : pointers) {
      const auto alike = std::count_if(pointers.begin(), pointers.end(), [&](const std::string& other) { return short_name(other) == short_name(pointer); });
      names[pointer] = alike > 1 ? pointer : short_name(pointer);
      study_.axes.push_back(names[pointer]);
      study_.axis_pointers.push_back(pointer);
    }
    for (StudyPoint& point : study_.points)
      for (Coordinate& c : point.coordinates) c.axis = names[c.axis];
  }

  /// An override of a field of what the variant being expanded sets.
  struct ChangedAfter {
    std::string pointer, variant, place;
  };

  PartFiles files_;
  std::size_t max_points_;
  std::vector<ChangedAfter> changed_after_;
  std::map<std::string, std::shared_ptr<const Json>> taken_out_;  ///< workloads, by their text and the file that profiles are relative to
  std::map<const Json*, std::shared_ptr<const WorkloadTable>> tables_;
  std::map<const WorkloadTable*, Checked> checked_;
  Study study_;
  std::vector<Fault> faults_;
  std::size_t points_ = 0;
  bool full_ = false;
};

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides, const std::filesystem::path& library, std::size_t max_points) {
  const std::string name = file == "-" ? "standard input" : file.string();
  return Expansion(name, library, max_points).expand({read_json(file), Origins(name)}, overrides);
}

Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides, const std::filesystem::path& library, std::size_t max_points) {
  return Expansion(name, library, max_points).expand({parse_json(text, name), Origins(name)}, overrides);
}

Study expand_study(Document document, const std::vector<Override>& overrides, const std::filesystem::path& library, std::size_t max_points) {
  const std::string file = document.origins.file_of("");
  return Expansion(file, library, max_points).expand(std::move(document), overrides);
}

std::string value_on(const std::vector<Coordinate>& coordinates, std::string_view axis) {
  const auto found = std::find_if(coordinates.begin(), coordinates.end(), [&](const Coordinate& c) { return c.axis == axis; });
  return found == coordinates.end() ? "" : found->value;
}

std::vector<const Scenario*> questions_of(const StudyPoint& point) {
  std::vector<const Scenario*> all{&point.scenario};
  for (const Scenario& phase : point.phases) all.push_back(&phase);
  if (point.baseline) all.push_back(&*point.baseline);
  for (const Scenario& phase : point.baseline_phases) all.push_back(&phase);
  return all;
}

Scenario without_labels(Scenario scenario) {
  scenario.name.clear();
  scenario.description.clear();
  scenario.cluster.description.clear();
  scenario.cluster.fits.clear();
  scenario.workload.reset();
  scenario.baseline.reset();
  scenario.run.reset();
  scenario.output = {};
  return scenario;
}

Json to_json(const Scenario& scenario) {
  Json json = Json::object();
  json["name"] = scenario.name;
  json["description"] = scenario.description;
  json["workload"] = scenario.workload ? write_value(*scenario.workload) : Json(nullptr);
  json["cluster"] = write_value(scenario.cluster);
  json["strategy"] = write_value(scenario.strategy);
  json["compressor"] = write_value(scenario.compressor);
  json["codec"] = write_value(scenario.codec);
  json["run"] = write_value(scenario.run);
  json["baseline"] = write_value(scenario.baseline);
  json["evaluation"] = write_value(scenario.evaluation);
  json["output"] = write_value(scenario.output);
  return json;
}

}  // namespace stepcast
