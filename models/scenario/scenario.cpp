#include "models/scenario/scenario.hpp"

#include <filesystem>

#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/part_json.hpp"

namespace stepcast {

bool begins_by_chance(const Scenario& scenario) {
  return is_one_by_one(scenario.strategy) && scenario.cluster.jitter.cv == 0 &&
         scenario.cluster.workers > workers_that_begin_together(scenario);
}

int workers_that_begin_together(const Scenario& scenario) {
  const int machine = host_costs(scenario.cluster).workers_of_machine;
  return sums_in_machines(scenario.strategy, scenario.cluster.workers, machine) ? machine : 1;
}

bool is_plot_file(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  return suffix == ".png" || suffix == ".svg" || suffix == ".pdf";
}

Scenario without_labels(Scenario scenario) {
  scenario.name.clear();
  scenario.description.reset();
  scenario.cluster.name.clear();
  scenario.cluster.description.reset();
  scenario.cluster.gpu.reset();
  scenario.cluster_gpu.reset();
  scenario.cluster.prices.reset();
  scenario.cluster.fits.clear();
  scenario.cluster.stack.name.reset();
  scenario.cluster.stack.description.reset();
  scenario.cluster.stack.strategies.reset();
  scenario.cluster.stack.origins.reset();
  scenario.workload.reset();
  scenario.workload_written.reset();
  scenario.baseline.reset();
  scenario.run.reset();
  scenario.output = {};
  return scenario;
}

Json to_json(const Scenario& scenario) {
  Json json = Json::object();
  json["name"] = scenario.name;
  json["description"] = scenario.description.value_or("");
  const auto& workload = scenario.workload_written ? scenario.workload_written : scenario.workload;
  json["workload"] = workload ? write_value(*workload) : Json(nullptr);
  json["cluster"] = write_value(scenario.cluster);
  json["stack"] = write_value(scenario.cluster.stack);
  json["strategy"] = write_value(scenario.strategy);
  json["compressor"] = write_value(scenario.compressor);
  json["other_compressors"] = write_value(scenario.other_compressors.value_or({}));
  json["inner_compressor"] = write_value(scenario.inner_compressor);
  json["codec"] = write_value(scenario.codec);
  json["run"] = write_value(scenario.run);
  json["baseline"] = write_value(scenario.baseline);
  json["evaluation"] = write_value(scenario.evaluation);
  json["output"] = write_value(scenario.output);
  return json;
}

}  // namespace stepcast
