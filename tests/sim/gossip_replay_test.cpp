// Unless the report calls the equations an estimate, gossip's steps on any topology equal the replay's. The proof is
// beside ClusterPrices::neighbours_are_exact.
#include <algorithm>
#include <string>
#include <vector>

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

bool is_estimate(const Scenario& scenario) {
  return !summarise(scenario, build_step_graph(scenario, make_workload(*scenario.workload)),
                    CachedPrices(scenario.cluster))
              .estimate.empty();
}

Scenario gossip(const Topology& topology, int p, bool overlap = false) {
  Cluster cluster = star(p);
  cluster.topology = topology;
  Scenario scenario = scenario_of(cluster, GossipStrategy{overlap});
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
      {"all of it hidden", gossip(Nodes{4, fast, 4}, 16, true), 25_ms},
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

TEST_CASE("property: without the note that they are an estimate, gossip's equations are the replay's") {
  int exact = 0;
  property(
      "gossip on any topology",
      [&] {
        const auto latency = [] { return coin() ? 0_us : Seconds(positive_between(1e-7, 1e-3)); };
        Scenario scenario = gossip(Star{}, integer_between(1, 24), coin());
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
        if (integer_between(0, 3) == 0)
          cluster.groups = {{integer_between(1, cluster.workers), coin() ? 1.0 : 0.5,
                             BytesPerSecond(positive_between(1e8, 1e11)), latency()}};
        // From steps of messages alone to such of computing.
        scenario.workload = std::make_shared<const WorkloadTable>(small_workload(positive_between(1e-3, 1.0)));
        scenario.evaluation.max_steps = 2000;
        std::vector<Fault> faults;
        check(scenario, faults);
        RC_PRE(faults.empty());
        if (is_estimate(scenario)) return;
        ++exact;
        const auto answers = evaluate_both({{"random", scenario}});
        assert_close(answers[0].equations.step, answers[0].replay.step, 1e-9, to_json(scenario).dump());
      },
      600);
  CHECK(exact > 200);
}
