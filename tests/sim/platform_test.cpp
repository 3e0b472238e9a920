// Topologies and transports against hand-calculated transfers.
#include "tests/sim/support.hpp"

#include <cstdio>
#include <fstream>

#include <unistd.h>

#include "models/strategy/builder.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Cluster bare(int p, const Topology& topology) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {10_Gbps, 20_us};
  cluster.topology = topology;
  return cluster;
}

Seconds replayed(const Cluster& cluster, Algorithm algorithm, Bytes n, Operation operation = Operation::all_reduce) {
  return replay_all({{"", collective_of(cluster, operation, algorithm, n)}}).front().step;
}

}  // namespace

TEST_CASE("racks: partners in other racks share the uplink") {
  // Recursive doubling, 8 workers in racks of 4 at 4:1, n = 10 MB (8 ms at 10 Gb/s). Rounds at distance 1 and 2
  // stay inside: 2(20 us + 8 ms). At distance 4 all four hosts of a rack send over an uplink of 10 Gb/s: 32 ms,
  // and 5 us more latency.
  const Seconds expected = 2.0 * (20_us + 8_ms) + 25_us + 32_ms;
  require_close(expected, replayed(bare(8, Racks{4, 4.0, 5_us}), Algorithm::recursive_doubling, 10_MB), 1e-9,
                "racks, 4:1");
}

TEST_CASE("fat tree: one uplink per leaf switch is shared, two are not") {
  // down {2, 2}: 4 hosts in two leaf switches of 2. Recursive doubling with n = 10 MB: distance 1 stays at the leaf (2
  // cables of 10 us), distance 2 crosses the root (4 cables, 40 us). With one uplink per leaf switch, two flows share
  // it: 16 ms. With two parallel uplinks, D-mod-k gives each a separate one: 8 ms.
  require_close(20_us + 8_ms + 40_us + 16_ms,
                replayed(bare(4, FatTree{{2, 2}, {1, 1}, {1, 1}}), Algorithm::recursive_doubling, 10_MB), 1e-9,
                "one uplink");
  require_close(20_us + 8_ms + 40_us + 8_ms,
                replayed(bare(4, FatTree{{2, 2}, {1, 2}, {1, 1}}), Algorithm::recursive_doubling, 10_MB), 1e-9,
                "two uplinks");
}

TEST_CASE("torus: neighbours are one cable apart") {
  // A ring of 4 along one dimension: every message crosses one cable of 10 us at 10 Gb/s: 2·3·(10 us + n/4·β).
  require_close(6.0 * (10_us + 2500000_B / 10_Gbps), replayed(bare(4, Torus{{4}}), Algorithm::ring, 10_MB), 1e-9,
                "ring of 4");
}

TEST_CASE("dragonfly: hosts of one router are two cables apart") {
  // Two hosts at one router: broadcast of n to the other: 2 cables of 10 us.
  require_close(
      20_us + 8_ms,
      replayed(bare(2, Dragonfly{1, 1, 1, 1, 1, 1, 2}), Algorithm::binomial_tree, 10_MB, Operation::broadcast), 1e-9,
      "one router");
}

TEST_CASE("nodes: GPUs of different NICs meet inside, leave apart") {
  // Nodes of 2 GPUs with 2 NICs. Recursive doubling at distance 1 stays inside (3 us, 100 GB/s). At distance 2, each
  // GPU has a separate NIC: 23 us and 8 ms.
  require_close(3_us + 10_MB / 100_GBps + 23_us + 8_ms,
                replayed(bare(4, Nodes{2, Link{100_GBps, 3_us}, 2}), Algorithm::recursive_doubling, 10_MB), 1e-9,
                "2 NICs");
  // One NIC is shared by both: 16 ms.
  require_close(3_us + 10_MB / 100_GBps + 23_us + 16_ms,
                replayed(bare(4, Nodes{2, Link{100_GBps, 3_us}, 1}), Algorithm::recursive_doubling, 10_MB), 1e-9,
                "1 NIC");
}

TEST_CASE("nodes in racks: machines of a rack share its uplink") {
  // 8 workers, 2 on a machine with a NIC each, and 2 machines in a rack at 4:1. An uplink is 2·2/4 = 1 link. Recursive
  // doubling with n = 10 MB: distance 1 is inside. Distance 2 is between machines of a rack: 3 + 20 us, 8 ms. At
  // distance 4, all four workers of a rack use its uplink: 32 ms, and 5 us more.
  const Cluster cluster = bare(8, Nodes{2, Link{100_GBps, 3_us}, 2, NodeRacks{2, 4.0, 5_us}});
  require_close(3_us + 10_MB / 100_GBps + 23_us + 8_ms + 28_us + 32_ms,
                replayed(cluster, Algorithm::recursive_doubling, 10_MB), 1e-9, "4:1");
}

TEST_CASE("one slow link slows every round of a ring") {
  // One of 4 workers on 1 Gb/s: each of 2·3 rounds waits for its message of n/4.
  Cluster cluster = bare(4, Star{});
  cluster.groups = {{1, 1.0, 1_Gbps, {}}};
  require_close(6.0 * (20_us + 2500000_B / 1_Gbps), replayed(cluster, Algorithm::ring, 10_MB), 1e-9, "one slow link");
}

TEST_CASE("a contended link is shared equally whatever the latencies") {
  // Three workers push 10 MB each to one dedicated shard. The third one's link has 100 times the latency. A push starts
  // with its latency, so flows 1 and 2 run alone at 5 Gb/s until the third begins. α = (20 + 20)/2 = 20 us for the
  // first two, (2000 + 20)/2 = 1010 us for the third.
  //
  // From 20 us to 1010 us the two move 2·(990 us·5 Gb/s) = 1237500 B; then all share 10 Gb/s equally. Each of the two
  // has 10 MB - 618750 B left at 1/3 of 10 Gb/s, and they end together. The third then moves its last 618750 B alone.
  Cluster cluster = bare(3, Star{});
  cluster.groups = {{1, 1.0, {}, 2_ms}};
  ParameterServerStrategy strategy;
  Scenario scenario = scenario_of(cluster, strategy);
  WorkloadTable table;
  table.name = "one tensor";
  table.forward = Seconds{};
  table.gradients = {{"w", 2500000, Seconds{}}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  const Seconds push = 1010_us + 9381250_B * 3.0 / 10_Gbps + 618750_B / 10_Gbps;
  // The pull is the same seen from the shard, which starts all three at once: same latencies, same sharing. (In
  // later steps the first two push earlier, since they have pulled earlier.)
  require_close(2.0 * push, replay_all({{"", scenario}}).front().first_step, 1e-9, "equal shares");
}

TEST_CASE("TCP: factors, acknowledgements and the window") {
  // Broadcast of 10 MB between two hosts with SimGrid's LV08 factors: latency 20 us·13.01, bandwidth 0.97; one
  // flow's acknowledgements do not slow itself.
  Cluster cluster = bare(2, Star{});
  cluster.transport = TcpTransport{};
  const auto broadcast = [&] { return replayed(cluster, Algorithm::binomial_tree, 10_MB, Operation::broadcast); };
  require_close(20_us * 13.01 + 10_MB / (10_Gbps * 0.97), broadcast(), 1e-9, "window larger than the pipe");
  // Window 100 KiB: at most window / (2 · latency) = 102400 B / 40 us = 2.56 GB/s: no limit at 20 us. At 2 ms:
  // 102400 B / 4 ms = 25.6 MB/s, which SimGrid multiplies by the bandwidth factor too.
  std::get<TcpTransport>(cluster.transport).window = 100_KiB;
  cluster.link.latency = 2_ms;
  require_close(2_ms * 13.01 + 10_MB / (BytesPerSecond(25.6e6) * 0.97), broadcast(), 1e-9,
                "window smaller than the pipe");
}

TEST_CASE("a SimGrid platform file is a cluster") {
  const std::string path = "/tmp/stepcast-platform-" + std::to_string(::getpid()) + ".xml";
  std::ofstream(path)
      << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
         "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1250MBps\" lat=\"10us\"/>\n</platform>\n";
  // 1250 MB/s is 10 Gb/s; two links of 10 us on every route: a ring takes 2·3·(20 us + n/4·β).
  require_close(6.0 * (20_us + 2500000_B / 10_Gbps), replayed(bare(4, SimGridXml{path}), Algorithm::ring, 10_MB), 1e-9,
                "XML");
  std::remove(path.c_str());
}

TEST_CASE("a fabric of more links than SimGrid can make is replayed folded, or not at all") {
  Scenario scenario =
      collective_of(bare(16, Dragonfly{1, 1, 1, 1, 32766, 1, 1}), Operation::all_reduce, Algorithm::ring, 10_MB);
  const Workload workload = make_workload(scenario);
  const StepGraph graph = build_step_graph(scenario, workload);
  const auto refused = run_in_processes(1, 1, [&](std::size_t) { return answer({&scenario, &graph, 0}); }).front();
  CHECK(refused.is_model_error);
  // 32766·(2·1 + 32766 + 1) + 1: host cables, router to router and to its other chassis, of which there is none.
  CHECK_THAT(refused.error, ContainsSubstring("all 1073709055 links") && ContainsSubstring("at most 4194304") &&
                                ContainsSubstring("--fidelity folded"));
  scenario.evaluation.fidelity = Fidelity::folded;
  // Three hops of half 20 us each: 30 rounds of 30 us + n/16·β.
  require_close(30.0 * (30_us + 625000_B / 10_Gbps), replay_all({{"", scenario}}).front().step, 1e-9, "ring");
}
