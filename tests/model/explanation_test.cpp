// The causes of a step's time, and the changes that a scenario suggests.
#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "models/compressor/compressor.hpp"
#include "models/describe/json.hpp"
#include "models/explain/explanation.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

std::vector<std::string> names_of(const CriticalTasks& critical) {
  std::vector<std::string> names;
  for (const CriticalTask& task : critical.tasks) names.push_back(task.name);
  return names;
}

CriticalTasks critical_of(const Scenario& scenario, const Workload& workload) {
  return critical_tasks(build_step_graph(scenario, workload), CachedPrices(scenario.cluster));
}

double seconds_of(const CriticalTasks& critical, const std::string& cause) {
  const auto causes = causes_of(critical);
  const auto found = std::find_if(causes.begin(), causes.end(), [&](const Cause& one) { return one.name == cause; });
  return found == causes.end() ? 0 : found->time.si();
}

std::map<std::string, Json> changes_of(const Scenario& scenario, ChangeOf of) {
  std::map<std::string, Json> found;
  for (const Change& change : stepcast::changes_of(scenario))
    if (change.of == of)
      for (const auto& [pointer, value] : change.set) found[change.what + " @ " + pointer] = value;
  return found;
}

Study study_of(const std::string& text, const std::vector<Override>& changes = {}) {
  return parse_study(text, "explanation.json", changes, default_library());
}

/// A scenario, or why there is none.
struct Reading {
  std::optional<Scenario> scenario;
  std::vector<Fault> faults;
};
Reading read(const std::string& document, const std::vector<Override>& changes) {
  try {
    return {study_of(document, changes).points.front().scenario, {}};
  } catch (const ScenarioError& error) {
    return {{}, error.faults()};
  }
}

constexpr const char* kTrained =
    R"({"name": "s", "workload": {"from": "resnet50", "profile": "v100-datasheet", "batch": 32},
  "cluster": {"workers": 8, "link": {"bandwidth": "10Gbps", "latency": "25us"}, "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100Gbps"}, "nics": 2}},
  "strategy": {"kind": "all-reduce", "exchange": {"grouping": "whole-model"}}})";

}  // namespace

// Forward 1 s, backward 2 s, then a ring all-reduce of 8 MB among 4 at 1 MB/s, 0.25 s a message, γ = 0.5 us/B, S =
// 0.125 s. Latency 2·3·0.25 = 1.5 s, bandwidth 2·3/4·8 = 12 s, reduction 3/4·8·0.5 = 3 s, update 0.5 s.
TEST_CASE("a synchronous step is set by all of its tasks, and their parts add up to it") {
  Cluster cluster = star_cluster(4, BytesPerSecond(1e6), Seconds(0.25));
  cluster.reduction_cost = SecondsPerByte(0.5e-6);
  cluster.collective_cost = Seconds(0.125);
  AllReduceStrategy strategy;
  strategy.collective = ring_choice();
  const Scenario scenario = scenario_of(cluster, strategy);
  const Workload workload = simple_workload(Seconds(1), Seconds(2), Seconds(0.5), Bytes(8e6));
  const CriticalTasks critical = critical_of(scenario, workload);
  REQUIRE(critical.tasks.size() == 4);
  CHECK(critical.steps == 1);
  CHECK(critical.tasks[0].phase != critical.tasks[1].phase);
  CHECK(seconds_of(critical, "forward") == Approx(1));
  CHECK(seconds_of(critical, "backward") == Approx(2));
  CHECK(seconds_of(critical, "update") == Approx(0.5));
  CHECK(seconds_of(critical, "latency") == Approx(1.5));
  CHECK(seconds_of(critical, "bandwidth") == Approx(12));
  CHECK(seconds_of(critical, "reduction") == Approx(3));
  CHECK(seconds_of(critical, "set-up") == Approx(0.125));
  CHECK(causes_of(critical).front().name == "bandwidth");
  CHECK(causes_of(critical).size() == 7);
  CHECK(step_time(scenario, workload) == Approx(20.125));  // 1 + 2 + 0.5 + 1.5 + 12 + 3 + 0.125
}

// Pipe-SGD of width 2 takes the longer of computing and exchanging: 3.5 s against 1.5 + 12 s at 1 MB/s. At 100 MB/s,
// the exchange takes 1.5 + 0.12 s.
TEST_CASE("a pipelined step is set by the longer of computing and exchanging alone") {
  PipelinedStrategy strategy;
  strategy.collective = ring_choice();
  const Workload workload = simple_workload(Seconds(1), Seconds(2), Seconds(0.5), Bytes(8e6));
  const CriticalTasks slow =
      critical_of(scenario_of(star_cluster(4, BytesPerSecond(1e6), Seconds(0.25)), strategy), workload);
  CHECK(names_of(slow) == std::vector<std::string>{"all-reduce"});
  CHECK(seconds_of(slow, "latency") + seconds_of(slow, "bandwidth") == Approx(13.5));
  const CriticalTasks fast =
      critical_of(scenario_of(star_cluster(4, BytesPerSecond(1e8), Seconds(0.25)), strategy), workload);
  CHECK(fast.tasks.size() == 3);
  CHECK(seconds_of(fast, "latency") == 0);
  CHECK(seconds_of(fast, "forward") + seconds_of(fast, "backward") + seconds_of(fast, "update") == Approx(3.5));
}

// The slower of two kinds of workers sets the step: forward 1/0.5 = 2 s, backward 4 s, update 1 s.
TEST_CASE("tasks are those of the slowest worker") {
  Cluster cluster = star_cluster(4, BytesPerSecond(1e6));
  cluster.groups = {{.count = 1, .speed = 0.5}};
  AllReduceStrategy strategy;
  strategy.collective = ring_choice();
  const CriticalTasks critical =
      critical_of(scenario_of(cluster, strategy), simple_workload(Seconds(1), Seconds(2), Seconds(0.5), Bytes(8e6)));
  CHECK(seconds_of(critical, "forward") == Approx(2));
  CHECK(seconds_of(critical, "backward") == Approx(4));
  CHECK(seconds_of(critical, "update") == Approx(1));
}

// Four steps of 3.5 s, as above, and then one all-reduce of 13.5 s. The load of each step is a fourth of the load
// around them.
TEST_CASE("loads of streams are those of one training step, also where several exchange once") {
  LocalSgdStrategy strategy{.steps = 4};
  strategy.collective = ring_choice();
  const CriticalTasks critical = critical_of(scenario_of(star_cluster(4, BytesPerSecond(1e6), Seconds(0.25)), strategy),
                                             simple_workload(Seconds(1), Seconds(2), Seconds(0.5), Bytes(8e6)));
  CHECK(critical.steps == 4);
  REQUIRE(critical.loads.size() == 2);
  CHECK(critical.loads[0].stream == "compute");
  CHECK(critical.loads[0].busy.si() == Approx(3.5));
  CHECK(critical.loads[1].stream == "communication");
  CHECK(critical.loads[1].busy.si() == Approx(13.5 / 4));
  // The same bytes in two all-reduces: 2·6 messages of 0.25 s and 12 s of bandwidth, a fourth of it a step.
  strategy.grouping = Grouping::per_tensor;
  const CriticalTasks two = critical_of(scenario_of(star_cluster(4, BytesPerSecond(1e6), Seconds(0.25)), strategy),
                                        workload_of(Seconds(1), {{4e6, 1.0}, {4e6, 1.0}}, Seconds(0), Seconds(0.5)));
  CHECK(seconds_of(two, "latency") == Approx(0.75));
  CHECK(seconds_of(two, "bandwidth") == Approx(3));
  CHECK(seconds_of(two, "forward") == Approx(1));
}

// 4 workers push 8 MB each to a server behind 1 MB/s: 0.25 + 32 s, and pulls take as long. The server adds at 0.5 us a
// byte, 16 s, and updates in 0.5 s.
TEST_CASE("a push's load is the worker's, which stands for the server's end as well") {
  Cluster cluster = star_cluster(4, BytesPerSecond(1e6), Seconds(0.25));
  cluster.reduction_cost = SecondsPerByte(0.5e-6);
  const CriticalTasks critical = critical_of(scenario_of(cluster, ParameterServerStrategy{}),
                                             simple_workload(Seconds(1), Seconds(2), Seconds(0.5), Bytes(8e6)));
  std::map<std::string, double> busy;
  for (const CriticalTasks::Load& load : critical.loads) busy[load.stream] = load.busy.si();
  CHECK(busy.size() == 4);
  CHECK(busy["compute"] == Approx(3));
  CHECK(busy["push"] == Approx(32.25));
  CHECK(busy["pull"] == Approx(32.25));
  CHECK(busy["server compute"] == Approx(16.5));
}

TEST_CASE("each number of the cluster is made twice as good") {
  const auto changes = changes_of(study_of(kTrained).points.front().scenario, ChangeOf::cluster);
  CHECK(changes.at("link bandwidth 20 Gb/s @ /cluster/link/bandwidth") == "20Gbps");
  CHECK(changes.at("link latency 12.5 us @ /cluster/link/latency") == "12.5us");
  CHECK(changes.at("topology inner bandwidth 200 Gb/s @ /cluster/topology/inner/bandwidth") == "25GB/s");
  CHECK(changes.at("topology nics 4 @ /cluster/topology/nics") == 4);
  CHECK(changes.at("workers compute twice as fast @ /cluster/groups") ==
        Json::parse(R"([{"count": 8, "speed": 2.0}])"));
  CHECK(changes.at("16 workers @ /cluster/workers") == 16);
  CHECK(changes.at("8 more hosts, a server shard on each @ /strategy") ==
        Json::parse(R"({"kind": "parameter-server", "shards": 8})"));
  CHECK(changes.size() == 7);  // the inner latency, γ, h and S are 0
}

TEST_CASE("workers that differ are made faster each, and alike") {
  Scenario scenario = study_of(kTrained).points.front().scenario;
  scenario.cluster.topology = Star{};
  scenario.cluster.groups = {{.count = 2, .speed = 0.5}, {.count = 1, .bandwidth = BytesPerSecond(125e6)}};
  const auto changes = changes_of(scenario, ChangeOf::cluster);
  CHECK(changes.at("workers compute twice as fast @ /cluster/groups") ==
        Json::parse(R"([{"count": 5, "speed": 2.0}, {"count": 2}, {"count": 1, "speed": 2.0, "bandwidth": "1Gbps"}])"));
  CHECK(changes.at("all workers alike @ /cluster/groups") == Json::array());
  CHECK(changes.at("groups 1 bandwidth 2 Gb/s @ /cluster/groups/1/bandwidth") == "2Gbps");
}

TEST_CASE("impossible improvements are not offered") {
  Scenario scenario = study_of(kTrained).points.front().scenario;
  const auto names = [&](ChangeOf of, const std::string& text) {
    std::vector<std::string> found;
    for (const auto& [name, value] : changes_of(scenario, of))
      if (name.find(text) != std::string::npos) found.push_back(name);
    return found;
  };
  // Uplinks as wide as the links they serve need not be wider; those of 1.5:1 become no wider than that.
  scenario.cluster.topology = Racks{4, 1.0, 0_us};
  CHECK(names(ChangeOf::cluster, "oversubscription").empty());
  scenario.cluster.topology = Racks{4, 1.5, 0_us};
  CHECK(names(ChangeOf::cluster, "oversubscription") ==
        std::vector<std::string>{"topology oversubscription 1 @ /cluster/topology/oversubscription"});
  // The same for racks of machines. State may also be sharded inside a rack, here by 2·2 of the 8 workers, if that is
  // no group yet.
  scenario.cluster.topology = Nodes{2, {100_Gbps, 0_us}, 1, NodeRacks{2, 3.0, 0_us}};
  CHECK(names(ChangeOf::cluster, "oversubscription") ==
        std::vector<std::string>{"topology racks oversubscription 1.5 @ /cluster/topology/racks/oversubscription"});
  scenario.strategy = ShardedStrategy{.stage = ShardingStage::parameters};
  CHECK(names(ChangeOf::execution, "inside each rack") ==
        std::vector<std::string>{"state sharded inside each rack @ /strategy/group_size"});
  scenario.strategy = ShardedStrategy{.stage = ShardingStage::parameters, .group_size = 4};
  CHECK(names(ChangeOf::execution, "inside each rack").empty());
  // Units that stay are gathered once, so none needs to be ahead.
  scenario.strategy = ShardedStrategy{.stage = ShardingStage::gradients};
  CHECK(names(ChangeOf::execution, "gathered ahead").empty());
  scenario.strategy = ShardedStrategy{.stage = ShardingStage::parameters, .prefetch = 2};
  CHECK(names(ChangeOf::execution, "gathered ahead") ==
        std::vector<std::string>{"5 units gathered ahead @ /strategy/prefetch"});
}

TEST_CASE("changes of buckets and of groups are possible ones") {
  Scenario scenario = study_of(kTrained).points.front().scenario;
  Exchange exchange{.grouping = Grouping::bucketed, .bucket_cap = 40_MiB};
  exchange.first_bucket.value = 20_MiB;
  scenario.strategy = AllReduceStrategy{.exchange = exchange};
  // A first bucket of 20 MiB is no more than 160 MiB, but more than 10.
  auto changes = changes_of(scenario, ChangeOf::execution);
  CHECK(changes.count("buckets of 167.8 MB @ /strategy/exchange/bucket_cap") == 1);
  CHECK(changes.count("buckets of 167.8 MB @ /strategy/exchange/first_bucket") == 0);
  CHECK(changes.at("buckets of 10.49 MB @ /strategy/exchange/first_bucket") ==
        changes.at("buckets of 10.49 MB @ /strategy/exchange/bucket_cap"));
  // 8 workers are two machines of 4; 6 are no whole number of racks of 4.
  const auto inside = [&] {
    return std::count_if(changes.begin(), changes.end(),
                         [](const auto& one) { return one.first.find("sharded inside each") != std::string::npos; });
  };
  CHECK(inside() == 1);
  scenario.cluster.workers = 6;
  scenario.cluster.topology = Racks{4, 1.0, 0_us};
  changes = changes_of(scenario, ChangeOf::execution);
  CHECK(inside() == 0);
}

TEST_CASE("with a platform file, the cluster's own links are not changed") {
  Scenario scenario = study_of(kTrained).points.front().scenario;
  scenario.cluster.topology = SimGridXml{"cluster.xml"};
  for (const auto& [name, value] : changes_of(scenario, ChangeOf::cluster))
    CHECK(name.find("/cluster/link/") == std::string::npos);
}

TEST_CASE("changes of the training are separate from changes of the exchange") {
  const Scenario scenario = study_of(kTrained).points.front().scenario;
  const auto exchange = changes_of(scenario, ChangeOf::execution), training = changes_of(scenario, ChangeOf::training);
  CHECK(exchange.count("per-tensor @ /strategy/exchange/grouping") == 1);
  CHECK(exchange.count("bucketed @ /strategy/exchange/grouping") == 1);
  CHECK(exchange.count("whole-model @ /strategy/exchange/grouping") == 0);  // as it is
  CHECK(exchange.at("a server shard on every worker @ /strategy") ==
        Json::parse(R"({"kind": "parameter-server", "shards": 8, "placement": "co-located"})"));
  // All compressors but none, which it is, and ratio and formula, which have no default.
  const auto tried = static_cast<std::ptrdiff_t>(std::variant_size_v<Compressor>) - 3;
  CHECK(std::count_if(training.begin(), training.end(),
                      [](const auto& one) { return one.first.ends_with("@ /compressor"); }) == tried);
  CHECK(training.at("variant pufferfish @ /workload/variant") == "pufferfish");
  CHECK(training.at("batch of 64 @ /workload/batch") == 64);
  CHECK(training.at("pipelined, width 2 @ /strategy") == Json::parse(R"({"kind": "pipelined"})"));
  CHECK(training.at("accumulation of 2 @ /workload/accumulation") == 2);
  CHECK(training.at("local SGD, averaged every 8 steps @ /strategy") == Json::parse(R"({"kind": "local-sgd"})"));
  Scenario local = scenario;
  local.strategy = LocalSgdStrategy{};
  CHECK(changes_of(local, ChangeOf::training).at("averaged every 16 steps @ /strategy/steps") == 16);
  CHECK(changes_of(local, ChangeOf::execution).at("bucketed @ /strategy/grouping") == "bucketed");
  local.cluster.workers = 8;
  local.cluster.topology = Nodes{4, {100_GBps, 1_us}, 1};
  CHECK(changes_of(local, ChangeOf::training)
            .at("islands: each machine's workers make every step together @ /strategy/islands") ==
        Json::parse(R"({"size": 4})"));
  local.strategy = LocalSgdStrategy{.islands = Islands{.size = 4, .overlap = false}};
  CHECK(changes_of(local, ChangeOf::training).at("no islands: each worker trains alone @ /strategy/islands").is_null());
  const auto inside = changes_of(local, ChangeOf::execution);
  CHECK(inside.at("state sharded inside islands, stage parameters @ /strategy/islands") ==
        Json::parse(R"({"size": 4, "sharding": "parameters", "overlap": false})"));
  CHECK(inside.at("overlap inside islands @ /strategy/islands") == Json::parse(R"({"size": 4})"));
  // 2·2^30 is more than an int holds; reading the change refuses it.
  WorkloadTable large = *scenario.workload;
  large.batch = 1 << 30;
  Scenario of_large = scenario;
  of_large.workload = std::make_shared<const WorkloadTable>(large);
  CHECK(changes_of(of_large, ChangeOf::training).at("batch of 2147483648 @ /workload/batch") == 2147483648L);
}

TEST_CASE("with mixed precision the operands' type alone is changed") {
  Scenario scenario = study_of(kTrained).points.front().scenario;
  WorkloadTable table = *scenario.workload;
  REQUIRE(table.profile->peaks.size() == 2);  // fp32, fp16
  CHECK(changes_of(scenario, ChangeOf::training).at("operands and gradients in fp16 @ /workload/dtype") == "fp16");
  table.compute_dtype = Dtype::fp16;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  const auto changes = changes_of(scenario, ChangeOf::training);
  CHECK(changes.at("operands in fp32 @ /workload/compute_dtype") == "fp32");
  // Operands are no wider than gradients.
  table.dtype = Dtype::fp16;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  CHECK(changes_of(scenario, ChangeOf::training).count("operands in fp32 @ /workload/compute_dtype") == 0);
  CHECK(std::none_of(changes.begin(), changes.end(),
                     [](const auto& one) { return one.first.ends_with("@ /workload/dtype"); }));
}

TEST_CASE("a collective is tried with every other algorithm, and every other algorithm between groups") {
  const auto tried = [](const char* collective, int nics) {
    const Override overrides[] = {
        {"/strategy", {{"kind", "collective"}, {"size", "1MB"}, {"collective", Json::parse(collective)}}, "--set", ""},
        {"/cluster/topology/nics", nics, "--set", ""}};
    return changes_of(study_of(kTrained, {overrides[0], overrides[1]}).points.front().scenario, ChangeOf::execution);
  };
  const auto ring = tried(R"({"algorithm": "ring"})", 2), one_nic = tried(R"({"algorithm": "ring"})", 1),
             between_rings = tried(R"({"algorithm": "hierarchical", "between": "ring"})", 2);
  CHECK(ring.at("multi-ring @ /strategy/collective") == Json{{"algorithm", "multi-ring"}});
  CHECK(ring.count("hierarchical @ /strategy/collective") == 1);
  CHECK(one_nic.count("multi-ring @ /strategy/collective") == 0);  // is the ring
  const auto between = [](const auto& changes) {
    return std::count_if(changes.begin(), changes.end(),
                         [](const auto& one) { return one.first.ends_with("@ /strategy/collective/between"); });
  };
  CHECK(between(ring) == 0);
  CHECK(between(between_rings) == 3);
  CHECK(between_rings.at("halving-doubling between groups @ /strategy/collective/between") == "halving-doubling");
  CHECK(between(tried(R"({"algorithm": "hierarchical"})", 2)) == 0);  // auto has them all
}

TEST_CASE("state is sharded inside machines where there are several, or over all workers") {
  const auto exchange_of = [](const char* strategy, const Json& workers) {
    return changes_of(study_of(kTrained, {{"/strategy", Json::parse(strategy), "--set", ""},
                                          {"/cluster/workers", workers, "--set", ""}})
                          .points.front()
                          .scenario,
                      ChangeOf::execution);
  };
  const auto over_all = exchange_of(R"({"kind": "sharded"})", 8),
             of_machines = exchange_of(R"({"kind": "sharded", "group_size": 4})", 8),
             of_pairs = exchange_of(R"({"kind": "sharded", "group_size": 2})", 8);
  CHECK(over_all.at("state sharded inside each machine @ /strategy/group_size") == 4);
  CHECK(over_all.count("state sharded over all workers @ /strategy/group_size") == 0);
  CHECK(of_machines.count("state sharded inside each machine @ /strategy/group_size") == 0);
  CHECK(of_machines.at("state sharded over all workers @ /strategy/group_size") == nullptr);
  CHECK(of_pairs.at("state sharded inside each machine @ /strategy/group_size") == 4);
  CHECK(exchange_of(R"({"kind": "sharded"})", 4).count("state sharded inside each machine @ /strategy/group_size") ==
        0);  // there is one
  CHECK(exchange_of(R"({"kind": "all-reduce"})", 8)
            .at("gradients and optimizer state sharded inside each machine @ /strategy") ==
        Json::parse(R"({"kind": "sharded", "stage": "gradients", "group_size": 4})"));
}

TEST_CASE("another strategy keeps the algorithm and the buckets, where it may have them") {
  const auto changed = [](const char* strategy) {
    const Scenario scenario =
        study_of(kTrained, {{"/strategy", Json::parse(strategy), "--set", ""}, {"/cluster/workers", 8, "--set", ""}})
            .points.front()
            .scenario;
    auto all = changes_of(scenario, ChangeOf::execution);
    all.merge(changes_of(scenario, ChangeOf::training));
    return all;
  };
  const auto ring = changed(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"},
                                "exchange": {"grouping": "per-tensor"}})");
  CHECK(ring.at("gradients and optimizer state sharded @ /strategy") ==
        Json::parse(R"({"kind": "sharded", "stage": "gradients", "collective": {"algorithm": "ring"},
                        "exchange": {"grouping": "per-tensor"}})"));
  CHECK(ring.at("pipelined, width 2 @ /strategy") ==
        Json::parse(R"({"kind": "pipelined", "collective": {"algorithm": "ring"}})"));
  CHECK(ring.at("local SGD, averaged every 8 steps @ /strategy") ==
        Json::parse(R"({"kind": "local-sgd", "collective": {"algorithm": "ring"}})"));
  // An all-reduce alone does it, of nothing but all workers; buckets that are not said stay the other strategy's own.
  const auto tree = changed(R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})");
  CHECK(tree.at("gradients and optimizer state sharded @ /strategy") ==
        Json::parse(R"({"kind": "sharded", "stage": "gradients"})"));
  CHECK(tree.at("pipelined, width 2 @ /strategy") ==
        Json::parse(R"({"kind": "pipelined", "collective": {"algorithm": "double-binary-tree"}})"));
  const auto rings = changed(R"({"kind": "all-reduce", "collective": {"algorithm": "multi-ring"}})");
  CHECK(rings.at("gradients and optimizer state sharded @ /strategy") ==
        Json::parse(R"({"kind": "sharded", "stage": "gradients", "collective": {"algorithm": "multi-ring"}})"));
  CHECK(rings.at("gradients and optimizer state sharded inside each machine @ /strategy") ==
        Json::parse(R"({"kind": "sharded", "stage": "gradients", "group_size": 4})"));
  const auto back = changed(R"({"kind": "sharded", "collective": {"algorithm": "ring"}})");
  CHECK(back.at("all-reduce, with all state on every worker @ /strategy") ==
        Json::parse(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})"));
}

TEST_CASE("a table of times suggests no batch, dtype or variant, since it keeps its times") {
  const Scenario scenario =
      study_of(
          R"({"name": "s", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})")
          .points.front()
          .scenario;
  for (const auto& [name, value] : changes_of(scenario, ChangeOf::training))
    CHECK((name.find("/workload") == std::string::npos || name == "accumulation of 2 @ /workload/accumulation"));
}

TEST_CASE("operands of a narrower type, or tf32 ones, go under gradients that stay") {
  const auto operands = [](const char* profile, const char* dtype) {
    std::set<std::string> found;
    const Study study = study_of(kTrained, {{"/workload/profile", profile, "--set", ""},
                                            {"/workload/dtype", dtype, "--set", ""},
                                            {"/workload/compute_dtype", dtype, "--set", ""}});
    for (const auto& [name, value] : changes_of(study.points.front().scenario, ChangeOf::training))
      if (name.starts_with("operands in ") && name.ends_with("@ /workload/compute_dtype"))
        found.insert(value.get<std::string>());
    return found;
  };
  CHECK(operands("v100-datasheet", "fp32") == std::set<std::string>{"fp16"});
  CHECK(operands("a100-datasheet", "fp32") == std::set<std::string>{"tf32", "fp16", "bf16"});
  CHECK(operands("a100-datasheet", "bf16").empty());
}

TEST_CASE("servers that compress their answers are another training if gradients are compressed") {
  const auto two_way = [](const char* compressor) {
    const Study study = study_of(kTrained, {{"/compressor", compressor, "--set", ""}});
    return changes_of(study.points.front().scenario, ChangeOf::training)
        .count("a server shard on every worker, which compresses its answer @ /strategy");
  };
  CHECK(two_way("signsgd") == 1);
  CHECK(two_way("none") == 0);
}

TEST_CASE("carriers that encode sums again are another training") {
  const auto carriers = [](ChangeOf of, const char* compressor, const char* now = "auto") {
    std::set<std::string> found;
    for (const auto& [name, value] :
         changes_of(study_of(kTrained, {{"/compressor", Json::parse(compressor), "--set", ""},
                                        {"/strategy", {{"kind", "all-reduce"}, {"carrier", now}}, "--set", ""}})
                        .points.front()
                        .scenario,
                    of))
      if (name.ends_with("@ /strategy/carrier")) found.insert(value.get<std::string>());
    return found;
  };
  using Names = std::set<std::string>;
  constexpr ChangeOf kTraining = ChangeOf::training, kExecution = ChangeOf::execution;
  CHECK(carriers(kTraining, R"({"kind": "qsgd"})") == Names{"all-to-all", "in-collective"});
  CHECK(carriers(kTraining, R"({"kind": "top-k"})") ==
        Names{"all-to-all", "in-collective"});  // both choose from sums again
  CHECK(carriers(kTraining, R"({"kind": "ef-signsgd"})") == Names{"all-to-all"});
  CHECK(carriers(kTraining, R"({"kind": "signsgd"})").empty());  // the majority of signs is a message
  CHECK(carriers(kTraining, R"({"kind": "dgc"})") == Names{"all-to-all", "in-collective"});  // sizes go first
  CHECK(carriers(kTraining, R"({"kind": "powersgd"})").empty());
  CHECK(carriers(kTraining, R"({"kind": "none"})").empty());
  // From either of them back to auto, and to the other.
  CHECK(carriers(kTraining, R"({"kind": "qsgd"})", "all-to-all") == Names{"auto", "in-collective"});
  CHECK(carriers(kTraining, R"({"kind": "qsgd"})", "in-collective") == Names{"auto", "all-to-all"});
  // Auto is the cheapest of the others.
  CHECK(carriers(kExecution, R"({"kind": "qsgd"})", "all-gather") == Names{"auto"});
  CHECK(carriers(kExecution, R"({"kind": "signsgd"})", "all-to-all") == Names{"auto"});
  CHECK(carriers(kExecution, R"({"kind": "qsgd"})").empty());
}

TEST_CASE("compressing between machines alone is another training, where there are several machines") {
  const auto offered = [](std::vector<Override> changes) {
    changes.push_back({"/compressor", "signsgd", "--set", ""});
    return changes_of(study_of(kTrained, changes).points.front().scenario, ChangeOf::training)
        .count("summed inside machines, compressed between them @ /codec/scope");
  };
  CHECK(offered({}) == 1);
  CHECK(offered({{"/strategy", "local-sgd", "--set", ""}}) == 1);
  CHECK(offered({{"/codec", {{"scope", "machines"}}, "--set", ""}}) == 0);
  CHECK(offered({{"/cluster/workers", 4, "--set", ""}}) == 0);  // one machine
  CHECK(offered({{"/cluster/topology", {{"kind", "star"}}, "--set", ""}}) == 0);
}

TEST_CASE("other methods inside machines are other trainings") {
  const auto offered = [](const char* compressor, const char* scope, const char* inner,
                          std::vector<Override> sets = {}) {
    sets.insert(sets.end(), {{"/compressor", compressor, "--set", ""},
                             {"/codec", {{"scope", scope}}, "--set", ""},
                             {"/inner_compressor", inner, "--set", ""}});
    const auto changes = changes_of(study_of(kTrained, sets).points.front().scenario, ChangeOf::training);
    std::set<std::string> found;
    for (const auto& [name, value] : changes)
      if (const std::size_t at = name.find(" @ /inner_compressor"); at != std::string::npos)
        found.insert(name.substr(0, at) + ": " + value["kind"].get<std::string>());
    return found;
  };
  using Names = std::set<std::string>;
  const std::string as_is = "sums inside machines as they are: none", halves = "sums inside machines in fp16: fp16";
  CHECK(offered("signsgd", "machines", "none") == Names{halves, "signsgd inside machines, too: signsgd"});
  CHECK(offered("signsgd", "machines", "fp16") == Names{as_is, "signsgd inside machines, too: signsgd"});
  CHECK(offered("powersgd", "machines", "8-bit") == Names{as_is, halves});  // factors cannot be cut in parts
  CHECK(offered("signsgd", "workers", "none") == Names{"compressed inside machines, and again between them: signsgd"});
  CHECK(offered("powersgd", "workers", "none").empty());
  // One machine alone, and sharding groups that are machines.
  CHECK(offered("signsgd", "machines", "none", {{"/cluster/workers", 4, "--set", ""}}) ==
        Names{halves, "signsgd inside machines, too: signsgd"});
  CHECK(
      offered("signsgd", "machines", "none", {{"/strategy", {{"kind", "sharded"}, {"group_size", 4}}, "--set", ""}}) ==
      Names{halves, "signsgd inside machines, too: signsgd"});
}

TEST_CASE("one compressor for all tensors, and small tensors as they are, are other trainings") {
  const auto of = [](std::vector<Override> changes) {
    return changes_of(study_of(kTrained, changes).points.front().scenario, ChangeOf::training);
  };
  const Override powersgd{"/compressor", "powersgd", "--set", ""};
  const auto changes =
      of({powersgd,
          {"/other_compressors", Json::parse(R"([{"tensors": ["fc.*"], "compressor": "8-bit"}])"), "--set", ""}});
  CHECK(changes.at("powersgd for all tensors @ /other_compressors") == Json::array());
  CHECK(changes.at("top-k for all tensors @ /compressor") == Json{{"kind", "top-k"}});
  CHECK(changes.at("top-k for all tensors @ /other_compressors") == Json::array());
  CHECK(changes.at("no compressor @ /other_compressors") == Json::array());
  // ResNet-50 has 25,557,032 elements. Smaller tensors may have 1 and 10 % of them.
  const auto whole = of({powersgd});
  std::vector<int> sizes;
  for (const auto& [what, value] : whole)
    if (what.ends_with("@ /codec/min_elements")) sizes.push_back(value.get<int>());
  std::sort(sizes.begin(), sizes.end());
  REQUIRE(sizes.size() == 2);
  const Workload workload = make_workload(*study_of(kTrained, {powersgd}).points.front().scenario.workload);
  double previous = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // No more than the share is below the size, and with the next larger tensors it would be more.
    const double share = (i == 0 ? 0.01 : 0.1) * 25557032;
    double below = 0, with_equal = 0;
    for (const Gradient& gradient : workload.gradients) {
      if (gradient.elements < sizes[i]) below += static_cast<double>(gradient.elements);
      if (gradient.elements <= sizes[i]) with_equal += static_cast<double>(gradient.elements);
    }
    CHECK(below > previous);
    CHECK(below <= share);
    CHECK(with_equal > share);
    previous = below;
  }
  for (const auto& [what, value] : of({})) CHECK_FALSE(what.ends_with("@ /codec/min_elements"));
}

// Each change must be readable as it stands, or be refused because of other fields. Nothing is misspelt, and every
// change makes another scenario.
TEST_CASE("the same samples in more passes, or in fewer") {
  const auto passes = [](const std::vector<Override>& overrides) {
    std::vector<std::string> names;
    for (const auto& [name, value] :
         changes_of(study_of(kTrained, overrides).points.front().scenario, ChangeOf::execution))
      if (name.find(" pass") != std::string::npos) names.push_back(name + " = " + value.dump());
    return names;
  };
  const auto set = [](const char* pointer, Json value) { return Override{pointer, std::move(value), "--set", ""}; };
  // 2 passes of 32 samples are 4 of 16, or one of 64; 3 of 7 have no halves.
  CHECK(passes({set("/workload/accumulation", 2)}) ==
        std::vector<std::string>{"1 pass of 64 @ /workload/accumulation = 1", "1 pass of 64 @ /workload/batch = 64",
                                 "4 passes of 16 @ /workload/accumulation = 4",
                                 "4 passes of 16 @ /workload/batch = 16"});
  CHECK(passes({set("/workload/accumulation", 3), set("/workload/batch", 7)}).empty());
  // With a global batch, the passes follow from their size.
  CHECK(passes({set("/workload/global_batch", 512)}) ==
        std::vector<std::string>{"1 pass of 64 @ /workload/batch = 64", "4 passes of 16 @ /workload/batch = 16"});
}

TEST_CASE("less memory for the same training, in every combination") {
  const auto leaner = [](const std::vector<Override>& overrides) {
    std::map<std::string, std::string> all;
    for (const Change& change : leaner_changes(study_of(kTrained, overrides).points.front().scenario))
      all[change.what] = as_options(change);
    return all;
  };
  const auto set = [](const char* pointer, Json value) { return Override{pointer, std::move(value), "--set", ""}; };
  // 32 samples whole or in five smaller sizes, each block, every second or none recomputed, state in three ways: 54.
  // The scenario itself and the changes of changes_of are left out: half of the batch, blocks recomputed in both ways,
  // gradients sharded.
  const auto all = leaner({});
  CHECK(all.size() == 54 - 5);
  CHECK(all.at("8 passes of 4") == "--set /workload/batch=4 --set /workload/accumulation=8");
  CHECK(all.at("all state sharded") == "--set '/strategy={\"kind\":\"sharded\"}'");
  CHECK(all.at("2 passes of 16, blocks computed again") ==
        "--set /workload/batch=16 --set /workload/accumulation=2 --set /workload/recomputation=blocks");
  CHECK(
      all.at("4 passes of 8, every second block computed again") ==
      "--set /workload/batch=8 --set /workload/accumulation=4 --set /workload/recomputation=blocks --set /workload/recomputed_share=0.5");
  CHECK(
      all.at("32 passes of 1, blocks computed again, gradients and optimizer state sharded") ==
      "--set /workload/batch=1 --set /workload/accumulation=32 --set /workload/recomputation=blocks --set '/strategy={\"kind\":\"sharded\",\"stage\":\"gradients\"}'");
  for (const char* known : {"2 passes of 16", "blocks computed again", "gradients and optimizer state sharded"})
    CHECK(all.count(known) == 0);
  // The passes of a quarter of a global batch. With sharding and passes of one sample, only recomputed blocks are
  // leaner, which is known. Compressed gradients cannot be sharded.
  CHECK(leaner({set("/workload/global_batch", 512)}).at("8 passes of 8") == "--set /workload/batch=8");
  CHECK(leaner({set("/strategy", Json::parse(R"({"kind": "sharded"})")), set("/workload/batch", 1)}).empty());
  CHECK(leaner({set("/compressor", Json::parse(R"({"kind": "fp16"})"))}).size() == 18 - 4);
}

TEST_CASE("every change can be made to the canonical document") {
  for (const char* strategy :
       {R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed"}, "collective": {"algorithm": "ring"}})",
        R"({"kind": "parameter-server", "shards": 2, "balance": "greedy"})", R"({"kind": "pipelined", "segments": 2})",
        R"({"kind": "local-sgd", "steps": 4, "collective": {"algorithm": "ring"}})", R"({"kind": "sharded"})",
        R"({"kind": "sharded", "group_size": 2, "all_reduce": {"algorithm": "ring"}})",
        R"({"kind": "gossip", "overlap": false})", R"({"kind": "collective", "size": "1MB"})",
        R"({"kind": "collective", "size": "1MB", "collective": {"algorithm": "hierarchical", "between": "ring"}})"}) {
    INFO(strategy);
    const Scenario scenario =
        study_of(kTrained, {{"/strategy", Json::parse(strategy), "--set", ""}}).points.front().scenario;
    const std::string document = to_json(scenario).dump();
    std::set<std::string> seen;
    for (const Change& change : stepcast::changes_of(scenario)) {
      INFO(change.what);
      CHECK(seen.insert(change.what).second);
      std::vector<Override> overrides;
      for (const auto& [pointer, value] : change.set) overrides.push_back({pointer, value, "--set", pointer});
      const Reading reading = read(document, overrides);
      if (reading.scenario) CHECK(to_json(*reading.scenario) != Json::parse(document));
      for (const Fault& fault : reading.faults) {
        INFO(to_string(fault));
        CHECK(fault.found.find("unknown") == std::string::npos);
        CHECK(fault.found != "nothing");
      }
    }
  }
}

TEST_CASE("options survive a POSIX shell, and --set reads them unchanged") {
  const auto options = [](Json value) {
    return as_options({ChangeOf::training, "", {{"/workload/variant", std::move(value)}}});
  };
  CHECK(options("half") == "--set /workload/variant=half");
  CHECK(options("A&B (1/4)") == "--set '/workload/variant=A&B (1/4)'");
  CHECK(options("B's") == "--set '/workload/variant=B'\\''s'");
  CHECK(options("4") == "--set '/workload/variant=\"4\"'");  // not the number
  CHECK(options("[4") == "--set '/workload/variant=\"[4\"'");
  CHECK(options(nullptr) == "--set /workload/variant=null");
  CHECK(as_options({ChangeOf::cluster, "", {{"/cluster/jitter", Json::object()}, {"/evaluation/runs", 1}}}) ==
        "--set '/cluster/jitter={}' --set /evaluation/runs=1");
  for (const char* text : {"half", "A&B (1/4)", "B's", "4", "[4", "null", "a \"b\"", "$HOME"}) {
    std::string option = options(text);
    // The text as a shell reads it.
    if (option.find('\'') != std::string::npos) {
      option = option.substr(option.find('\'') + 1);
      option.pop_back();
      for (std::size_t at = 0; (at = option.find("'\\''", at)) != std::string::npos; ++at) option.erase(at + 1, 3);
    } else {
      option = option.substr(std::string("--set ").size());
    }
    CHECK(parse_override(option).value == text);
  }
}

// The equations' tasks take 3 + 1 s; the replay says 2 s.
TEST_CASE("answers of equations are not presented as the replay's") {
  Explanation e;
  e.name = "s";
  e.point.answers.replay.emplace().step = Seconds(2);
  e.critical = CriticalTasks{{{"push", Phase::exchange, Seconds(3), {}}, {"serve", Phase::serve, Seconds(1), {}}}, 1};
  CHECK(to_text(e).find("tasks that set the step of the equations, 4 s, not the replay's: ") != std::string::npos);
  CHECK(explanation_document(e, {})["critical_cycle"]["step_time_s"] == 4.0);
  e.point.answers.replay->step = Seconds(4);
  CHECK(to_text(e).find("tasks that set the step: one after") != std::string::npos);
}

TEST_CASE("changes that the equations estimate are marked, and why") {
  Explanation e;
  e.name = "s";
  e.point.answers.equations.emplace().step = Seconds(2);
  e.changes = {{{ChangeOf::execution, "exact", {{"/a", 1}}}, Seconds(1), 2.0},
               {{ChangeOf::execution, "rough", {{"/a", 2}}}, Seconds(0.5), 4.0, "as if"}};
  const std::string text = to_text(e);
  CHECK(text.find(" ~4x") != std::string::npos);
  CHECK(text.find("~2x") == std::string::npos);
  CHECK(text.find("~ marks estimates of the equations: as if;") != std::string::npos);
  CHECK(text.find("~2 s") == std::string::npos);
  e.point.estimate = "as if";
  CHECK(to_text(e).find("a step takes ~2 s by the equations") != std::string::npos);
}

TEST_CASE("many tasks of one kind are shown as one, those of different kinds apart") {
  Explanation e;
  e.name = "s";
  e.point.answers.equations.emplace().step = Seconds(14);
  e.critical = CriticalTasks{{}, 1};
  for (int i = 1; i <= 11; ++i)
    e.critical->tasks.push_back({fmt::format("push {}/11", i), Phase::exchange, Seconds(1), {}});
  e.critical->tasks.push_back({"pull 11/11", Phase::exchange, Seconds(1), {}});
  e.critical->tasks.push_back({"backward 2/2", Phase::backward, Seconds(1), {}});
  e.critical->tasks.push_back({"backward tail", Phase::backward, Seconds(1), {}});
  const std::string text = to_text(e);
  CHECK(text.find("push 1/11 to 11/11") != std::string::npos);
  CHECK(text.find("  pull 11/11 ") != std::string::npos);
  CHECK(text.find("backward 2/2 to tail") != std::string::npos);
}

TEST_CASE("the headline names the bound that applies") {
  Explanation e;
  e.name = "s";
  e.point.answers.equations.emplace().step = Seconds(3);
  // For a pipelined step: latencies longer than the bound are none.
  e.point.bound = {Seconds(2), Seconds(4), Seconds(1), Seconds(1), Seconds(2), true};
  CHECK(to_text(e).find("no schedule beats 2 s (compute)") != std::string::npos);
}

TEST_CASE("a step of no tasks is set by nothing") {
  Explanation e;
  e.name = "s";
  e.point.answers.equations.emplace();
  e.critical = CriticalTasks{{}, 0};
  CHECK(to_text(e).find("the step is set by nothing") != std::string::npos);
  CHECK(explanation_document(e, {})["critical_cycle"].is_null());
}
