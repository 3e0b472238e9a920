#include "sim/program/manifest.hpp"

#include <string>
#include <utility>

#include <boost/uuid/detail/sha1.hpp>
#include <fmt/format.h>

#include "models/describe/writer.hpp"
#include "models/scenario/foldable.hpp"
#include "sim/answer/asked.hpp"
#include "sim/platform/settings.hpp"
#include "sim/program/version.hpp"

namespace stepcast {
namespace {

std::string sha1(const std::string& text) {
  boost::uuids::detail::sha1 hash;
  hash.process_bytes(text.data(), text.size());
  boost::uuids::detail::sha1::digest_type digest;
  hash.get_digest(digest);
  std::string hex;
  // Words in Boost before 1.86, bytes from then on.
  for (const auto part : digest) hex += fmt::format("{:0{}x}", part, 2 * sizeof part);
  return hex;
}

/// Workloads are written in full once, and points refer to them by name. A name gets a number if several tables have
/// it.
class NamedWorkloads {
 public:
  std::string name_of(const WorkloadTable& table, const Json& content) {
    for (int number = 1;; ++number) {
      const std::string name = number == 1 ? table.name : fmt::format("{} #{}", table.name, number);
      const auto known = all_.find(name);
      if (known != all_.end() && *known != content) continue;
      all_[name] = content;
      return name;
    }
  }
  [[nodiscard]] Json all() && { return std::move(all_); }

 private:
  Json all_ = Json::object();
};

}  // namespace

Json make_manifest(const Study& study, const std::vector<std::string>& arguments) {
  Json manifest = Json::object();
  manifest["arguments"] = arguments;
  manifest["notes"] = study.notes;  // about overrides without effect, and points left out
  manifest["versions"] = version_fields();
  manifest["workloads"] = nullptr;  // keeps this key before the points
  NamedWorkloads workloads;
  manifest["points"] = Json::array();
  AskedEvaluators asked;
  for (const StudyPoint& point : study.points) {
    Json scenario = to_json(point.scenario);
    const std::string hash = sha1(scenario.dump());
    if (point.scenario.workload)
      scenario["workload"] = workloads.name_of(*point.scenario.workload, scenario["workload"]);
    Json entry{{"scenario_sha1", hash}, {"scenario", std::move(scenario)}};
    if (asked.of(point.scenario).evaluators.replay)
      entry["simgrid_settings"] = transport_settings(point.scenario.cluster.transport);
    manifest["points"].push_back(std::move(entry));
  }
  manifest["workloads"] = std::move(workloads).all();
  return manifest;
}

}  // namespace stepcast
