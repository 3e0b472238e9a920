#include "models/report/other_trainings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/strategy_parts.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/study/alternatives.hpp"

namespace stepcast {
namespace {

std::string islands_text(const Strategy& strategy) {
  const Islands* islands = islands_of(strategy);
  return islands ? fmt::format(" of {} workers, every {}", islands->size, islands->steps) : "";
}

/// The gradients of an update. All strategies that use those of all workers' last step have the same text.
std::string staleness_of(const Strategy& strategy) {
  if (const auto* server = std::get_if<ParameterServerStrategy>(&strategy)) {
    const int pull = server->steps_of_pull();
    const std::string local = (server->steps > 1 ? fmt::format(", {} local steps", server->steps) : "") +
                              (pull != server->steps ? fmt::format(", pulls every {}", pull) : "");
    if (server->consistency == Consistency::backup_workers)
      return fmt::format("{} backup workers{}", server->backup_workers, local);
    if (server->consistency == Consistency::asynchronous) return "asynchronous" + local;
    if (server->consistency == Consistency::stale_synchronous)
      return fmt::format("staleness bound {}{}", server->bound, local);
    if (server->steps > 1) return "servers" + local;
  }
  if (const auto* pipe = std::get_if<PipelinedStrategy>(&strategy); pipe && pipe->width > 1)
    return fmt::format("width {}, {} steps of width 1", pipe->width, pipe->warmup_steps);
  if (const auto* local = std::get_if<LocalSgdStrategy>(&strategy))
    return fmt::format(
        "{} local steps{}{}{}", local->steps, islands_text(strategy),
        local->averaging_steps > 0 ? fmt::format(", averages used after {} more", local->averaging_steps) : "",
        local->fragments > 1 ? fmt::format(", in {} fragments", local->fragments) : "");
  if (const auto* gossip = std::get_if<GossipStrategy>(&strategy))
    return fmt::format("{}gossip{}{} on {} {} {} every {}, {}", gossip->asynchronous ? "asynchronous " : "",
                       gossip->asynchronous && gossip->choosers == PairChoosers::all ? " of all" : "",
                       islands_text(strategy), name_of(gossip->graph), fmt::join(gossip->dimensions, "x"),
                       write_value(gossip->edges).dump(), gossip->steps,
                       gossip->average ? fmt::format("average every {}", gossip->average->steps) : "");
  return "synchronous";
}

/// The workers that add up gradients before these are compressed, and the method inside machines.
std::string sums_of(const Scenario& scenario) {
  return fmt::format("{} {}", summed_workers(scenario),
                     compresses_inside(scenario) ? write_value(scenario.inner_compressor).dump() : "");
}

/// The compression of gradients, and whether their sums are compressed again.
std::string compression_of(const Scenario& scenario) {
  const bool between = sends_compressed(scenario);
  if (!between && !compresses_inside(scenario)) return "";
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  const Carrier carrier = carrier_of(scenario.strategy);
  const bool recodes = any_has(scenario, is_recoded);
  const std::string again = (carrier == Carrier::all_to_all && recodes) || carrier == Carrier::in_collective
                                ? std::string(name_of(carrier))
                                : fmt::format("{}", server && server->two_way);
  // Sums in machines are compressed as one gradient.
  const Exchange* exchange = exchange_of(scenario.strategy);
  const std::optional<Bytes> partition = exchange && is_changed_by_parts(scenario) ? exchange->partition : std::nullopt;
  const std::string methods = between ? fmt::format("{} {} {}", write_value(scenario.compressor).dump(),
                                                    write_value(scenario.other_compressors).dump(), again)
                                      : "";
  return fmt::format("{} {} {} {} {} {}", methods, sums_of(scenario), scenario.codec.min_elements,
                     scenario.codec.whole_vectors, write_value(scenario.codec.whole).dump(),
                     write_value(partition).dump());
}

std::string types_of(const Scenario& scenario) {
  const WorkloadTable& table = *scenario.workload;
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  const auto codes = sharded ? sharded->quantized_gather : std::nullopt;
  return fmt::format("{} {} {} {} {} {}", name_of(table.dtype), name_of(compute_dtype_of(table)), casts(table),
                     name_of(sharded ? sharded->reduce_dtype.value_or(table.dtype) : table.dtype),
                     codes ? codes->bits : 0, codes ? codes->block : 0);
}

std::string global_batch_of(const Scenario& scenario) {
  const WorkloadTable& table = *scenario.workload;
  return fmt::format("{}", std::int64_t{table.batch} * table.accumulation * scenario.cluster.workers);
}

/// Other changes of a variant train the same network by other kernels.
std::string variant_of(const Scenario& scenario) {
  const auto& variant = scenario.workload->variant;
  return write_value(variant ? variant->factorize : std::nullopt).dump();
}

struct Aspect {
  const char* name;
  std::string (*of)(const Scenario&);
};
constexpr Aspect kAspects[] = {
    {"when gradients are applied", [](const Scenario& s) { return staleness_of(s.strategy); }},
    {"compressor", compression_of},
    {"variant of the network", variant_of},
    {"types of numbers", types_of},
    {"global batch", global_batch_of}};

}  // namespace

std::vector<std::string> differences_in_training(const std::vector<const Scenario*>& scenarios) {
  std::vector<std::string> differences;
  for (const Aspect& aspect : kAspects) {
    std::set<std::string> values;
    for (const Scenario* scenario : scenarios)
      if (trains(*scenario)) values.insert(aspect.of(*scenario));
    if (values.size() > 1) differences.emplace_back(aspect.name);
  }
  return differences;
}

std::string note_of_trainings(const Study& study, const std::vector<std::string>& each) {
  std::map<std::vector<std::string>, std::vector<const Scenario*>> alike;
  for (const StudyPoint& point : study.points) {
    std::vector<std::string> situation;
    situation.reserve(each.size());
    for (const std::string& axis : each) situation.push_back(value_on(point.coordinates, axis));
    alike[situation].push_back(&point.scenario);
  }
  std::vector<std::string> differences;
  for (const auto& [situation, scenarios] : alike)
    for (std::string& difference : differences_in_training(scenarios))
      if (std::find(differences.begin(), differences.end(), difference) == differences.end())
        differences.push_back(std::move(difference));
  if (differences.empty()) return "";
  return fmt::format(
      "the points differ in training ({}), whose accuracy is not forecast: the first need not be the best",
      fmt::join(differences, ", "));
}

}  // namespace stepcast
