// The key of a replay: replays with the same key have the same answer.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "models/scenario/scenario.hpp"
#include "sim/answer/digest.hpp"

namespace stepcast {

/// Digests everything that can change a replay's answer: the scenario's canonical document, its platform file, and the
/// program. Leaves out fields that only show or judge the answer: names, descriptions, output, baseline, evaluators,
/// and their tolerance.
class ReplayKeys {
 public:
  /// @param program  version and source state of the program that answers
  explicit ReplayKeys(std::string program) : program_(std::move(program)) {}

  /// @throws std::runtime_error when the scenario names a platform file that cannot be read
  Digest key(const Scenario& scenario);

 private:
  const std::string& workload_text(const std::shared_ptr<const WorkloadTable>& table);
  const std::string& file_text(const std::string& path);

  std::string program_;
  /// Points share tables, so each is written out once.
  std::map<std::shared_ptr<const WorkloadTable>, std::string> workloads_;
  std::map<std::string, std::string> files_;
};

}  // namespace stepcast
