// From the document of one point to its scenario.
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
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// What came of a document: a scenario that can be answered where neither list has anything. Pointers are the
/// document's, or those of the fault's own file.
struct ScenarioReading {
  Scenario scenario;
  ImpossiblePoints on_impossible = ImpossiblePoints::refuse;
  std::vector<Fault> faults;  ///< wrong whatever else the document says: types, names, ranges, the workload's own rules
  std::vector<Fault> impossible;  ///< parts that do not go together (check.hpp); looked for where nothing is wrong
};

/// Reads a study's points one after the other. Those of one workload table share it, read and checked once.
class ScenarioReader {
 public:
  /// @param inspect  asked once for each platform file; without it none is looked into
  explicit ScenarioReader(PartFiles& files, PlatformInspector inspect = {})
      : files_(files), inspect_(std::move(inspect)) {}

  /// @param document  of one point: references resolved, no axes
  ScenarioReading read(const Document& document);

 private:
  /// A table with what comes of it alone.
  struct Checked {
    std::shared_ptr<const WorkloadTable> table;
    std::vector<Fault> faults;
    std::optional<Workload> workload;  ///< where there are no faults
  };
  const Checked& checked(const std::shared_ptr<const WorkloadTable>& table);
  /// @param gpu  file of the profile that the cluster names; "" where it names none
  std::shared_ptr<const WorkloadTable> read_workload(const Document& document, const std::string& gpu,
                                                     std::vector<Fault>& faults);
  /// The file of the profile that the cluster names, which is noted in the scenario; "" where there is none.
  std::string find_gpu(const Document& document, Scenario& scenario, std::vector<Fault>& faults);

  /// Makes the path of the cluster's platform file a whole one.
  /// @returns what SimGrid says of it; null where the cluster has none, or nobody was to ask
  const PlatformFacts* find_platform(const Document& document, Cluster& cluster, std::vector<Fault>& faults);

  /// With batch and accumulation of a global_batch among so many workers, or with a fault where it cannot be shared
  /// out.
  void share_global_batch(Scenario& scenario, std::vector<Fault>& impossible);

  PartFiles& files_;
  PlatformInspector inspect_;
  std::map<std::string, PlatformFacts> platforms_;  ///< by file
  /// By the document, and the GPU's file that it takes a profile from.
  std::map<std::pair<const Json*, std::string>, std::shared_ptr<const WorkloadTable>> tables_;
  std::map<std::string, std::string> gpus_;  ///< gpu_of, by the profile's file
  /// By the table as written, batch, accumulation.
  std::map<std::tuple<std::shared_ptr<const WorkloadTable>, int, int>, std::shared_ptr<const WorkloadTable>>
      shared_out_;
  std::map<const WorkloadTable*, Checked> checked_;
};

}  // namespace stepcast
