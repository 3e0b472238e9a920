#include "models/scenario/study.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "models/scenario/axes.hpp"
#include "models/scenario/check.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/reader.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/scenario/writer.hpp"

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
    } else if constexpr (!std::is_same_v<T, std::vector<Variant>> && !std::is_same_v<T, std::optional<Baseline>>)
      inner_.optional(name, x, meaning);
  }
  [[nodiscard]] std::optional<std::string> first() const { return inner_.first(); }

 private:
  detail::AxisFinder inner_;
};

std::optional<std::string> first_axis(const Json& document) {
  if (!document.is_object()) return {};
  ScenarioAxes axes(document);
  ScenarioFields probe;
  ScenarioFields::describe(axes, probe);
  return axes.first();
}

std::string label_of(const Json& value, std::size_t index) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text.ends_with(".json") ? std::filesystem::path(text).stem().string() : text;
  }
  if (value.is_object())
    for (const char* key : {"name", "kind", "from"})
      if (const auto found = value.find(key); found != value.end() && found->is_string()) return found->get<std::string>();
  if (value.is_structured()) return fmt::format("#{}", index + 1);
  return value.dump();
}

/// Carries what all points of a study share while its document is expanded.
class Expansion {
 public:
  explicit Expansion(const std::filesystem::path& library) : files_(library) {}

  Study expand(Document document, const std::vector<Override>& overrides) {
    try {
      for (const Override& change : overrides) stepcast::apply(change, document);
      resolve_references(document, files_);
      if (!document.json.is_object())
        throw ScenarioError({document.origins.locate({"", "", describe_value(document.json), "an object", ""})});
      expand_variants(std::move(document));
    } catch (const ScenarioError& error) {
      add_faults(error.faults());
    }
    if (!faults_.empty()) throw ScenarioError(std::move(faults_));
    name_axes();
    return std::move(study_);
  }

 private:
  void expand_variants(Document document) {
    std::vector<Fault> faults;
    std::vector<Variant> variants;
    if (const auto found = document.json.find("variants"); found != document.json.end()) read_value(*found, "/variants", variants, {}, faults);
    for (std::size_t i = 0; i < variants.size(); ++i)
      if (!variants[i].set.is_object()) faults.push_back({"", fmt::format("/variants/{}/set", i), describe_value(variants[i].set), "an object of JSON pointers and values", ""});
    if (!faults.empty()) {
      for (Fault& fault : faults) fault = document.origins.locate(std::move(fault));
      add_faults(faults);
      return;
    }
    if (variants.empty()) return expand_axes(std::move(document), {});
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Document copy = document;
      try {
        apply_set(variants[i].set, fmt::format("/variants/{}/set", i), copy);
        resolve_references(copy, files_);
        expand_axes(std::move(copy), {{"variant", variants[i].name}});
      } catch (const ScenarioError& error) {
        add_faults(error.faults());
      }
    }
  }

  void apply_set(const Json& set, const std::string& pointer, Document& document) {
    const Origins written = document.origins;
    for (const auto& [target, value] : set.items()) {
      const Fault at = written.locate({"", pointer_to(pointer, target), "", "", ""});
      stepcast::apply({target, value, at.file, at.pointer}, document);
    }
  }

  void expand_axes(Document document, std::vector<Coordinate> coordinates) {
    const auto axis = first_axis(document.json);
    if (!axis) return add_point(std::move(document), std::move(coordinates));
    const Json::json_pointer pointer(*axis);
    const Json values = document.json[pointer];
    if (values.empty()) {
      add_faults({document.origins.locate({"", *axis, "an empty list", "one value, or a list of at least one", ""})});
      return;
    }
    const Fault at = document.origins.locate({"", *axis, "", "", ""});
    for (std::size_t i = 0; i < values.size(); ++i) {
      Document copy = document;
      copy.json[pointer] = values[i];
      copy.origins.add(*axis, at.file, pointer_to(at.pointer, i));
      std::vector<Coordinate> extended = coordinates;
      extended.push_back({*axis, label_of(values[i], i)});
      try {
        if (values[i].is_array())
          throw ScenarioError({copy.origins.locate({"", *axis, describe_value(values[i]), "one value in each place of an axis", ""})});
        resolve_references(copy, files_);
        expand_axes(std::move(copy), std::move(extended));
      } catch (const ScenarioError& error) {
        add_faults(error.faults());
      }
    }
  }

  void add_point(Document document, std::vector<Coordinate> coordinates) {
    if (study_.points.size() >= kMaxPoints) {
      if (!full_) add_faults({document.origins.locate({"", "", fmt::format("a study of more than {} points", kMaxPoints), "fewer", "split the study"})});
      full_ = true;
      return;
    }
    StudyPoint point;
    point.coordinates = std::move(coordinates);
    point.scenario = read(document);
    if (point.scenario.baseline) {
      Document copy = document;
      try {
        apply_set(point.scenario.baseline->set, "/baseline/set", copy);
        resolve_references(copy, files_);
        if (const auto axis = first_axis(copy.json))
          throw ScenarioError({copy.origins.locate({"", *axis, "a list in the baseline", "one value, so that the baseline is one point", ""})});
        point.baseline = read(copy);
        point.baseline->baseline.reset();
      } catch (const ScenarioError& error) {
        add_faults(error.faults());
      }
    }
    study_.name = point.scenario.name;
    study_.description = point.scenario.description;
    study_.output = point.scenario.output;
    study_.points.push_back(std::move(point));
  }

  Scenario read(const Document& document) {
    std::vector<Fault> faults;
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
    scenario.baseline = std::move(fields.baseline);
    scenario.evaluation = fields.evaluation;
    scenario.output = std::move(fields.output);
    if (scenario.baseline && !scenario.baseline->set.is_object())
      faults.push_back({"", "/baseline/set", describe_value(scenario.baseline->set), "an object of JSON pointers and values", ""});
    scenario.workload = read_workload(document, faults);
    if (faults.empty()) check(scenario, faults);
    for (Fault& fault : faults) fault = locate(document, std::move(fault));
    add_faults(faults);
    return scenario;
  }

  /// Faults inside a workload that is shared by name point into its own file.
  static Fault locate(const Document& document, Fault fault) {
    if (document.workload_file && fault.pointer.starts_with("/workload") && fault.file.empty()) {
      fault.file = document.workload_file->string();
      fault.pointer.erase(0, std::string_view("/workload").size());
      return fault;
    }
    return fault.file.empty() ? document.origins.locate(std::move(fault)) : fault;
  }

  std::shared_ptr<const WorkloadTable> read_workload(const Document& document, std::vector<Fault>& faults) {
    const auto found = document.json.find("workload");
    if (found == document.json.end() || found->is_null()) return nullptr;
    if (document.workload_file) {
      auto& shared = workloads_[document.workload_file->string()];
      if (!shared) shared = parse_workload(files_.read(*document.workload_file), document.workload_file->string(), faults);
      return shared;
    }
    return parse_workload(*found, document.origins.file_of("/workload/profile"), faults);
  }

  std::shared_ptr<const WorkloadTable> parse_workload(Json json, const std::string& file, std::vector<Fault>& faults) {
    resolve_workload(json, "/workload", file, files_, faults);
    auto table = std::make_shared<WorkloadTable>();
    read_value(json, "/workload", *table, {}, faults);
    return table;
  }

  void add_faults(const std::vector<Fault>& faults) {
    for (const Fault& fault : faults)
      if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end()) faults_.push_back(fault);
  }

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
    }
    for (StudyPoint& point : study_.points)
      for (Coordinate& c : point.coordinates) c.axis = names[c.axis];
  }

  PartFiles files_;
  std::map<std::string, std::shared_ptr<const WorkloadTable>> workloads_;
  Study study_;
  std::vector<Fault> faults_;
  bool full_ = false;
};

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<Override>& overrides, const std::filesystem::path& library) {
  const std::string name = file == "-" ? "standard input" : file.string();
  return Expansion(library).expand({read_json(file), Origins(name)}, overrides);
}

Study parse_study(std::string_view text, const std::string& name, const std::vector<Override>& overrides, const std::filesystem::path& library) {
  return Expansion(library).expand({parse_json(text, name), Origins(name)}, overrides);
}

std::filesystem::path default_library() {
  if (const char* folder = std::getenv("STEPCAST_SCENARIOS")) return folder;
  return STEPCAST_SCENARIOS_DIR;
}

Json to_json(const Scenario& scenario) {
  Json json = Json::object();
  json["name"] = scenario.name;
  json["description"] = scenario.description;
  json["workload"] = scenario.workload ? write_value(*scenario.workload) : Json(nullptr);
  json["cluster"] = write_value(scenario.cluster);
  json["strategy"] = write_value(scenario.strategy);
  json["compressor"] = write_value(scenario.compressor);
  json["baseline"] = write_value(scenario.baseline);
  json["evaluation"] = write_value(scenario.evaluation);
  json["output"] = write_value(scenario.output);
  return json;
}

}  // namespace stepcast
