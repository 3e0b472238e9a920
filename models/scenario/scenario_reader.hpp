// Converts the document of one point to its scenario.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/document.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/known_parts.hpp"
#include "models/scenario/part_files.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// The result of reading a document. The scenario can be answered if both lists are empty. Pointers refer to the
/// document, or to the fault's own file.
struct ScenarioReading {
  Scenario scenario;
  ImpossiblePoints on_impossible = ImpossiblePoints::refuse;
  std::vector<Fault> faults;      ///< errors independent of other parts: types, names, ranges, the workload's own rules
  std::vector<Fault> impossible;  ///< parts that do not fit together (rules.hpp); checked only without faults
};

/// Reads a study's points one after another. Points with one workload table share it; it is read and checked once.
class ScenarioReader {
 public:
  /// @param inspect  called once for each platform file; without it, no file is inspected
  explicit ScenarioReader(PartFiles& files, PlatformInspector inspect = {})
      : files_(files), inspect_(std::move(inspect)) {}

  /// @param document  of one point, with resolved references and no axes
  ScenarioReading read(const Document& document);

 private:
  /// A table, with the results that depend on it alone.
  struct Checked {
    std::shared_ptr<const WorkloadTable> table;
    std::vector<Fault> faults;
    std::optional<Workload> workload;  ///< empty if there are faults
  };
  const Checked& checked(const std::shared_ptr<const WorkloadTable>& table);
  /// @param gpu  file of the profile that the cluster names; "" if it names none
  std::shared_ptr<const WorkloadTable> read_workload(const Document& document, const std::string& gpu,
                                                     std::vector<Fault>& faults);
  void price_codec_by(const std::string& gpu, Scenario& scenario) const;
  /// The file of the profile that the cluster names; "" if there is none. The scenario records it.
  std::string find_gpu(const Document& document, Scenario& scenario, std::vector<Fault>& faults);

  /// Makes the path of the cluster's platform file absolute.
  /// @returns SimGrid's facts about it; null if the cluster has no file, or without an inspector
  const PlatformFacts* find_platform(const Document& document, Cluster& cluster, std::vector<Fault>& faults);

  /// Lets points of a study with one stack hold one list.
  void share_strategies(Stack& stack);
  /// Sets batch and accumulation from global_batch and the
  /// number of workers. Appends a fault if it cannot be divided.
  void share_global_batch(Scenario& scenario, std::vector<Fault>& impossible);

  /// The fields of a document; appends their faults. Parts that were read before are not read again.
  ScenarioFields read_fields(const Json& json, std::vector<Fault>& faults);

  PartFiles& files_;
  KnownParts parts_;
  PlatformInspector inspect_;
  std::map<std::string, PlatformFacts> platforms_;  ///< by file
  struct Table {
    std::shared_ptr<const WorkloadTable> table;
    std::shared_ptr<const Json> written;  ///< keeps the key's address in use; null for a file's
  };
  /// The key is the document and the GPU's file that provides a profile.
  std::map<std::pair<const Json*, std::string>, Table> tables_;
  struct Gpu {
    Shared<DeviceProfile> profile;
    std::string gpu;  ///< gpu_of
  };
  std::map<std::string, Gpu> gpus_;  ///< by profile file
  /// The key is the original table, batch and accumulation.
  std::map<std::tuple<std::shared_ptr<const WorkloadTable>, int, int>, std::shared_ptr<const WorkloadTable>>
      shared_out_;
  Shared<std::vector<Strategy>> strategies_{};  ///< of the last stack read
  std::map<const WorkloadTable*, Checked> checked_;
};

}  // namespace stepcast
