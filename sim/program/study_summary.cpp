#include "sim/program/study_summary.hpp"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/builder.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {
namespace {

std::string workload_text(const Scenario& scenario) {
  const Workload workload = make_workload(scenario);
  std::string passes = workload.accumulation > 1 ? fmt::format("{} passes of ", workload.accumulation) : "";
  return fmt::format("{}: {}batch {}, {} tensors of {} in {}; forward {}, backward {}, update {}", workload.name,
                     passes, workload.batch, workload.gradients.size(), human_text(workload.gradient_bytes),
                     name_of(workload.dtype), human_text(workload.forward), human_text(workload.backward),
                     human_text(workload.update));
}

std::string cluster_text(const Cluster& cluster, const Json& json) {
  std::string text = fmt::format("{} worker{}, links of {}, {}, topology {}", cluster.workers,
                                 cluster.workers == 1 ? "" : "s", human_text(cluster.link.bandwidth),
                                 human_text(cluster.link.latency), json["topology"].value("kind", ""));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology))
    text += fmt::format(": machines of {} workers with {} NIC{}, {} inside", nodes->gpus_per_node, nodes->nics,
                        nodes->nics == 1 ? "" : "s", human_text(nodes->inner.bandwidth));
  if (const auto gpu = json.find("gpu"); gpu != json.end() && gpu->is_string())
    text += ", GPU " + gpu->get<std::string>();
  return text;
}

/// The kind, then the fields that are no objects: "all-reduce, grouping bucketed".
std::string part_text(const Json& part) {
  std::string text = part.value("kind", "");
  const auto add = [&](const Json& object) {
    for (const auto& [key, value] : object.items())
      if (key != "kind" && !value.is_structured() && !value.is_null())
        text += fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  };
  add(part);
  for (const char* inner : {"collective", "exchange"})
    if (const auto found = part.find(inner); found != part.end())
      for (const char* field : {"algorithm", "grouping"})
        if (found->contains(field)) text += fmt::format(", {} {}", field, (*found)[field].get<std::string>());
  return text;
}

}  // namespace

std::string summary_of(const Study& study) {
  const Scenario& first = study.points.front().scenario;
  const Json json = to_json(first);
  TextTable table(2);
  if (first.workload) table.add({"workload", workload_text(first)});
  table.add({"cluster", cluster_text(first.cluster, json["cluster"])});
  table.add({"strategy", part_text(json["strategy"])});
  if (const Stack& stack = first.cluster.stack; stack != Stack{}) table.add({"stack", stack.name.value_or("in place")});
  table.add({"compressor", part_text(json["compressor"])});
  for (const Json& other : json["other_compressors"])
    table.add({"", fmt::format("{} for {}", part_text(other["compressor"]), other["tensors"].dump())});
  if (json["inner_compressor"]["kind"] != "none")
    table.add({"", fmt::format("{} inside machines", part_text(json["inner_compressor"]))});
  if (first.run)
    table.add({"run", fmt::format("{} phase{}", first.run->phases.size(), first.run->phases.size() == 1 ? "" : "s")});
  if (first.baseline) table.add({"baseline", first.baseline->name});
  table.add({"evaluator", json["evaluation"].value("evaluator", "")});
  const std::size_t points = study.points.size();
  std::string text = fmt::format("{}: {} point{}\n", study.name, points, points == 1 ? "" : "s");
  if (!study.description.empty()) text += study.description + "\n";
  if (points > 1) {
    TextTable axes(2);
    for (std::size_t i = 0; i < study.axes.size(); ++i)
      axes.add({study.axes[i], fmt::format("{}", fmt::join(study.axis_values[i], " | "))});
    text += fmt::format("\naxes\n{}\nthe first point\n", axes.text());
  }
  return text + table.text() + "--full shows every field, with its default\n";
}

}  // namespace stepcast
