// Unless the report calls the equations an estimate, gossip's steps on any topology equal the replay's. The proof is
// beside ClusterPrices::neighbours_are_exact.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/equation/exactness.hpp"
#include "models/report/report.hpp"
#include "models/scenario/gossip_rounds.hpp"
#include "models/scenario/rules.hpp"
#include "models/strategy/builder.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_gossip.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Exactness exactness(const Scenario& scenario) {
  return exactness_of(scenario, build_step_graph(scenario, make_workload(*scenario.workload)),
                      CachedPrices(scenario.cluster));
}
bool is_estimate(const Scenario& scenario) { return !exactness(scenario).why.empty(); }

Scenario gossip(const Topology& topology, int p, const GossipStrategy& strategy = {false}) {
  Cluster cluster = star(p);
  cluster.topology = topology;
  Scenario scenario = scenario_of(cluster, strategy);
  scenario.evaluation.evaluator = Evaluator::both;
  return scenario;
}

}  // namespace

TEST_CASE("gossip over NICs, uplinks and inner links, by hand") {
  // n = 14000040 B, 25 ms of computing. 10 Gb/s NICs of 25 us, inner links of 3 us: 28 us between machines. Added up at
  // 0.05 ns/B and copied at 0.1 ns/B, 2n each: 4.2 ms.
  const Bytes n = 14000040_B;
  const Seconds rest = 25_ms + 2.0 * n * 0.15_ns_per_B;
  const Link fast{100_GBps, 3_us}, slow{5_Gbps, 3_us};
  struct Row {
    std::string what;
    Scenario scenario;
    Seconds step;
  };
  const std::vector<Row> rows = {
      // The last worker of a machine and the first of the next one each have a NIC, and one message on it.
      {"a NIC for each GPU", gossip(Nodes{4, fast, 4}, 16), rest + 28_us + n / 10_Gbps},
      {"two NICs, first and last worker on different ones", gossip(Nodes{4, fast, 2}, 16), rest + 28_us + n / 10_Gbps},
      {"three NICs, first and last worker on the same one", gossip(Nodes{4, fast, 3}, 16),
       rest + 28_us + 2.0 * n / 10_Gbps},
      {"one NIC", gossip(Nodes{4, fast, 1}, 16), rest + 28_us + 2.0 * n / 10_Gbps},
      {"one NIC, two workers", gossip(Nodes{1, fast, 1}, 2), rest - n * 0.15_ns_per_B + 28_us + n / 10_Gbps},
      {"one machine", gossip(Nodes{4, slow, 1}, 4), rest + 3_us + 2.0 * n / 5_Gbps},
      // Uplinks of 4/16 of 10 Gb/s carry two messages each way, 25 + 5 us.
      {"racks", gossip(Racks{4, 16.0, 5_us}, 10), rest + 30_us + 2.0 * n / 2.5_Gbps},
      // One hop of half 25 us; a cable has one message each way.
      {"ring of hosts", gossip(Torus{{8}}, 8), rest + 12.5_us + n / 10_Gbps},
      {"all of it hidden", gossip(Nodes{4, fast, 4}, 16, {true}), 25_ms},
      // The workers of a machine of 4 have 4·12 neighbours elsewhere, over one NIC. Each adds and copies 15n.
      {"complete", gossip(Nodes{4, fast, 1}, 16, {false, NeighbourGraph::complete}),
       rest + 13.0 * n * 0.15_ns_per_B + 28_us + 48.0 * n / 10_Gbps},
      // Rank 0 has four neighbours, and the others have fewer.
      {"edges", gossip(Star{}, 5, {false, NeighbourGraph::edges, {}, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}}}),
       rest + 2.0 * n * 0.15_ns_per_B + 25_us + 4.0 * n / 10_Gbps},
      // Along the second dimension of 4·4, all neighbours are in two other machines: 8 messages over one NIC.
      {"torus", gossip(Nodes{4, fast, 1}, 16, {false, NeighbourGraph::torus}),
       rest + 2.0 * n * 0.15_ns_per_B + 28_us + 8.0 * n / 10_Gbps},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) cases.push_back({row.what, row.scenario});
  const auto answers = evaluate_both(cases);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].what);
    CHECK(!is_estimate(rows[i].scenario));
    require_close(rows[i].step, answers[i].equations.step, 1e-9, rows[i].what);
    require_close(rows[i].step, answers[i].replay.step, 1e-9, rows[i].what + ", replay");
    require_same(answers[i], 1e-9, false);
  }
  // Slow inner links are busier than the NICs, and have messages of two latencies.
  CHECK(is_estimate(gossip(Nodes{4, slow, 4}, 16)));
}

TEST_CASE("property: gossip's equations are the replay's, or an estimate with the range that is stated") {
  int exact = 0;
  property(
      "gossip on any topology",
      [&] {
        const auto latency = [] { return coin() ? 0_us : Seconds(positive_between(1e-7, 1e-3)); };
        Scenario scenario = gossip(Star{}, integer_between(1, 24));
        Cluster& cluster = scenario.cluster;
        cluster.link = {BytesPerSecond(positive_between(1e8, 1e11)), latency()};
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-12, 1e-8) : 0.0);
        switch (integer_between(0, 5)) {
          case 0: break;
          case 1: cluster.topology = Racks{integer_between(1, 8), coin() ? 1.0 : real_between(1, 30), latency()}; break;
          case 2: cluster.topology = Torus{{integer_between(2, 5), integer_between(1, 5)}}; break;
          case 3: cluster.topology = FatTree{{4, 6}, {1, integer_between(1, 4)}, {1, integer_between(1, 2)}}; break;
          case 4: cluster.topology = Dragonfly{2, 1, 2, integer_between(1, 2), 3, 1, 2}; break;
          default: {
            const int size = integer_between(1, 6);
            cluster.workers = size * integer_between(1, 4);
            cluster.topology =
                Nodes{size, {BytesPerSecond(positive_between(1e8, 1e12)), latency()}, integer_between(1, size)};
          }
        }
        scenario.strategy = random_gossip_rounds(cluster.workers);
        if (coin()) cluster.reduction_cost = {};
        if (integer_between(0, 3) == 0)
          cluster.groups = {{integer_between(1, cluster.workers), coin() ? 1.0 : 0.5,
                             BytesPerSecond(positive_between(1e8, 1e11)), latency()}};
        // From steps of messages alone to such of computing.
        scenario.workload = std::make_shared<const WorkloadTable>(small_workload(positive_between(1e-3, 1.0)));
        scenario.evaluation.max_steps = 2000;
        std::vector<Fault> faults;
        check(scenario, faults);
        RC_PRE(faults.empty());
        const Exactness said = exactness(scenario);
        if (!said.why.empty()) {
          scenario.evaluation.max_steps = 200;
          const auto answers = evaluate_both({{"random", scenario}});
          const double ratio = answers[0].replay.step / answers[0].equations.step;
          if (ratio < said.least * (1 - 1e-9) || ratio > said.most * (1 + 1e-9))
            RC_FAIL(fmt::format("{} times the equations, outside {} .. {}: {}", ratio, said.least, said.most,
                                to_json(scenario).dump()));
          return;
        }
        ++exact;
        const auto answers = evaluate_both({{"random", scenario}});
        // With unlike numbers of neighbours, workers that are ahead may still gain or lose a little on the busiest one
        // when the replay finds a steady state.
        const auto& graph = std::get<GossipStrategy>(scenario.strategy);
        const double within = is_regular(neighbours_of(graph), cluster.workers) ? 1e-9 : 1e-6;
        assert_close(answers[0].equations.step, answers[0].replay.step, within, to_json(scenario).dump());
      },
      600);
  CHECK(exact > 200);
}
