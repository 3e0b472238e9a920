// Kept step graphs: each is the graph that is built anew for the scenario, on whatever link it was asked for before.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/equation/evaluate.hpp"
#include "models/equation/exchange_summary.hpp"
#include "models/report/worker_memory.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "sim/answer/kept_graphs.hpp"
#include "sim/answer/timed_workloads.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// Asks for graphs as an engine does.
class Asking {
 public:
  /// Requires the kept graph to be the one that is built anew.
  void check(Scenario scenario) {
    share_table(scenario);
    const Workload& workload = workloads_.of(scenario).workload;
    const CachedPrices prices(scenario.cluster);
    const auto kept = graphs_.of(scenario, workload, prices);
    const StepGraph fresh = build_step_graph(scenario, workload, prices);
    StepGraph shared = kept->graph;
    set_stack_shares(shared, prices);
    CHECK(text_of(shared) == text_of(fresh));
    CHECK(kept->memory(scenario, workload) == worker_memory(scenario, workload));
    if (fresh.asynchronous) return;
    const StepForecast by_kept = evaluate(kept->graph, kept->unfolded(scenario.cluster), prices, Details::made),
                       by_fresh = evaluate(fresh, prices);
    CHECK(by_kept.step == by_fresh.step);
    CHECK(by_kept.first_step == by_fresh.first_step);
    CHECK(by_kept.critical == by_fresh.critical);
    for (const BreakdownPart& part : kBreakdownParts)
      CHECK(by_kept.breakdown.*part.time == by_fresh.breakdown.*part.time);
    const ExchangeSummary of_kept = summarise(scenario, kept->graph, prices, &kept->unfolded(scenario.cluster)),
                          of_fresh = summarise(scenario, fresh, prices);
    CHECK(of_kept.time == of_fresh.time);
    CHECK(of_kept.sent == of_fresh.sent);
    CHECK(stepcast::text_of(of_kept.algorithms) == stepcast::text_of(of_fresh.algorithms));
  }
  [[nodiscard]] std::size_t built() const { return graphs_.built(); }

 private:
  /// As the points of a study do.
  void share_table(Scenario& scenario) {
    const auto known =
        std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) { return *table == *scenario.workload; });
    if (known != tables_.end()) scenario.workload = *known;
    else tables_.push_back(scenario.workload);
  }
  static std::string text_of(const Work& work) {
    if (const auto* compute = std::get_if<ComputeWork>(&work)) return fmt::format("{}", compute->duration.si());
    if (const auto* negotiation = std::get_if<NegotiationWork>(&work)) return fmt::format("{}", negotiation->time.si());
    std::string text;
    if (const auto* shards = std::get_if<ShardWork>(&work))
      for (const Bytes bytes : shards->shard_bytes) text += fmt::format(" {}", bytes.si());
    if (const auto* serve = std::get_if<ServeWork>(&work))
      for (const Seconds time : serve->time) text += fmt::format(" {}", time.si());
    if (const auto* neighbours = std::get_if<NeighbourWork>(&work)) text += fmt::format("{}", neighbours->bytes.si());
    if (const auto* transfer = std::get_if<ShardTransfer>(&work)) text += fmt::format("{}", transfer->bytes.si());
    if (const auto* serve = std::get_if<ShardServe>(&work)) text += fmt::format("{}", serve->time.si());
    if (const auto* collective = std::get_if<CollectiveWork>(&work)) {
      const CollectiveCall& call = collective->call;
      text += fmt::format("{} {} among {}x{} by {} {} {} {} protocol {}", call.bytes.si(), call.recode.si(),
                          call.among.members, call.among.stride, name_of(call.algorithm->algorithm),
                          call.parameters.segments, call.parameters.group_size, name_of(call.parameters.between_groups),
                          call.protocol);
    }
    return text;
  }
  static std::string text_of(const StepGraph& graph) {
    std::string text = fmt::format("{} {} {} {} {}\n", graph.payload.si(), graph.carrier, graph.assumed,
                                   graph.local_steps, graph.streams.size());
    for (const Task& task : graph.tasks)
      text += fmt::format("{} {} on {} {} share {}: {}\n", task.name.text(), name_of(task.phase), task.worker_stream,
                          task.server_stream, task.stack_share, text_of(task.work));
    for (const Dependency& d : graph.dependencies)
      text += fmt::format("{} after {} lag {}\n", d.after, d.before, d.lag);
    return text;
  }

  KeptGraphs graphs_;
  TimedWorkloads workloads_;
  std::vector<std::shared_ptr<const WorkloadTable>> tables_;
};

constexpr const char* kScenario = R"({
  "name": "kept",
  "workload": {"from": "resnet50", "profile": "v100", "batch": 32},
  "cluster": {"link": {"bandwidth": "10Gbps", "latency": "25us"}, "workers": 8,
              "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "300Gbps", "latency": "4us"}}},
  "stack": {"host_cost": "0.1ns/B"},
  "compressor": {"kind": "top-k", "ratio": 0.01},
  "strategy": {"kind": "all-reduce", "carrier": "sum-or-gather", "collective": {"algorithm": "ring"}}})";

/// @param changes  objects of JSON pointers and values
Scenario scenario_with(const std::vector<const char*>& changes) {
  std::vector<Override> overrides;
  for (const char* change : changes) {
    const Json object = parse_json(change, change);
    for (const auto& [pointer, value] : object.items()) overrides.push_back({pointer, value, "--set", pointer});
  }
  return parse_study(kScenario, "kept.json", overrides, default_library()).points.at(0).scenario;
}

const std::vector<const char*> kLinks = {
    R"({"/cluster/link": {"bandwidth": "100Mbps", "latency": "25us"}})",
    R"({"/cluster/link": {"bandwidth": "10Gbps", "latency": "25us"}})",
    R"({"/cluster/link": {"bandwidth": "200Gbps", "latency": "2us"}})",
    R"({"/cluster/link": {"bandwidth": "10Gbps", "latency": "10ms"}})",
};

/// Changes of the scenario. Each has another graph, or one with choices that depend on the link.
const std::vector<const char*> kChanges = {
    "{}",
    R"({"/compressor/ratio": 0.02})",
    R"({"/compressor": "none"})",
    R"({"/compressor": "signsgd", "/strategy/carrier": "auto"})",
    R"({"/compressor": "ef-signsgd", "/strategy/carrier": "auto"})",
    R"({"/compressor": {"kind": "qsgd", "levels": 64}, "/strategy/carrier": "in-collective"})",
    R"({"/codec/slowdown": 3})",
    R"({"/codec/scope": "machines"})",
    R"({"/codec/scope": "machines", "/strategy/exchange/grouping": "per-tensor"})",
    R"({"/compressor": "none", "/strategy/collective/algorithm": "auto"})",
    R"({"/compressor": "none", "/strategy/collective/algorithm": "auto",
        "/cluster/protocols": [{"name": "LL", "bandwidth_factor": 0.5}, {"name": "Simple", "latency_factor": 5}]})",
    R"({"/compressor": "none", "/strategy/collective/algorithm": "auto", "/strategy/exchange/priority": true,
        "/strategy/exchange/grouping": "per-tensor", "/strategy/exchange/partition": "4MB"})",
    R"({"/strategy/exchange/bucket_cap": "10MB"})",
    R"({"/stack/negotiation_cost": "1ms"})",
    R"({"/cluster/workers": 4})",
    R"({"/cluster/topology/inner/bandwidth": "100Gbps"})",
    R"({"/workload/batch": 64})",
    R"({"/compressor": "none", "/strategy": {"kind": "parameter-server", "shards": 2}})",
    R"({"/compressor": "none", "/strategy": {"kind": "parameter-server", "shards": 2,
        "exchange": {"priority": true, "grouping": "per-tensor"}}})",
    R"({"/compressor": "none", "/strategy": {"kind": "parameter-server", "consistency": "asynchronous"}})",
    R"({"/compressor": "none", "/strategy": "sharded"})",
    R"({"/compressor": "none", "/strategy": {"kind": "local-sgd", "steps": 4}})",
    R"({"/compressor": "none", "/strategy": "pipelined"})",
    R"({"/compressor": "none", "/strategy": "gossip"})",
};

}  // namespace

TEST_CASE("Kept graphs are those that are built anew, whatever was asked before") {
  Asking asking;
  for (const char* link : kLinks)
    for (const char* change : kChanges) {
      INFO(change << " on " << link);
      asking.check(scenario_with({link, change}));
    }
  // Many are shared, or the test would say nothing.
  CHECK(3 * asking.built() < 2 * kLinks.size() * kChanges.size());
}

TEST_CASE("A graph is built once for many links, and again where a choice depends on them") {
  const auto built = [](const char* change) {
    Asking asking;
    for (const char* link : kLinks) asking.check(scenario_with({link, change}));
    return asking.built();
  };
  CHECK(built("{}") == 1);
  CHECK(built(R"({"/stack/negotiation_cost": "1ms"})") == 1);
  // Among 8 workers, a ring has 14 rounds and recursive doubling 3: the latency decides.
  CHECK(built(R"({"/compressor": "none", "/strategy/collective/algorithm": "auto"})") > 1);
  // Times decide on the order of parts and the carrier. They are others on each link.
  CHECK(built(R"({"/strategy/exchange/grouping": "per-tensor", "/strategy/exchange/priority": true})") == 4);
  CHECK(built(R"({"/compressor": "signsgd", "/strategy/carrier": "auto"})") == 4);
}
