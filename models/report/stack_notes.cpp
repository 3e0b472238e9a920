#include "models/report/stack_notes.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/host_costs.hpp"
#include "models/unit/units.hpp"

namespace stepcast {
namespace {

/// The shipped stack whose rows a scenario is like; "" if there is none. The rows over TCP have links of 25 Gb/s or less,
/// those over RDMA of 25 to 100 Gb/s.
std::string resembled(const Scenario& scenario) {
  if (!std::holds_alternative<IdealTransport>(scenario.cluster.transport)) return "";
  const bool compresses = !std::holds_alternative<NoCompressor>(scenario.compressor);
  if (const auto* servers = std::get_if<ParameterServerStrategy>(&scenario.strategy))
    return servers->sum_in_machine && !servers->duplex ? "byteps" : "";
  const auto* all_reduce = std::get_if<AllReduceStrategy>(&scenario.strategy);
  if (!all_reduce) return "";
  const Exchange& exchange = all_reduce->exchange;
  if (compresses) return exchange.grouping == Grouping::per_tensor && !exchange.overlap ? "horovod-mpi-tcp" : "";
  const bool tcp = !host_costs(scenario.cluster).is_one_machine() && scenario.cluster.link.bandwidth <= 25_Gbps;
  if (!exchange.overlap || exchange.grouping == Grouping::whole_model) return "";
  if (exchange.grouping == Grouping::bucketed) return tcp ? "ddp-nccl-tcp" : "ddp-nccl-rdma";
  return exchange.grouping == Grouping::per_tensor ? (tcp ? "horovod-nccl-tcp" : "horovod-nccl") : "";
}

/// "gather_cost fitted; host_cost, gather_byte_cost assumed": "" if all were measured.
std::string unmeasured(const Stack& stack) {
  std::map<Evidence, std::vector<std::string>> by_evidence;
  for (const ConstantOrigin& one : stack.origins.value_or({}))
    if (one.evidence != Evidence::measured) by_evidence[one.evidence].push_back(one.constant);
  std::vector<std::string> parts;
  for (const auto& [evidence, constants] : by_evidence)
    parts.push_back(fmt::format("{} {}", fmt::join(constants, ", "), name_of(evidence)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

void add_stack_notes(const Scenario& scenario, Notes& notes) {
  const Stack& stack = scenario.cluster.stack;
  if (!trains(scenario) || scenario.cluster.workers < 2) return;
  if (stack == Stack{}) {
    const std::string like = resembled(scenario);
    notes.push_back(
        {NoteCode::no_stack,
         like.empty()
             ? "no stack: software adds nothing here to what links and kernels take"
             : fmt::format(
                   "no stack: software adds nothing to links and kernels; --stack {} was fitted to training like this",
                   like)});
  } else if (const std::string constants = unmeasured(stack); !constants.empty()) {
    notes.push_back({NoteCode::unmeasured_stack,
                     fmt::format("stack {}: {}, not measured", stack.name.value_or("in place"), constants)});
  }
}

}  // namespace stepcast
