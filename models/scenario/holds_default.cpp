#include "models/scenario/holds_default.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/describe/defaults.hpp"

namespace stepcast {
namespace {

/// Splits "/a/b" into a, b. No name above contains a "/" or a "~".
std::vector<std::string_view> names_of(std::string_view pointer) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 1; begin <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    names.push_back(pointer.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

bool holds_default(const Scenario& scenario, std::string_view pointer) {
  const std::vector<std::string_view> names = names_of(pointer);
  const std::span<const std::string_view> path = std::span(names).subspan(1);
  const std::string_view part = names.front();
  if (part == "strategy") return holds_default(scenario.strategy, Strategy{}, path);
  if (part == "compressor") return holds_default(scenario.compressor, Compressor{}, path);
  if (part == "inner_compressor") return holds_default(scenario.inner_compressor, Compressor{}, path);
  if (part == "codec") return holds_default(scenario.codec, CodecSettings{}, path);
  if (part == "cluster") {
    const auto defaults = std::make_unique<const Cluster>();  // g++ 12 reports a local one as uninitialised
    return holds_default(scenario.cluster, *defaults, path);
  }
  if (part == "stack") return holds_default(scenario.cluster.stack, Stack{}, path);
  if (part == "evaluation") return holds_default(scenario.evaluation, Evaluation{}, path);
  // The only fields of the table in the list above. The table is large, so it is not copied.
  const WorkloadTable defaults;
  const WorkloadTable& table = scenario.workload ? *scenario.workload : defaults;
  if (pointer == "/workload/backward_spread") return table.backward_spread == defaults.backward_spread;
  if (pointer == "/workload/autocast") return table.autocast == defaults.autocast;
  if (pointer == "/workload/fused_update") return table.fused_update == defaults.fused_update;
  if (pointer == "/workload/recomputation") return table.recomputation == defaults.recomputation;
  if (pointer == "/workload/recomputed_share") return table.recomputed_share == defaults.recomputed_share;
  if (pointer == "/workload/transformer/composed") return !table.transformer || !table.transformer->composed;
  throw std::invalid_argument(fmt::format("{} is no field that has an effect only sometimes", pointer));
}

}  // namespace stepcast
