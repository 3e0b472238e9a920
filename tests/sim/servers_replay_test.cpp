// Unless the report calls the equations an estimate, servers' steps on stars, nodes and racks equal the replay's.
//
// The proof: all messages start together. A message on the busiest link gets no less than the fair share of that link
// on every other link. That link is therefore done at α + its load, together with all messages that cross it
// (prices.hpp, branches.hpp). If everybody waits for such a message, nobody gets ahead, and one task's messages never
// meet another's.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/report.hpp"
#include "models/scenario/rules.hpp"
#include "models/strategy/builder.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Whether the report of the scenario's answers says that the equations are an estimate.
bool is_estimate(const Scenario& scenario, const Comparison& both) {
  const Workload workload = make_workload(*scenario.workload);
  const StepGraph graph = build_step_graph(scenario, workload);
  const Answers answers{both.equations, both.replay};
  const PointReport report =
      make_point_report({{}, scenario, {}, {}, {}},
                        {{workload, answers}, graph, summarise(scenario, graph, CachedPrices(scenario.cluster))});
  return std::any_of(report.notes.begin(), report.notes.end(), [](const Note& note) {
    return note.text.find("the equations are an estimate here") != std::string::npos;
  });
}

Scenario servers(const Cluster& cluster, ServerPlacement placement, int shards,
                 Grouping grouping = Grouping::whole_model) {
  ParameterServerStrategy strategy;
  strategy.placement = placement;
  strategy.shards = shards;
  strategy.exchange.grouping = grouping;
  Scenario scenario = scenario_of(cluster, strategy);
  scenario.evaluation.evaluator = Evaluator::both;
  return scenario;
}

Cluster on(const Topology& topology, int p) {
  Cluster cluster = star(p);
  cluster.topology = topology;
  return cluster;
}

Scenario without_copies(Scenario scenario) {
  scenario.cluster.stack.host_cost = scenario.cluster.stack.inner_host_cost = {};
  return scenario;
}

Scenario with_group(Scenario scenario, const WorkerGroup& group) {
  scenario.cluster.groups = {group};
  return scenario;
}

Topology random_topology(int p) {
  const auto latency = [] { return coin() ? 0_us : Seconds(positive_between(1e-7, 1e-3)); };
  std::vector<int> sizes;  // sizes of machines: all full, or one that is not
  for (int size = 1; size <= p + 2; ++size)
    if (p % size == 0 || size > p) sizes.push_back(size);
  switch (integer_between(0, 4)) {
    case 0: return Star{};
    case 1:
    case 2: {
      const int size = sizes[integer_between(0, static_cast<int>(sizes.size()) - 1)];
      const auto racks =
          coin() ? std::optional<NodeRacks>{} : NodeRacks{integer_between(1, 4), real_between(1, 8), latency()};
      return Nodes{size,
                   {BytesPerSecond(positive_between(1e8, 1e12)), latency()},
                   integer_between(1, size),
                   racks,
                   coin() ? NicOfGpu::in_turn : NicOfGpu::neighbours};
    }
    default: return Racks{integer_between(1, p + 4), coin() ? 1.0 : real_between(1, 30), latency()};
  }
}

}  // namespace

TEST_CASE("servers with exact equations, and some with estimates") {
  const Link inner{100_GBps, 1_us};
  const auto dedicated = ServerPlacement::dedicated, co_located = ServerPlacement::co_located;
  const auto tensors = Grouping::per_tensor;
  struct Row {
    std::string what;
    Scenario scenario;
    bool estimate;
  };
  const std::vector<Row> rows = {
      {"star", servers(star(8), dedicated, 3, tensors), false},
      {"a shard on every worker of machines", servers(on(Nodes{4, inner, 2}, 8), co_located, 8, tensors), false},
      {"a shard on every worker of racks, the last one smaller", servers(on(Racks{4, 8.0, 5_us}, 10), co_located, 10),
       false},
      {"a shard in every machine", without_copies(servers(on(Nodes{4, inner, 1}, 8), co_located, 2, tensors)), false},
      {"a shard in every machine, whose workers copy less", servers(on(Nodes{4, inner, 1}, 8), co_located, 2, tensors),
       true},
      {"a shard in every rack", without_copies(servers(on(Racks{4, 8.0, 5_us}, 16), co_located, 4, tensors)), false},
      {"a shard for each NIC of machines whose neighbours share one",
       without_copies(servers(on(Nodes{4, inner, 2, {}, NicOfGpu::neighbours}, 8), co_located, 4, tensors)), false},
      {"machines, dedicated", servers(on(Nodes{4, inner, 2}, 8), dedicated, 4, tensors), false},
      {"machines in racks whose uplinks carry all",
       servers(on(Nodes{4, inner, 2, NodeRacks{1, 1.0, 0_us}}, 8), dedicated, 4, tensors), false},
      {"machines in racks", servers(on(Nodes{4, inner, 2, NodeRacks{1, 2.0, 0_us}}, 8), dedicated, 4, tensors), true},
      {"racks, dedicated in racks of their own", servers(on(Racks{4, 8.0, 5_us}, 8), dedicated, 4, tensors), false},
      {"racks, dedicated, 12 workers and 4 shards in two racks", servers(on(Racks{8, 8.0, 5_us}, 12), dedicated, 4),
       false},
      // Rack 0 has two shards: the first 4 workers have theirs before the others, and may push while others still pull.
      {"5 shards in 4 racks", servers(on(Racks{4, 8.0, 5_us}, 16), co_located, 5), true},
      // Pulls leave the second rack while the next bucket's pushes do.
      {"racks, dedicated beside workers, bucket by bucket", servers(on(Racks{4, 8.0, 5_us}, 6), dedicated, 4, tensors),
       true},
      {"more shards than workers, whose hosts copy, bucket by bucket", servers(star(2), dedicated, 6, tensors), false},
      {"workers of half a speed, all of them in a group", with_group(servers(star(8), dedicated, 3), {8, 0.5, {}, {}}),
       false},
      {"a group whose link is the plain one", with_group(servers(star(8), co_located, 8), {3, 1.0, 10_Gbps, 25_us}),
       false},
      {"one worker slower", with_group(servers(star(8), co_located, 8), {1, 0.999, {}, {}}), true},
      {"torus", servers(on(Torus{{4, 4}}, 16), co_located, 16), true},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) cases.push_back({row.what, row.scenario});
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].what);
    CHECK(is_estimate(rows[i].scenario, answers[i]) == rows[i].estimate);
    if (!rows[i].estimate) require_close(answers[i].replay.step, answers[i].equations.step, 1e-9, rows[i].what);
  }
}

TEST_CASE("greedy shards that no tensor is left for take no part") {
  // Two tensors on 4 shards: two of them hold nothing, and the step is that of 2 shards, by both evaluators.
  for (const ServerPlacement placement : {ServerPlacement::dedicated, ServerPlacement::co_located})
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
      Scenario scenario = servers(star(4), placement, 4, grouping);
      WorkloadTable table;
      table.name = "two tensors";
      table.forward = 8_ms;
      table.backward = 16_ms;
      table.gradients = {{"a", 2000000, {}, {}}, {"b", 500000, {}, {}}};
      scenario.workload = std::make_shared<const WorkloadTable>(table);
      std::get<ParameterServerStrategy>(scenario.strategy).balance = ShardBalance::greedy;
      std::vector<Fault> faults;
      check(scenario, faults);
      REQUIRE(faults.empty());
      Scenario filled = scenario;
      std::get<ParameterServerStrategy>(filled.strategy).shards = 2;
      const auto answers = evaluate_both({{"two empty", scenario}, {"none empty", filled}});
      require_close(answers[1].equations.step, answers[0].equations.step, 1e-12, "equations");
      require_close(answers[1].replay.step, answers[0].replay.step, 1e-12, "replay");
    }
}

TEST_CASE("a push into the workers' rack, and shards in every rack, to the microsecond") {
  // 10 Gb/s = 1.25 GB/s, 25 us, n = 14000040 B. 24 ms of computing, 1 ms of update on M shards. γ and h are 0.
  const Bytes n = 14000040_B;
  const auto step = [](const Scenario& scenario) {
    const auto answers = evaluate_both({{"", scenario}});
    require_close(answers[0].replay.step, answers[0].equations.step, 1e-9, "equations and replay");
    return answers[0].replay.step;
  };
  // 12 workers; 4 of them and 4 shards are in the second rack, whose uplink is a link. 8 push n over it, 25 + 5 us.
  Cluster cluster = on(Racks{8, 8.0, 5_us}, 12);
  cluster.reduction_cost = cluster.stack.host_cost = cluster.stack.inner_host_cost = SecondsPerByte{};
  require_close(24_ms + 0.25_ms + 2.0 * (30_us + 8.0 * n / 10_Gbps),
                step(servers(cluster, ServerPlacement::dedicated, 4)), 1e-9, "dedicated");
  // 4 racks of 4, uplinks of half a link, and a shard in each. 12 push n/4 into a rack, and 4 push 3/4 n out of it.
  cluster = on(Racks{4, 8.0, 5_us}, 16);
  cluster.reduction_cost = cluster.stack.host_cost = cluster.stack.inner_host_cost = SecondsPerByte{};
  require_close(24_ms + 0.25_ms + 2.0 * (30_us + 3.0 * n / 5_Gbps),
                step(servers(cluster, ServerPlacement::co_located, 4)), 1e-9, "co-located");
}

TEST_CASE("one bucket at a time: a shard sends the next one when all workers have the last") {
  // Worker 0 computes 20 ms. Worker 1 computes a fourth of that, and has a fourth of a link of 1 GB/s, so worker 0 sets
  // the pace. Two gradients of 1 MB are on one shard.
  //
  // Pull 1 takes 4 ms at worker 1, 4/3 ms at worker 0, who gets the next one from 4 ms to 16/3. It computes, and pushes
  // the first, after which pull 1 starts again. Worker 1 has pushed long before, until 8 + 5 + 8 ms. If each worker's
  // pulls followed each other independently, worker 0 would have both after 8/3 ms.
  Scenario scenario = servers(star(2), ServerPlacement::dedicated, 1, Grouping::per_tensor);
  WorkloadTable table = small_workload();
  table.forward = 20_ms;
  table.update = 0_s;
  table.gradients = {{"a", 250000, 0_ms}, {"b", 250000, 0_ms}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  Cluster plain;
  plain.workers = 2;
  plain.link.bandwidth = 1_GBps;
  plain.groups = {{1, 4.0, 0.25_GBps, {}}};
  scenario.cluster = plain;
  require_close(4_ms + 4_ms / 3.0 + 20_ms + 1_ms, replay_all({{"pulls", scenario}})[0].step, 1e-9, "pulls");
}

TEST_CASE("one bucket at a time: a worker pushes the next one when all shards have the last") {
  // A worker of 2 GB/s and two shards of 1 GB/s, 10 ms of computing. The first bucket has tensors of 3 and 1 MB on
  // shards 0 and 1. The second has one of 2 MB on shard 1.
  //
  // Push 1 takes until 13 ms, when shard 0 has its 3 MB. Push 2 then takes until 15 ms, though shard 1 is idle from 11
  // ms on. Pull 2 follows, until 17 ms; pull 1 ends at 16. If each shard's pushes followed each other independently,
  // push 2 would end at 13 ms, and pull 1 last.
  Scenario scenario = servers(star(1), ServerPlacement::dedicated, 2);
  ParameterServerStrategy strategy;
  strategy.shards = 2;
  strategy.balance = ShardBalance::greedy;
  strategy.exchange = {Grouping::bucketed, 4_MB, {4_MB}, true};
  scenario.strategy = strategy;
  WorkloadTable table = small_workload();
  table.forward = 10_ms;
  table.update = 0_s;
  table.gradients = {{"a", 750000, 0_ms}, {"b", 250000, 0_ms}, {"c", 500000, 0_ms}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  Cluster plain;
  plain.workers = 1;
  plain.link.bandwidth = 1_GBps;
  plain.groups = {{1, 1.0, 2_GBps, {}}};
  scenario.cluster = plain;
  require_close(17_ms, replay_all({{"pushes", scenario}})[0].step, 1e-9, "pushes");
}

TEST_CASE("property: without the note that they are an estimate, the equations are the replay's") {
  int exact = 0;
  property(
      "any servers on stars, nodes and racks",
      [&] {
        Cluster cluster = star(integer_between(1, 16));
        const int p = cluster.workers;
        cluster.link = {BytesPerSecond(positive_between(1e8, 1e11)),
                        coin() ? 0_us : Seconds(positive_between(1e-7, 1e-3))};
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-12, 1e-8) : 0.0);
        cluster.topology = random_topology(p);
        ParameterServerStrategy strategy;
        strategy.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
        strategy.shards = integer_between(1, strategy.placement == ServerPlacement::co_located ? p : 20);
        strategy.exchange = {static_cast<Grouping>(integer_between(0, 2)), 6_MB, {3_MB}, coin()};
        Scenario scenario = scenario_of(cluster, strategy);
        // From steps of messages alone to such of computing.
        scenario.workload = std::make_shared<const WorkloadTable>(small_workload(positive_between(1e-3, 1.0)));
        scenario.evaluation.evaluator = Evaluator::both;
        scenario.evaluation.max_steps = 2000;
        std::vector<Fault> faults;
        check(scenario, faults);
        RC_PRE(faults.empty());
        const auto answers = evaluate_both({{"random", scenario}});
        if (is_estimate(scenario, answers.front())) return;
        ++exact;
        assert_close(answers[0].equations.step, answers[0].replay.step, 1e-9, to_json(scenario).dump());
      },
      600);
  CHECK(exact > 150);
}

TEST_CASE("sums in machines before two servers, by hand") {
  // 2 machines of 4 with a NIC of 10 Gb/s, inner links of 10 GB/s and 3 us; n = 14000040 B, whole model, no copies.
  // Summed and gathered inside by halving and doubling: S + 2·3 us + 3/4·n·0.1 ns/B each, and 3/4·nγ for the sum. Each
  // worker pushes n/8 to each
  // server: n through the NIC of a machine, and n into each server. Its latency is 25 + 3/2 us. A server adds n/2 from
  // each of two machines and updates its half in 1/2 ms.
  Scenario scenario = without_copies(servers(on(Nodes{4, {10_GBps, 3_us}, 1}, 8), ServerPlacement::dedicated, 2));
  std::get<ParameterServerStrategy>(scenario.strategy).sum_in_machine = true;
  const Bytes n = 14000040_B;
  const Seconds inside = 7_us + 6_us + n * 0.75 * 0.1_ns_per_B, push = 26.5_us + n * 0.8_ns_per_B;
  const Seconds step = 24_ms + 2.0 * inside + n * 0.75 * 0.05_ns_per_B + 2.0 * push + n * 0.05_ns_per_B + 0.5_ms;
  for (const bool duplex : {true, false}) {
    std::get<ParameterServerStrategy>(scenario.strategy).duplex = duplex;
    const auto answers = evaluate_both({{fmt::format("duplex {}", duplex), scenario}});
    require_close(step, answers[0].equations.step, 1e-9, "equations");
    require_same(answers[0], 1e-9);
    CHECK_FALSE(is_estimate(scenario, answers[0]));
  }
}

TEST_CASE("compressed sums of machines before two servers, by hand") {
  // As above, with a quarter of the bytes and c = 0.2 ns/B to encode or to decode. A worker encodes its n/4. A server gets
  // n/16 of them from each of two machines and n/2 are decoded there; its parameters come back as they are.
  Scenario scenario = without_copies(servers(on(Nodes{4, {10_GBps, 3_us}, 1}, 8), ServerPlacement::dedicated, 2));
  auto& strategy = std::get<ParameterServerStrategy>(scenario.strategy);
  strategy.sum_in_machine = true;
  scenario.compressor = RatioCompressor{4.0, 0.2_ns_per_B, 0.2_ns_per_B};
  scenario.codec.scope = CodecScope::machines;
  const Bytes n = 14000040_B;
  const Seconds inside = 2.0 * (7_us + 6_us + n * 0.75 * 0.1_ns_per_B) + n * 0.75 * 0.05_ns_per_B,
                pull = 26.5_us + n * 0.8_ns_per_B, push = 26.5_us + n * 0.25 * 0.8_ns_per_B,
                codec = n * 0.25 * 0.2_ns_per_B, sum = n * 0.25 * 0.05_ns_per_B + n * 0.5 * 0.2_ns_per_B;
  const auto check_step = [&](Seconds step, const char* how) {
    const auto answers = evaluate_both({{how, scenario}});
    require_close(step, answers[0].equations.step, 1e-9, how);
    require_same(answers[0], 1e-9);
    CHECK_FALSE(is_estimate(scenario, answers[0]));
  };
  check_step(24_ms + inside + codec + push + sum + 0.5_ms + pull, "one way");
  // The server encodes n/2, a worker decodes n/4, and updates in 1 ms.
  strategy.two_way = true;
  check_step(24_ms + inside + 2.0 * codec + 2.0 * push + sum + n * 0.5 * 0.2_ns_per_B + 1_ms, "two ways");
}

TEST_CASE("without duplex, pushes and pulls are in turn: replay equals equations") {
  std::vector<Case> cases;
  for (const int shards : {1, 2, 4})
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor, Grouping::bucketed}) {
      Scenario scenario = servers(star(6), ServerPlacement::dedicated, shards, grouping);
      cases.push_back({fmt::format("{} shards, {}, side by side", shards, name_of(grouping)), scenario});
      std::get<ParameterServerStrategy>(scenario.strategy).duplex = false;
      cases.push_back({fmt::format("{} shards, {}, in turn", shards, name_of(grouping)), scenario});
    }
  const auto answers = evaluate_both(cases);
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
  for (std::size_t i = 0; i < answers.size(); i += 2)
    CHECK(answers[i + 1].equations.step >= answers[i].equations.step * (1 - 1e-9));
}

TEST_CASE("sums in machines, tensor by tensor: the equations are an estimate that says so") {
  for (const bool duplex : {true, false}) {
    Scenario scenario =
        servers(on(Nodes{4, {10_GBps, 3_us}, 1}, 8), ServerPlacement::dedicated, 2, Grouping::per_tensor);
    auto& strategy = std::get<ParameterServerStrategy>(scenario.strategy);
    strategy.sum_in_machine = true;
    strategy.duplex = duplex;
    const auto answers = evaluate_both({{"two levels", scenario}});
    CHECK(is_estimate(scenario, answers[0]));
    require_close(answers[0].replay.step, answers[0].equations.step, 0.02, "near");
    // Two levels send a fourth of the bytes over each NIC.
    strategy.sum_in_machine = false;
    CHECK(answers[0].replay.step < evaluate_both({{"one level", scenario}})[0].replay.step);
  }
}
