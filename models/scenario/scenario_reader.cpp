#include "models/scenario/scenario_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/part_json.hpp"
#include "models/scenario/rules.hpp"
#include "models/scenario/stack_strategy.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/scenario/workload_rules.hpp"
#include "models/workload/global_batch.hpp"

namespace stepcast {
namespace {

/// Visitor of ScenarioFields: like ObjectReader, but it unwraps parts and skips the shared workload.
class FieldsReader {
 public:
  /// @param known  has parts that need not be read again, and takes those that are read now; null to read all
  FieldsReader(const Json& object, std::vector<Fault>& faults, KnownParts* known)
      : object_(object), faults_(faults), known_(known), inner_(object, "", faults) {}

  template <class T>
  void required(const char* name, T& target, const char* meaning, Limits limits = {}) {
    part(name, target, [&](auto& value) { inner_.required(name, value, meaning, limits); });
  }
  template <class T>
  void optional(const char* name, T& target, const char* meaning, Limits limits = {}) {
    if constexpr (std::is_same_v<T, std::optional<Part<WorkloadTable>>>) inner_.ignore(name);
    else part(name, target, [&](auto& value) { inner_.optional(name, value, meaning, limits); });
  }
  void report_unknown_keys() { inner_.report_unknown_keys(); }

 private:
  template <class T, class Read>
  void part(const char* name, T& target, const Read& read) {
    if constexpr (kIsPart<T>) {
      part(name, target.value, read);
    } else if constexpr (KnownParts::has<T>) {
      const auto found = known_ ? object_.find(name) : object_.end();
      if (found == object_.end()) return read(target);
      if (const T* known = known_->of<T>().find(*found)) {
        inner_.ignore(name);
        target = *known;
        return;
      }
      const std::size_t before = faults_.size();
      read(target);
      if (faults_.size() == before) known_->of<T>().keep(*found, target);
    } else {
      read(target);
    }
  }

  const Json& object_;
  std::vector<Fault>& faults_;
  KnownParts* known_;
  detail::ObjectReader inner_;
};

/// For a missing kind, tells which kinds have the fields that are present.
template <class Variant>
void tell_kinds(const Json& document, const std::string& pointer, std::vector<Fault>& faults) {
  const auto missing = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.pointer == pointer_to(pointer, "kind") && fault.found == "nothing";
  });
  if (missing == faults.end()) return;
  std::vector<std::string> fields, kinds;
  for (const auto& [field, value] : document.at(Json::json_pointer(pointer)).items()) fields.push_back(field);
  for_each_part(static_cast<const Variant*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
    const Json part = write_value(Variant(Part{}));
    if (std::all_of(fields.begin(), fields.end(), [&](const std::string& field) { return part.contains(field); }))
      kinds.emplace_back(Part::kind);
  });
  if (fields.empty() || kinds.empty()) return;
  missing->remedy = fmt::format("add it: {} {} {}", fmt::join(kinds, ", "), kinds.size() == 1 ? "has" : "have",
                                fmt::join(fields, " and "));
}

/// Checks the unit of a run's data set: samples or tokens.
void check_data_set(const Scenario& scenario, std::vector<Fault>& faults) {
  if (!scenario.run) return;
  const TrainingRun& run = *scenario.run;
  if (run.samples.has_value() == run.tokens.has_value())
    return faults.push_back({"", "/run", run.samples ? "both samples and tokens" : "neither samples nor tokens",
                             "exactly one of them", "\"samples\" is the size of the data set"});
  if (run.tokens && scenario.workload && !scenario.workload->transformer)
    faults.push_back({"", "/run/tokens", "tokens of a workload that is not given as a transformer",
                      "samples: the size of the data set", ""});
}

/// Whether a workload document has shapes but no profile.
bool wants_profile(const Json& json) {
  if (!json.is_object() || !json.value("profile", Json()).is_null()) return false;
  if (!json.value("transformer", Json()).is_null()) return true;
  const Json layers = json.value("layers", Json());
  return layers.is_array() && !layers.empty() && layers.front().is_object() &&
         !layers.front().value("shape", Json()).is_null();
}

/// Whether times are known for passes of that size. A table with times keeps them for its own batch only.
bool can_be_timed(const WorkloadTable& table, const Passes& passes) {
  return gives_shapes(table) || passes.batch == table.batch;
}

/// "the nearest: 448 and 512; ": possible global batches. Empty if none is near.
std::string nearest_batches(const WorkloadTable& table, int workers) {
  constexpr int kNear = 1000;  // multiples of the workers in each direction
  const auto goes = [&](std::int64_t samples) {
    const auto passes = share_out(samples, workers, {table.batch, table.accumulation});
    return samples > 0 && passes && can_be_timed(table, *passes);
  };
  std::vector<std::int64_t> near;
  const std::int64_t below = *table.global_batch / workers;
  for (const int step : {-1, 1})
    for (std::int64_t i = 0; i < kNear; ++i)
      if (const std::int64_t samples = (below + (step > 0 ? 1 : 0) + step * i) * workers; goes(samples)) {
        near.push_back(samples);
        break;
      }
  return near.empty() ? "" : fmt::format("the nearest: {}; ", fmt::join(near, " and "));
}

}  // namespace

ScenarioReading ScenarioReader::read(const Document& document) {
  ScenarioReading reading;
  const std::optional<Json> merged = with_strategy_of_stack(document, reading.impossible);
  const Json& json = merged ? *merged : document.json;
  ScenarioFields fields = read_fields(json, reading.faults);
  tell_kinds<Strategy>(json, "/strategy", reading.faults);
  tell_kinds<Compressor>(document.json, "/compressor", reading.faults);
  for (std::size_t i = 0; i < fields.other_compressors.size(); ++i)
    tell_kinds<Compressor>(document.json, other_compressor_pointer(i), reading.faults);
  tell_kinds<Compressor>(document.json, "/inner_compressor", reading.faults);
  tell_kinds<Topology>(document.json, "/cluster/topology", reading.faults);
  reading.on_impossible = fields.impossible;

  Scenario& scenario = reading.scenario;
  scenario.name = std::move(fields.name);
  if (!fields.description.empty()) scenario.description = std::move(fields.description);
  scenario.cluster = std::move(fields.cluster.value);
  scenario.cluster.stack = std::move(fields.stack.value);
  share_strategies(scenario.cluster.stack);
  scenario.strategy = std::move(fields.strategy.value);
  scenario.compressor = fields.compressor.value;
  if (!fields.other_compressors.empty()) scenario.other_compressors = std::move(fields.other_compressors);
  scenario.inner_compressor = std::move(fields.inner_compressor.value);
  scenario.codec = std::move(fields.codec);
  scenario.run = std::move(fields.run);
  scenario.baseline = std::move(fields.baseline);
  scenario.evaluation = fields.evaluation;
  scenario.output = std::move(fields.output);
  if (scenario.baseline && !scenario.baseline->set->is_object())
    reading.faults.push_back(
        {"", "/baseline/set", describe_value(*scenario.baseline->set), "an object of JSON pointers and values", ""});
  else if (scenario.baseline && scenario.baseline->set->empty())
    reading.faults.push_back(
        {"", "/baseline/set", "{}", "something that tells the baseline from each point",
         "it is set on top of every point, also of each variant; name what the baseline has, such as "
         "{\"/compressor\": \"none\"}"});
  const PlatformFacts* platform = find_platform(document, scenario.cluster, reading.faults);
  const std::string gpu = find_gpu(document, scenario, reading.faults);
  scenario.workload = read_workload(document, gpu, reading.faults);
  price_codec_by(gpu, scenario);
  check_data_set(scenario, reading.faults);
  if (!reading.faults.empty() || !document.given_up.empty()) return reading;
  share_global_batch(scenario, reading.impossible);
  const Checked& known = checked(scenario.workload);
  reading.faults = known.faults;
  check(scenario, known.workload ? &*known.workload : nullptr, reading.impossible, platform);
  return reading;
}

ScenarioFields ScenarioReader::read_fields(const Json& json, std::vector<Fault>& faults) {
  const auto read = [&](KnownParts* known) {
    ScenarioFields fields;
    FieldsReader reader(json, faults, known);
    ScenarioFields::describe(reader, fields);
    reader.report_unknown_keys();
    return fields;
  };
  const std::size_t before = faults.size();
  ScenarioFields fields = read(&parts_);
  if (faults.size() == before) return fields;
  // The remedy for an unknown key names the part that has it, so no part may be missing from the reader.
  faults.resize(before);
  return read(nullptr);
}

void ScenarioReader::share_strategies(Stack& stack) {
  if (!stack.strategies) return;
  if (stack.strategies == strategies_) stack.strategies = strategies_;
  else strategies_ = stack.strategies;
}

/// The path of a platform file is relative to the file that names it.
const PlatformFacts* ScenarioReader::find_platform(const Document& document, Cluster& cluster,
                                                   std::vector<Fault>& faults) {
  constexpr const char* pointer = "/cluster/topology/file";
  auto* xml = std::get_if<SimGridXml>(&cluster.topology);
  if (!xml || !document.json.value(Json::json_pointer(pointer), Json()).is_string()) return nullptr;
  const std::string written = describe_value(xml->file);
  std::error_code error;
  const auto path = std::filesystem::absolute(
                        std::filesystem::path(document.origins.file_of(pointer)).parent_path() / xml->file, error)
                        .lexically_normal();
  xml->file = path.string();
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool exists = std::filesystem::exists(path, error);
    faults.push_back({"", pointer,
                      exists ? written + ", which is no regular file"
                             : fmt::format("{}, but there is no file {}", written, shorten(xml->file, 200)),
                      "an existing SimGrid platform file", "paths are relative to the file that names them"});
    return nullptr;
  }
  if (!is_utf8(xml->file)) {
    faults.push_back(
        {"", pointer, written + " in a folder whose name is not UTF-8", "a path that is UTF-8", "rename the folder"});
    return nullptr;
  }
  if (!inspect_) return nullptr;
  auto known = platforms_.find(xml->file);
  if (known == platforms_.end()) known = platforms_.emplace(xml->file, inspect_(xml->file)).first;
  const PlatformFacts& facts = known->second;
  if (!facts.fault.empty()) faults.push_back({"", pointer, written + ", " + facts.fault, facts.allowed, ""});
  return &facts;
}

const ScenarioReader::Checked& ScenarioReader::checked(const std::shared_ptr<const WorkloadTable>& table) {
  const auto [entry, is_new] = checked_.try_emplace(table.get(), Checked{table, {}, {}});
  Checked& known = entry->second;
  if (!is_new || !table) return known;
  check_workload(*table, known.faults);
  if (known.faults.empty()) known.workload = make_workload(*table);
  return known;
}

void ScenarioReader::share_global_batch(Scenario& scenario, std::vector<Fault>& impossible) {
  if (!scenario.workload || !scenario.workload->global_batch) return;
  const WorkloadTable& written = *scenario.workload;
  const auto passes = share_out(*written.global_batch, scenario.cluster.workers, {written.batch, written.accumulation});
  if (!passes) {
    impossible.push_back(
        {"", "/workload/global_batch",
         fmt::format("{} for {} workers", *written.global_batch, scenario.cluster.workers),
         fmt::format("a multiple of the workers, in at least {} and at most {} equal passes of at most {} a worker",
                     written.accumulation, kMostAccumulation, written.batch),
         nearest_batches(written, scenario.cluster.workers) + "\"impossible\": \"leave-out\" leaves such points out"});
    return;
  }
  if (!can_be_timed(written, *passes)) {
    impossible.push_back({"", "/workload/global_batch",
                          fmt::format("{} for {} workers, passes of {}, and times of {}", *written.global_batch,
                                      scenario.cluster.workers, passes->batch, written.batch),
                          "shares of whole batches, since a table with times keeps them whatever the batch",
                          "take a table with shapes, such as resnet50, and a profile"});
    return;
  }
  auto& table = shared_out_[{scenario.workload, passes->batch, passes->accumulation}];
  if (!table) {
    WorkloadTable shared = written;
    shared.batch = passes->batch;
    shared.accumulation = passes->accumulation;
    table = std::make_shared<const WorkloadTable>(std::move(shared));
  }
  scenario.workload_written = std::exchange(scenario.workload, table);
}

/// The cluster's GPU runs a compressor's kernels, too, unless a device is named.
void ScenarioReader::price_codec_by(const std::string& gpu, Scenario& scenario) const {
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  const bool compresses = compresses_tensors(scenario.compressor) || compresses_tensors(scenario.inner_compressor) ||
                          (sharded && sharded->quantized_gather);
  if (compresses && !gpu.empty() && !scenario.codec.device && scenario.workload && !scenario.workload->profile)
    scenario.codec.device = gpus_.at(gpu).profile;
}

std::string ScenarioReader::find_gpu(const Document& document, Scenario& scenario, std::vector<Fault>& faults) {
  Shared<std::string>& gpu = scenario.cluster.gpu;
  if (!gpu) return "";
  constexpr const char* pointer = "/cluster/gpu";
  try {
    const std::string path = files_.find("profile", *gpu, document.origins.file_of(pointer), pointer).string();
    const std::string absolute = std::filesystem::absolute(path).string();
    auto known = gpus_.find(absolute);
    if (known == gpus_.end()) {
      Shared<DeviceProfile> profile = sound_profile(files_.read(path), path);
      std::string name = gpu_of(*profile);
      known = gpus_.emplace(absolute, Gpu{std::move(profile), std::move(name)}).first;
    }
    scenario.cluster_gpu = known->second.gpu;
    // The canonical document may be read from another folder, so the path must be absolute.
    if (gpu->ends_with(".json")) gpu = std::filesystem::absolute(path).lexically_normal().string();
    return absolute;
  } catch (const ScenarioError& error) {
    for (Fault fault : error.faults()) {
      if (fault.pointer == pointer) fault.file.clear();  // the caller with the document fills in the place
      faults.push_back(std::move(fault));
    }
    return "";
  }
}

/// Points share a table that was read without faults: by its file, or by equal inline content.
std::shared_ptr<const WorkloadTable> ScenarioReader::read_workload(const Document& document, const std::string& gpu,
                                                                   std::vector<Fault>& faults) {
  const auto found = document.json.find("workload");
  if (!document.workload && (found == document.json.end() || found->is_null())) return nullptr;
  const bool shared = document.workload || document.workload_file;
  const Json& written = document.workload        ? *document.workload
                        : document.workload_file ? files_.read(*document.workload_file)
                                                 : *found;
  if (const auto known = tables_.find({&written, gpu}); shared && known != tables_.end()) return known->second.table;
  const auto file_of = [&](const std::string& pointer) {
    return document.workload_file ? document.workload_file->string() : document.origins.file_of(pointer);
  };
  Json json = written;
  if (!gpu.empty() && wants_profile(json)) json["profile"] = gpu;
  const std::size_t before = faults.size();
  resolve_workload(json, "/workload", file_of, files_, faults);
  auto table = std::make_shared<WorkloadTable>();
  read_value(json, "/workload", *table, {}, faults);
  take_as_mixed_precision(*table);
  if (faults.size() == before && shared) tables_[{&written, gpu}] = {table, document.workload};
  return table;
}

}  // namespace stepcast
