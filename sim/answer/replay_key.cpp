#include "sim/answer/replay_key.hpp"

#include "models/scenario/part_json.hpp"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace stepcast {

Digest ReplayKeys::key(const Scenario& scenario) {
  Scenario bare = without_labels(scenario);
  bare.evaluation.evaluator = Evaluator::replay;
  bare.evaluation.tolerance = Evaluation{}.tolerance;
  std::string text = program_ + "\n" + workload_text(scenario.workload) + "\n";
  if (const auto* xml = std::get_if<SimGridXml>(&scenario.cluster.topology)) {
    text += file_text(xml->file) + "\n";
    std::get<SimGridXml>(bare.cluster.topology).file.clear();  // the key has its content, not its path
  }
  return digest_of(text + to_json(bare).dump());
}

const std::string& ReplayKeys::workload_text(const std::shared_ptr<const WorkloadTable>& table) {
  const auto [entry, is_new] = workloads_.try_emplace(table);
  if (is_new && table) {
    WorkloadTable bare = *table;
    for (std::string* label : {&bare.name, &bare.description, &bare.source}) label->clear();
    entry->second = to_string(digest_of(write_value(bare).dump()));
  }
  return entry->second;
}

const std::string& ReplayKeys::file_text(const std::string& path) {
  const auto [entry, is_new] = files_.try_emplace(path);
  if (!is_new) return entry->second;
  const std::optional<Digest> digest = digest_of_file(path);
  if (!digest) throw std::runtime_error(fmt::format("cannot read the platform {}", path));
  return entry->second = to_string(*digest);
}

}  // namespace stepcast
