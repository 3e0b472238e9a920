#include "sim/program/manifest.hpp"

#include <boost/uuid/detail/sha1.hpp>
#include <fmt/format.h>

#include "models/scenario/fidelity.hpp"
#include "models/scenario/writer.hpp"
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

}  // namespace

Json make_manifest(const Study& study, const std::vector<std::string>& arguments) {
  Json manifest = Json::object();
  manifest["arguments"] = arguments;
  manifest["versions"] = version_fields();
  manifest["workloads"] = Json::object();
  manifest["points"] = Json::array();
  for (const StudyPoint& point : study.points) {
    Json scenario = to_json(point.scenario);
    const std::string hash = sha1(scenario.dump());
    if (point.scenario.workload) {  // in full once, by name in the points
      manifest["workloads"][point.scenario.workload->name] = scenario["workload"];
      scenario["workload"] = point.scenario.workload->name;
    }
    Json entry{{"scenario_sha1", hash}, {"scenario", std::move(scenario)}};
    if (point.scenario.evaluation.evaluator != Evaluator::equations) {
      entry["simgrid_settings"] = transport_settings(point.scenario.cluster.transport);
      const auto refusal = folding_refusal(point.scenario);
      if (point.scenario.evaluation.fidelity == Fidelity::automatic) entry["fidelity"] = refusal ? "full: " + *refusal : "folded";
    }
    manifest["points"].push_back(std::move(entry));
  }
  return manifest;
}

}  // namespace stepcast
