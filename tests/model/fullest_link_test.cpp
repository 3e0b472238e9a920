// The fullest link of a round, by hand and against all flows of the round.
#include "models/fabric/fullest_link.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "models/fabric/running_flows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// When the last of a quotient's flows ends, each with as many bytes.
double end_of(const Quotient& quotient, double bytes) {
  std::vector<std::size_t> order(quotient.flows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto delay = [&](std::size_t f) { return quotient.flows[f].delay.si(); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return delay(a) < delay(b); });
  RunningFlows running(quotient);
  double now = 0.0;
  for (std::size_t next = 0;;) {
    const double start = next < order.size() ? delay(order[next]) : std::numeric_limits<double>::infinity();
    const double end = running.next_end();
    if (start == std::numeric_limits<double>::infinity() && end == start) return now;
    now = std::min(start, end);
    running.end(now);
    if (start <= end) running.start(order[next++], bytes, now);
  }
}

/// Every message of the round as a flow, alike ones folded.
Quotient all_flows(const Round& round, Fabric& fabric) {
  FlowSystem system;
  for (const Message& message : round)
    system.flows.push_back({message.from, message.to, {static_cast<double>(message.slice.count), 0.0}});
  return fold_flows(system, fabric).quotient;
}

}  // namespace

TEST_CASE(
    "the fullest link is the one whose bytes take the longest, and among equals the one with the longest latency") {
  // Two racks of two hosts with 1 GB/s and 2 us; the uplink has 2 / 4 = 0.5 GB/s. Hosts 0 and 1 both send to rack 1, so
  // 2 blocks pass the uplink: 2 / 0.5e9 = 4 ns a byte. A host's cable has 1 block: 1 ns a byte.
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9), 2_us);
  cluster.topology = Racks{2, 4.0, 0_us};
  Fabric racks(cluster, 0);
  const FullestLink uplink = fullest_link({{0, 2, {0, 1}, false}, {1, 3, {0, 1}, false}}, racks);
  CHECK(uplink.is_closed);
  CHECK(uplink.blocks == 2);
  require_close(4e-9, uplink.load, 1e-12, "a byte of a block");
  require_close(2e-6, uplink.first, 1e-12, "its latency");

  // On a star whose last host has 6 us, messages 0 to 1 and 2 to 3 fill their links alike. 2 to 3 has (2 + 6) / 2 = 4 us.
  cluster.topology = Star{};
  cluster.groups = {{1, 1.0, {}, 6_us}};
  Fabric star(cluster, 0);
  const FullestLink slow = fullest_link({{0, 1, {0, 1}, false}, {2, 3, {0, 1}, false}}, star);
  require_close(4e-6, slow.latency, 1e-12, "the longest");
  require_close(4e-6, slow.first, 1e-12, "that of the chosen link");
  CHECK(slow.is_closed);
  // Messages of two sizes have no closed form, and neither has a round whose fullest link has a shorter latency.
  CHECK_FALSE(fullest_link({{0, 1, {0, 1}, false}, {2, 3, {0, 2}, false}}, star).is_closed);
  CHECK_FALSE(fullest_link({{0, 1, {0, 1}, false}, {0, 1, {0, 1}, false}, {2, 3, {0, 1}, false}}, star).is_closed);
}

TEST_CASE("property: one flow for all on the fullest link takes as long as all flows of the round") {
  int closed = 0;
  property(
      "messages of one size on racks, machines, fat trees and tori",
      [&] {
        const int p = 4 * integer_between(1, 6);
        Cluster cluster = star_cluster(p, BytesPerSecond(1e9), Seconds(positive_between(1e-7, 1e-5)));
        switch (integer_between(0, 4)) {
          case 0: cluster.topology = Nodes{4, {BytesPerSecond(positive_between(5e8, 1e11)), 1_us}, 1}; break;
          case 1: cluster.topology = Racks{4, real_between(1, 8), 1_us}; break;
          case 2: cluster.topology = FatTree{{4, p / 4}, {1, 2}, {1, 1}}; break;
          case 3: cluster.topology = Torus{{4, p / 4}}; break;
          default: cluster.topology = Star{}; break;
        }
        if (coin()) cluster.stack.connection_bandwidth = BytesPerSecond(positive_between(1e8, 1e9));
        const int count = integer_between(1, 3), shift = integer_between(1, p - 1);
        Round round;
        for (int i = 0; i < p; ++i)
          for (int times = integer_between(0, 2); times > 0; --times)
            round.push_back({i, (i + (coin() ? shift : 1)) % p, {0, count}, false});
        RC_PRE(!round.empty());
        Fabric fabric(cluster, 0);
        const FullestLink fullest = fullest_link(round, fabric);
        RC_PRE(fullest.is_closed);
        ++closed;
        const double bytes = positive_between(1, 1e6) * count;
        const double one = end_of(one_for_all(fullest, round, fabric), bytes),
                     all = end_of(all_flows(round, fabric), bytes);
        if (std::abs(one - all) > 1e-9 * all) RC_FAIL(fmt::format("{} s for {} s", one, all));
      },
      400);
  CHECK(closed >= 400);
}
