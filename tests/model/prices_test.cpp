// Prices of collectives' paths on each topology, worked out by hand.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/fabric/machines.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/recent_prices.hpp"
#include "models/price/shard_placement.hpp"
#include "models/scenario/cluster_rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Bytes of a push on the busiest link, as bytes of a host's link, added worker by worker and shard by shard. Worker i
/// is on machine or rack i / size, on NIC i mod nics. A dedicated shard on nodes is a machine of its own.
double busiest_link(const std::vector<Bytes>& shards, const Cluster& cluster, bool co_located) {
  std::map<std::string, double> load;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const auto* racks = std::get_if<Racks>(&cluster.topology);
  const int p = cluster.workers;
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < static_cast<int>(shards.size()); ++j) {
      const int host = shard_host(cluster, static_cast<int>(shards.size()), co_located, j);
      if (i == host) continue;
      const double bytes = shards[j].si();
      if (nodes) {
        const double inside = cluster.link.bandwidth / nodes->inner.bandwidth;
        const auto machine = [&](int rank) { return rank < p ? rank / nodes->gpus_per_node : rank; };
        load[fmt::format("out of {}", i)] += bytes * inside;
        if (co_located) load[fmt::format("into {}", host)] += bytes * inside;
        if (machine(i) == machine(host)) continue;
        load[fmt::format("out of machine {} NIC {}", machine(i),
                         nodes->nics_of_machine().of(i % nodes->gpus_per_node))] += bytes;
        load[fmt::format("into machine {} NIC {}", machine(host),
                         co_located ? nodes->nics_of_machine().of(host % nodes->gpus_per_node) : 0)] += bytes;
        if (!nodes->racks) continue;
        // Machines of dedicated shards follow those of the workers.
        const int workers_machines = (p + nodes->gpus_per_node - 1) / nodes->gpus_per_node;
        const int from = machine(i) / nodes->racks->nodes_per_rack,
                  to = (host < p ? machine(host) : workers_machines + host - p) / nodes->racks->nodes_per_rack;
        if (from == to) continue;
        const double uplink = nodes->racks->oversubscription / (nodes->racks->nodes_per_rack * nodes->nics);
        load[fmt::format("out of rack {}", from)] += bytes * uplink;
        load[fmt::format("into rack {}", to)] += bytes * uplink;
      } else {
        load[fmt::format("out of {}", i)] += bytes;
        load[fmt::format("into {}", host)] += bytes;
        const int from = i / racks->hosts_per_rack, to = host / racks->hosts_per_rack;
        if (from == to) continue;
        load[fmt::format("out of rack {}", from)] += bytes * racks->oversubscription / racks->hosts_per_rack;
        load[fmt::format("into rack {}", to)] += bytes * racks->oversubscription / racks->hosts_per_rack;
      }
    }
  double busiest = 0;
  for (const auto& [link, bytes] : load) busiest = std::max(busiest, bytes);
  return busiest;
}

double shard_wire(const std::vector<Bytes>& shards, const Cluster& cluster, bool co_located) {
  return CachedPrices(cluster).shard_terms(shards, co_located).total_wire().si();
}

void check_path(const Cluster& cluster, Path path, double alpha, double beta, const std::string& what) {
  const PathPrice found = collective_prices(cluster).path[static_cast<int>(path)];
  require_close(alpha, found.alpha.si(), 1e-12, what + ": α");
  require_close(beta, found.beta.si(), 1e-12, what + ": β");
}

void check_all(const Cluster& cluster, double alpha, double beta, const std::string& what) {
  for (const Path path : {Path::neighbour, Path::far, Path::inner, Path::shard})
    check_path(cluster, path, alpha, beta, what);
}

}  // namespace

TEST_CASE("a star charges its link") {
  Cluster star = star_cluster(8, 10_Gbps, 5_us);
  star.reduction_cost = 0.3_ns_per_B;
  star.stack.host_cost = 0.1_ns_per_B;
  star.collective_cost = 20_us;
  check_all(star, 5e-6, 0.8e-9, "star");  // 1 / (10e9/8 B/s) = 0.8 ns/B
  const Prices prices = collective_prices(star);
  CHECK(prices.gamma == 0.3_ns_per_B);
  for (const SecondsPerByte host : prices.host) CHECK(host == 0.1_ns_per_B);
  CHECK(prices.setup == 20_us);
  CHECK(prices_are_exact(star));
  CHECK(natural_group(star) == 1);
  check_path(star, Path::ring, 5e-6, 0.8e-9, "a ring");
}

TEST_CASE("the slowest links count, each end with half its latency") {
  Cluster star = star_cluster(8, 10_Gbps, 4_us);
  star.groups = {{1, 1.0, 5_Gbps, 10_us}};
  check_all(star, 7e-6, 1.6e-9, "one slow worker: 10/2 + 4/2 us, 5 Gb/s");
  check_path(star, Path::ring, 38e-6 / 8, 1.6e-9, "a ring's mean: six messages of 4 us, two of 7");
  CHECK_FALSE(prices_are_exact(star));
  star.ring_latency = RingLatency::slowest;
  check_path(star, Path::ring, 7e-6, 1.6e-9, "a ring's slowest hop");
  star.ring_latency = RingLatency::mean;
  star.groups = {{2, 1.0, {}, 10_us}};
  for (const Path path : {Path::neighbour, Path::far, Path::inner})
    check_path(star, path, 10e-6, 0.8e-9, "two slow workers talk to each other: 10/2 + 10/2 us");
  check_path(star, Path::shard, 7e-6, 0.8e-9, "a slow worker and a server: 10/2 + 4/2 us");
  star.groups = {{1, 1.0, {}, 10_us}, {1, 1.0, 100_Gbps, 2_us}};
  check_all(star, 7e-6, 0.8e-9, "10/2 + 4/2 us; the fast one changes nothing");
  star.groups = {{8, 1.0, 100_Gbps, 2_us}};
  for (const Path path : {Path::neighbour, Path::far, Path::inner})
    check_path(star, path, 2e-6, 0.08e-9, "all in the group: the plain link is nobody's");
  check_path(star, Path::shard, 3e-6, 0.08e-9, "but a server's: 2/2 + 4/2 us");
  star.groups = {{8, 0.5, {}, {}}};
  check_all(star, 4e-6, 0.8e-9, "a speed is no link");
  CHECK(prices_are_exact(star));
  check_all(star_cluster(1, 10_Gbps, 4_us), 4e-6, 0.8e-9, "alone");
}

TEST_CASE("machines share their NICs") {
  Cluster cluster = star_cluster(16, 100_Gbps, 5_us);
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 2};
  // Inner link 1/300e9 s/B and 1 us, NIC 0.08 ns/B and 5 us. A far round has 8 flows on 2 NICs, 4 on each.
  check_path(cluster, Path::inner, 1e-6, 1 / 300e9, "inner");
  check_path(cluster, Path::neighbour, 6e-6, 0.08e-9, "one flow leaves a machine: 1 + 5 us");
  check_path(cluster, Path::ring, 1.625e-6, 0.08e-9, "a ring's mean: 14 messages of 1 us, two of 6");
  check_path(cluster, Path::far, 6e-6, 0.32e-9, "4 flows a NIC");
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 3};
  check_path(cluster, Path::far, 6e-6, 0.24e-9, "8 GPUs on 3 NICs: 3 on the fullest");
  cluster.topology = Nodes{8, {BytesPerSecond(1e9), 1_us}, 8};
  check_path(cluster, Path::far, 6e-6, 1e-9, "slow inner links bound it");
  CHECK_FALSE(prices_are_exact(cluster));
  CHECK(natural_group(cluster) == 8);
  CHECK(machines(cluster).workers == 8);
  CHECK(machines(cluster).nics == 8);
  check_path(cluster, Path::shard, 5.5e-6, 0.08e-9,
             "a dedicated shard: half an inner link out of the machine, then a link");
  cluster.workers = 8;
  for (const Path path : {Path::neighbour, Path::far, Path::inner})
    check_path(cluster, path, 1e-6, 1e-9, "one machine: no NIC in the way");
}

TEST_CASE("machines of a rack share its uplink") {
  Cluster cluster = star_cluster(64, 100_Gbps, 5_us);
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 4, NodeRacks{2, 4.0, 3_us}};
  // The uplink is worth 2·4/4 = 2 links. One flow has its NIC's worth; 16 of a rack's workers have 1/8 each, 0.64 ns/B.
  check_path(cluster, Path::inner, 1e-6, 1 / 300e9, "inner");
  check_path(cluster, Path::neighbour, 9e-6, 0.08e-9, "one flow: 1 + 5 + 3 us");
  check_path(cluster, Path::ring, (64 * 1e-6 + 8 * 5e-6 + 4 * 3e-6) / 64, 0.08e-9,
             "8 of 64 by NICs, 4 of them by uplinks");
  check_path(cluster, Path::far, 9e-6, 0.64e-9, "16 flows on 2 links' worth");
  check_path(cluster, Path::shard, 8.5e-6, 0.08e-9, "a dedicated shard in another rack");
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 4, NodeRacks{2, 16.0, 3_us}};
  check_path(cluster, Path::neighbour, 9e-6, 0.16e-9, "an uplink of half a link");
  cluster.workers = 16;
  check_path(cluster, Path::far, 6e-6, 0.16e-9, "one rack: 2 flows a NIC");
  CHECK(natural_group(cluster) == 8);
}

TEST_CASE("racks share their uplinks") {
  Cluster cluster = star_cluster(32, 10_Gbps, 5_us);
  cluster.topology = Racks{16, 4.0, 2_us};
  // The uplink is worth 16/4 = 4 links. One flow has more than its own link's worth; 16 flows have a quarter each.
  check_path(cluster, Path::neighbour, 7e-6, 0.8e-9, "one flow: its own link");
  check_path(cluster, Path::ring, 5.125e-6, 0.8e-9, "a ring's mean: 30 messages of 5 us, two of 7");
  check_path(cluster, Path::far, 7e-6, 3.2e-9, "16 flows on 4 links' worth");
  cluster.topology = Racks{16, 32.0, 2_us};
  check_path(cluster, Path::neighbour, 7e-6, 1.6e-9, "an uplink of half a link: twice β");
  cluster.topology = Racks{16, 1.0, 0_us};
  check_path(cluster, Path::far, 5e-6, 0.8e-9, "no oversubscription");
  CHECK(natural_group(cluster) == 16);
  cluster.topology = Racks{32, 8.0, 2_us};
  for (const Path path : {Path::neighbour, Path::far, Path::inner})
    check_path(cluster, path, 5e-6, 0.8e-9, "one rack: nothing crosses an uplink");
  check_path(cluster, Path::shard, 7e-6, 0.8e-9, "but for a shard in another");
}

TEST_CASE("fabrics charge the latency of their longest route") {
  // A cable has half of the link's latency, as each end of the star's two.
  Cluster cluster = star_cluster(16, 10_Gbps, 4_us);
  cluster.topology = FatTree{{4, 4}, {1, 2}, {1, 1}};
  check_all(cluster, 8e-6, 0.8e-9, "fat tree of 2 levels: up 2 and down 2 cables of 2 us");
  cluster.topology = Torus{{4, 4, 3}};
  check_all(cluster, 10e-6, 0.8e-9, "torus: at most 2 + 2 + 1 hops of 2 us");
  cluster.topology = Dragonfly{2, 1, 2, 1, 2, 1, 2};
  // host, router, chassis (local, both ends), group: 2 + 2·2 + 1 = 7 cables
  check_all(cluster, 14e-6, 0.8e-9, "dragonfly: 7 cables of 2 us");
  cluster.topology = Dragonfly{1, 1, 1, 1, 8, 1, 2};
  check_all(cluster, 6e-6, 0.8e-9, "one chassis: host, router, host: 3 cables");
  CHECK_FALSE(prices_are_exact(cluster));
}

TEST_CASE("a push over shared NICs and uplinks, by hand") {
  // 2 machines of 8 GPUs with 2 NICs; inner links 24 times as fast as a NIC.
  Cluster cluster = star_cluster(16, 100_Gbps);
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 2};
  // One dedicated server: 16 n into its link; 4 n out of each NIC.
  require_close(16e6, shard_wire({1_MB}, cluster, false), 1e-12, "one dedicated server");
  // 16 of them: 16·n/16 into each; but 4 GPUs push n each through a NIC.
  require_close(4e6, shard_wire(std::vector<Bytes>(16, 1_MB / 16), cluster, false), 1e-12, "16 dedicated servers");
  // One co-located server: 8 workers push n each from the other machine, through one NIC.
  require_close(8e6, shard_wire({1_MB}, cluster, true), 1e-12, "one co-located server");
  // 2 of them, one on each machine: 8 push n/2 each into it, through one NIC, and out of it 4 by each.
  require_close(4e6, shard_wire(std::vector<Bytes>(2, 1_MB / 2), cluster, true), 1e-12, "2 co-located servers");
  // 4, two on each machine, on a NIC each: 8·n/4 into a NIC, 4·2·n/4 out of one.
  require_close(2e6, shard_wire(std::vector<Bytes>(4, 1_MB / 4), cluster, true), 1e-12, "4 co-located servers");
  // On one machine only inner links count, a 24th of a NIC's time for a byte: 7 n.
  cluster.workers = 8;
  require_close(7e6 / 24, shard_wire({1_MB}, cluster, true), 1e-12, "one machine");

  // 2 racks of 8 hosts, uplinks of 2 links' worth (o = 4).
  cluster = star_cluster(16, 10_Gbps);
  cluster.topology = Racks{8, 4.0, 0_us};
  // One dedicated server, in a rack of its own: 16 n into its link; 16 n over an uplink of twice its worth.
  require_close(16e6, shard_wire({1_MB}, cluster, false), 1e-12, "one dedicated server");
  // 8 of them: 16·n/8 into each; 16 n over their uplink: 8 n of a link's time.
  require_close(8e6, shard_wire(std::vector<Bytes>(8, 1_MB / 8), cluster, false), 1e-12, "8 dedicated servers");
  // One co-located: 15 n into its link; 8 n over the uplink: 4 n.
  require_close(15e6, shard_wire({1_MB}, cluster, true), 1e-12, "one co-located server");
  // 4, two in each rack: 8·2·n/4 over an uplink either way, 2 n of a link's time; 15·n/4 into each.
  require_close(3.75e6, shard_wire(std::vector<Bytes>(4, 1_MB / 4), cluster, true), 1e-12, "4 co-located servers");
  cluster.topology = Racks{8, 8.0, 0_us};
  require_close(4e6, shard_wire(std::vector<Bytes>(4, 1_MB / 4), cluster, true), 1e-12,
                "4 co-located servers, uplinks of one link's worth");
  // There are 12 workers; 4 of them and 4 dedicated servers are in the second rack. The pushes of the other 8 cross, 8
  // n.
  cluster.workers = 12;
  require_close(8e6, shard_wire(std::vector<Bytes>(4, 1_MB / 4), cluster, false), 1e-12,
                "servers in a rack with workers");
  // There are 10 workers; 2 of them are in the second rack with 6 of 9 servers, the last 3 servers in a third. The
  // first rack sends 8 n. The second receives 8·6/9 n and sends 2·3/9 n. The third receives 10·3/9 n.
  cluster.workers = 10;
  require_close(8e6, shard_wire(std::vector<Bytes>(9, 1_MB / 9), cluster, false), 1e-12, "servers in two racks");
  // 4 workers and 4 servers in one rack: no uplink at all, n out of each worker, at the latency of the hosts' links.
  cluster.workers = 4;
  cluster.link.latency = 5_us;
  cluster.topology = Racks{8, 8.0, 2_us};
  const CostTerms one_rack = CachedPrices(cluster).shard_terms(std::vector<Bytes>(4, 1_MB / 4), false);
  require_close(1e6, one_rack.total_wire().si(), 1e-12, "servers and workers in one rack");
  require_close(5e-6, price(one_rack, collective_prices(cluster)).latency.si(), 1e-12, "one rack: α");
  require_close(
      7e-6,
      price(CachedPrices(cluster).shard_terms(std::vector<Bytes>(5, 1_MB / 5), false), collective_prices(cluster))
          .latency.si(),
      1e-12, "a server in a second rack: α");
  require_close(
      5e-6,
      price(CachedPrices(cluster).shard_terms(std::vector<Bytes>(4, 1_MB / 4), true), collective_prices(cluster))
          .latency.si(),
      1e-12, "co-located in one rack: α");
  cluster.link.latency = 0_us;
  cluster.topology = Racks{8, 4.0, 0_us};
  cluster.workers = 16;

  // All workers have links of 40 Gb/s, four times the shard's: in bytes of theirs 64 n go into it.
  cluster.groups = {{16, 1.0, 40_Gbps, {}}};
  require_close(64e6, shard_wire({1_MB}, cluster, false), 1e-12, "a server with a slower link than all workers");
  // Co-located it has theirs: 15 n; 8 n over the uplink are 4 n of a plain link's time, 16 n of theirs.
  require_close(16e6, shard_wire({1_MB}, cluster, true), 1e-12,
                "a co-located server with a faster link than the uplink counts by");
  // One worker's link is half as fast, so a byte of its time is two bytes of an uplink's. For 8 servers, 4 n of their 8
  // n are left there. For 16 co-located shards, 8·8·n/16 over 2 links' worth is 2 n, and 1 n is left.
  cluster.groups = {{1, 1.0, 5_Gbps, {}}};
  require_close(4e6, shard_wire(std::vector<Bytes>(8, 1_MB / 8), cluster, false), 1e-12,
                "a worker slower than the uplink, dedicated");
  require_close(1e6, shard_wire(std::vector<Bytes>(16, 1_MB / 16), cluster, true), 1e-12,
                "a worker slower than the uplink, co-located");
  cluster.groups.clear();

  // A star has nothing to share but hosts' links.
  cluster.topology = Star{};
  require_close(16e6, shard_wire({1_MB}, cluster, false), 1e-12, "star");
}

TEST_CASE("a push takes no less than its busiest link") {
  property(
      "on nodes and racks, dedicated and co-located",
      [] {
        const bool co_located = coin();
        const int size = integer_between(1, 6), groups = integer_between(1, 4),
                  p = size * groups - integer_between(0, size - 1);  // the last group may be smaller
        Cluster cluster = star_cluster(p, 10_Gbps);
        const auto node_racks =
            coin() ? std::optional<NodeRacks>{} : NodeRacks{integer_between(1, 4), real_between(1, 8), 1_us};
        if (coin())
          cluster.topology = Nodes{size,
                                   {BytesPerSecond(positive_between(1e9, 1e12)), 1_us},
                                   integer_between(1, size),
                                   node_racks,
                                   coin() ? NicOfGpu::in_turn : NicOfGpu::neighbours};
        else cluster.topology = Racks{size, real_between(1, 8), 1_us};
        const int count = integer_between(1, co_located ? p : 10);
        const bool equal = coin();
        std::vector<Bytes> shards;
        for (int j = 0; j < count; ++j) shards.emplace_back(equal ? 1000 : integer_between(1, 1000));
        const double least = busiest_link(shards, cluster, co_located), found = shard_wire(shards, cluster, co_located);
        const std::string what = fmt::format("{} shards, {} groups of {}, co-located {}: {} for {}", count, groups,
                                             size, co_located, found, least);
        if (found < least * (1 - 1e-9)) RC_FAIL(what);
        // No more is counted than crosses that link: not what stays in a machine or rack. Unequal shards on hosts of
        // their own end one after the other, and leave their links idle then.
        if ((co_located || equal) && found > least * (1 + 1e-9)) RC_FAIL(what);
      },
      3000);
}

TEST_CASE("a fabric costs only the parts in use") {
  // The largest network that check accepts would have 16 GB of links and take minutes.
  const auto links_used = [](const Topology& topology) {
    Cluster large = star_cluster(16, 100_Gbps, 5_us);
    large.topology = topology;
    REQUIRE(link_count(topology).value_or(0) <= kMostLinks);
    Fabric fabric(large, 0);
    for (int from = 0; from < 16; ++from)
      for (int to = 0; to < 16; ++to) {
        if (from == to) continue;
        Fabric::Route route;
        fabric.append_route(from, to, route);
        for (const int link : route) CHECK(fabric.links().at(link).bandwidth == BytesPerSecond(12.5e9));
      }
    return fabric.links().size();
  };
  // One chassis: a host cable forth and back for each of 16 routers, and a link for each ordered pair of them.
  CHECK(links_used(Dragonfly{1, 1, 1, 1, 32766, 1, 1}) == 32 + 240);
  // Switches of 4 hosts. There are 2·16 host cables. The destination chooses the port up: 12 in each of 4 switches. The
  // source chooses among the cables down: one for each of 16·12 routes.
  CHECK(links_used(FatTree{{4, 4}, {1, 8192}, {1, 8192}}) == 32 + 48 + 192);
  // 16 in a row, 15 cables each way.
  CHECK(links_used(Torus{{1 << 23, 2}}) == 30);
  // One machine, whose NICs 16 workers can use 16 of, and 3 shards' machines with a NIC each; one rack.
  Cluster cluster = star_cluster(16, 100_Gbps, 5_us);
  cluster.topology = Nodes{2000000000, {100_GBps, 1_us}, 2000000000};
  CHECK(Fabric(cluster, 3).links().size() == 2 * (16 + 3 + 16 + 3));
  cluster.topology = Racks{2000000000, 1.0, 0_us};
  CHECK(Fabric(cluster, 3).links().size() == 2 * (16 + 3 + 1));
  CHECK(link_count(FatTree{{4, 4}, {1, 65536}, {1, 65536}}) == 2 * (16 + 4 * (1L << 32)));
  CHECK(link_count(Torus{{4, 1, 3}}) == 2 * 2 * 12);
  // 12 routers with 2 hosts of 2 links, 3 in their chassis and 2 chassis; 2 groups.
  CHECK(link_count(Dragonfly{2, 9, 2, 9, 3, 9, 2}) == 12 * (4 + 3 + 2) + 4);
  CHECK(!link_count(Star{}));
}

TEST_CASE("a round in a fabric takes as long as its most loaded link") {
  // Two groups of 2 chassis of 4 routers of 2 hosts, with one cable between the groups. In the first round of far-first
  // halving-doubling of 100 MB, all 16 hosts of a group send 50 MB to the other group. They take 16·50 MB / 12.5 GB/s
  // = 64 ms, and once more in the last round.
  Cluster cluster = star_cluster(32, 100_Gbps);
  cluster.topology = Dragonfly{2, 1, 2, 1, 4, 1, 2};
  CollectiveParameters far_first;
  far_first.exchange_order = ExchangeOrder::far_first;
  const Schedule schedule = find_algorithm(Operation::all_reduce, Algorithm::halving_doubling).schedule(32, far_first);
  Fabric fabric(cluster, 0);
  const RoundFlows first(schedule.round(0), fabric);
  require_close(0.064, first.duration(100_MB / schedule.blocks).bandwidth.si(), 1e-12,
                "16 flows over the cable between groups");
  require_close(0.064, first.least(100_MB / schedule.blocks).si(), 1e-12, "none is faster");

  // The ring sends one message of 100/32 MB each way between the groups, and elsewhere no two over one cable: 62 rounds
  // of 3.125 MB / 12.5 GB/s = 0.25 ms.
  const CachedPrices prices(cluster);
  CHECK(prices.decide(Operation::all_reduce, {}, 100_MB).algorithm->algorithm == Algorithm::ring);
  const CollectiveCall ring = prices.decide(Operation::all_reduce, {Algorithm::ring, {}, {}}, 100_MB);
  require_close(62 * 0.25e-3, prices(ring).total().si(), 1e-12, "ring");
  // On the star halving-doubling sends as many bytes in fewer messages.
  Cluster star = star_cluster(32, 100_Gbps, 5_us);
  CHECK(CachedPrices(star).decide(Operation::all_reduce, {}, 100_MB).algorithm->algorithm ==
        Algorithm::halving_doubling);
}

TEST_CASE("several rings on two machines of four workers with two NICs, message by message") {
  // Worker l of a machine has NIC l mod 2. Ring 0 goes 1 2 3 0, out by worker 0's NIC 0, into worker 5's NIC 1 of the
  // other machine, 5 6 7 4 and back. Ring 1 goes 2 3 0 1, out by NIC 1, into worker 6's NIC 0, 6 7 4 5 and back.
  Cluster cluster = star_cluster(8, 10_Gbps, 25_us);
  cluster.topology = Nodes{4, {100_GBps, 3_us}, 2};
  const CachedPrices prices(cluster);
  CollectiveChoice choice;
  choice.algorithm = Algorithm::multi_ring;
  const CollectiveCall call = prices.decide(Operation::all_reduce, choice, 80_MB);
  CHECK(call.parameters.rings == 2);
  const Round round = call.algorithm->schedule(8, call.parameters).round(0);
  const int ends[][2] = {{1, 2}, {2, 3}, {3, 0}, {0, 5}, {5, 6}, {6, 7}, {7, 4}, {4, 1},
                         {2, 3}, {3, 0}, {0, 1}, {1, 6}, {6, 7}, {7, 4}, {4, 5}, {5, 2}};
  REQUIRE(round.size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(round[i].from == ends[i][0]);
    CHECK(round[i].to == ends[i][1]);
  }
  // Blocks on each link. A cable inside is two links, the worker's out and in; after 8 of those come two NICs for each
  // machine.
  Fabric fabric(cluster, 0);
  std::vector<int> load(fabric.links().size(), 0);
  for (const Message& m : round) {
    Fabric::Route route;
    fabric.append_route(m.from, m.to, route);
    for (const int link : route) ++load[link];
  }
  std::vector<int> expected(2 * 8, 2);        // each worker sends and receives a block of each ring
  expected.insert(expected.end(), 2 * 4, 1);  // each NIC one each way
  CHECK(load == expected);
  // 14 rounds of 3 us, 25 us more for two of each ring's 8 messages, and 80/16 MB at 10 Gb/s. This is more than 10 MB
  // take inside. The closed form agrees.
  require_close(14 * (9.25e-6 + 4e-3), prices(call).total().si(), 1e-12, "by routes");
  require_close(14 * (9.25e-6 + 4e-3),
                price(call.algorithm->cost(80_MB, 8, call.parameters), collective_prices(cluster)).total().si(), 1e-12,
                "closed form");
  CHECK(prices.slack(call) == 0_s);
}

TEST_CASE("many rings are priced as their closed form says where the NICs are the bound") {
  property(
      "machines of any size, NICs and rings",
      [] {
        const int g = integer_between(2, 8), machines_of = integer_between(2, 6), nics = integer_between(1, g);
        Cluster cluster = star_cluster(g * machines_of, 10_Gbps, 25_us);
        cluster.topology = Nodes{g, {BytesPerSecond(1e15), 3_us}, nics};
        CollectiveChoice choice;
        choice.algorithm = Algorithm::multi_ring;
        choice.rings.value = integer_between(1, g);
        const CachedPrices prices(cluster);
        const Operation operation =
            std::array{Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter}[integer_between(0, 2)];
        const CollectiveCall call = prices.decide(operation, choice, Bytes(positive_between(1e6, 1e9)));
        assert_close(
            price(call.algorithm->cost(call.bytes, cluster.workers, call.parameters), collective_prices(cluster))
                .total()
                .si(),
            prices(call).total().si(), 1e-9, "closed form and routes");
      },
      200);
}

TEST_CASE("messages of unlike latencies share a link while both are on it") {
  // Two racks of two hosts, each with an uplink worth one link of 1 GB/s. A, 0 → 2, has 2/2 + 2/2 = 2 us of latency, B,
  // 1 → 3, 2/2 + 6/2 = 4 us; both have 4 kB. A is alone on the uplink from 2 to 4 us and sends 2 kB. Both then have
  // half of it until A ends after 4 us more, at 8 us. B has sent 2 kB by then, and is alone until it ends at 10 us.
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9), 2_us);
  cluster.topology = Racks{2, 2.0, 0_us};
  cluster.groups = {{1, 1.0, {}, 6_us}};
  const Round round = {{0, 2, {0, 4}, false}, {1, 3, {0, 4}, false}};
  Fabric fabric(cluster, 0);
  const RoundFlows flows = followed_flows(round, fabric);
  const RoundFlows::Duration time = flows.duration(1_kB);
  require_close(4e-6, time.latency.si(), 1e-12, "the longer route");
  require_close(6e-6, time.bandwidth.si(), 1e-12, "the rest");
  require_close(10e-6, flows.least(1_kB).si(), 1e-12, "from 2 us on the uplink is never idle: 2 us + 8 kB / 1 GB/s");
  // With B's latency the same as A's: 2 us + 8 kB / 1 GB/s.
  cluster.groups.clear();
  fabric = Fabric(cluster, 0);
  require_close(10e-6, RoundFlows(round, fabric).duration(1_kB).total().si(), 1e-12, "alike");
  // Unlike sizes: B of 1 kB. Both at 0.5 GB/s until B ends after 2 us, A then has 3 kB left: 2 + 2 + 3 us.
  const RoundFlows unlike = followed_flows({{0, 2, {0, 4}, false}, {1, 3, {0, 1}, false}}, fabric);
  require_close(5e-6, unlike.duration(1_kB).bandwidth.si(), 1e-12, "unlike sizes");
}

TEST_CASE("auto is within 1 % of the best that may be chosen, parameters too") {
  property(
      "any topology, size and number of workers",
      [] {
        const int p = 8 * integer_between(1, 6);
        Cluster cluster =
            star_cluster(p, BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-4)));
        switch (integer_between(0, 6)) {
          case 0:
            cluster.topology = Nodes{4, {BytesPerSecond(positive_between(1e9, 1e12)), 1_us}, integer_between(1, 4)};
            break;
          case 1: cluster.topology = Racks{4, real_between(1, 8), 1_us}; break;
          case 2: cluster.topology = FatTree{{4, p / 4}, {1, 2}, {1, 1}}; break;
          case 3: cluster.topology = Torus{{4, p / 4}}; break;
          case 4: cluster.topology = Dragonfly{p / 8, 1, 1, 1, 8, 1, 1}; break;
          case 5:
            cluster.topology =
                Nodes{2, {BytesPerSecond(positive_between(1e9, 1e12)), 1_us}, 2, NodeRacks{2, 4.0, 2_us}};
            break;
          default: cluster.groups = {{1, 1.0, BytesPerSecond(positive_between(1e8, 1e11)), 1_us}}; break;
        }
        if (coin()) cluster.in_network_factor = real_between(0.1, 1.0);
        const auto switches_can = [&](Algorithm algorithm, int group = 1) {
          return algorithm != Algorithm::in_network ||
                 (cluster.in_network_factor && group % host_costs(cluster).workers_of_machine == 0);
        };
        const Bytes n(positive_between(1, 1e9));
        const CachedPrices prices(cluster);
        const auto operation = static_cast<Operation>(integer_between(0, 4));
        const Seconds chosen = prices(prices.decide(operation, {}, n)).total();
        const auto check = [&](const CollectiveChoice& choice) {
          const CollectiveCall other = prices.decide(operation, choice, n);
          if (prices(other).total() * 1.01 < chosen)
            RC_FAIL(fmt::format("{} in groups of {} with {} rings and {} segments takes {} s, the chosen one {} s",
                                name_of(choice.algorithm), other.parameters.group_size, other.parameters.rings,
                                other.parameters.segments, prices(other).total().si(), chosen.si()));
        };
        std::vector<int> levels = machines(cluster).levels;
        levels.push_back(std::max(1, machines(cluster).workers));
        for (const CollectiveAlgorithm& entry : collective_algorithms()) {
          if (entry.operation != operation || !switches_can(entry.algorithm)) continue;
          const Algorithm algorithm = entry.algorithm;
          if (algorithm == Algorithm::hierarchical) {
            for (const int group : levels)
              for (const Algorithm between : algorithms_between(operation))
                if (p % group == 0 && switches_can(between, group)) check({algorithm, {group}, {}, {}, between});
          } else if (algorithm == Algorithm::multi_ring) {
            for (int rings = 1; rings <= std::min(machines(cluster).nics, p); ++rings)
              check({algorithm, {}, {}, {rings}});
          } else if (algorithm == Algorithm::double_binary_tree) {
            for (const int segments : {1, 2, 3, 5, 9, 15, 28, 100})
              if (segments * 2.0 <= n.si()) check({algorithm, {}, {segments}});
          } else if (algorithm == Algorithm::nccl_tree) {
            for (const int segments : {1, 2, 4, 16, 64, 256})
              if (segments * 2.0 * machines(cluster).nics <= n.si()) check({algorithm, {}, {segments}});
          } else {
            check({algorithm, {}, {}});
          }
        }
      },
      300);
}

TEST_CASE("dedicated servers in the workers' only rack of machines are reached without its uplink") {
  // Unequal shards, whose flows are not simulated. 4 workers are in 2 machines. Half a NIC's 10 us, half an inner
  // link's 2 us and half of the server's 10 us make 11 us. Into the server's 1 GB/s, 4 pushes of 3 MB take 12 ms.
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9), 10_us);
  cluster.stack.host_cost = cluster.reduction_cost = SecondsPerByte{};
  const std::vector<Bytes> shards = {1_MB, 3_MB};
  const auto latency = [&](int machines_per_rack) {
    cluster.topology = Nodes{2, {BytesPerSecond(1e11), 2_us}, 2, NodeRacks{machines_per_rack, 1.0, 1_ms}};
    return CachedPrices(cluster).shards(ShardExchange::push, shards, false).latency.si();
  };
  require_close(11e-6, latency(4), 1e-12, "two machines and two servers in one rack");
  require_close(1.011e-3, latency(3), 1e-12, "one server in another");
}

TEST_CASE("pushes and pulls over unlike links and in fabrics are followed") {
  // One server behind 1 GB/s and 10 us, and two workers of 1 MB. One is 10/2 + 10/2 = 10 us from it, the other 30/2 +
  // 10/2 = 20 us. The server's link is busy from 10 us on, with 2 MB.
  Cluster cluster = star_cluster(2, BytesPerSecond(1e9), 10_us);
  cluster.stack.host_cost = cluster.reduction_cost = SecondsPerByte{};
  cluster.groups = {{1, 1.0, {}, 30_us}};
  const std::vector<Bytes> one = {1_MB};
  for (const ShardExchange exchange : {ShardExchange::push, ShardExchange::pull}) {
    const PricedCost cost = CachedPrices(cluster).shards(exchange, one, false);
    require_close(20e-6, cost.latency.si(), 1e-12, "the longer route");
    require_close(10e-6 + 2e-3, cost.total().si(), 1e-12, "busy from the first message on");
  }
  // Each worker also copies its 1 MB. With unlike servers, each counts as if it had the larger's 3 MB from both: 6 ms,
  // 20 us away.
  cluster.stack.host_cost = 1_ns_per_B;
  require_close(10e-6 + 3e-3, CachedPrices(cluster).shards(ShardExchange::push, one, false).total().si(), 1e-12,
                "copied as well");
  cluster.stack.host_cost = SecondsPerByte{};
  require_close(20e-6 + 6e-3,
                CachedPrices(cluster).shards(ShardExchange::push, std::vector<Bytes>{1_MB, 3_MB}, false).total().si(),
                1e-12, "unequal servers");
  // A ring of four with the server at host 3. Hosts 0 and 2 are beside it, half a link's latency away. Host 1 comes in
  // through one of them. That one's link to the server carries 2 MB, the other's 1 MB.
  cluster = star_cluster(3, BytesPerSecond(1e9), 10_us);
  cluster.stack.host_cost = cluster.reduction_cost = SecondsPerByte{};
  cluster.topology = Torus{{4}};
  require_close(5e-6 + 2e-3, CachedPrices(cluster).shards(ShardExchange::push, one, false).total().si(), 1e-12,
                "two ways into the server");
  // The terms alone: as if all three came in by one.
  require_close(3e-3, CachedPrices(cluster).shard_terms(one, false).total_wire().si() / 1e9, 1e-12, "one link");
}

TEST_CASE("prices are kept for the clusters asked for last, and are those of each") {
  const CollectiveCall call{&find_algorithm(Operation::all_reduce, Algorithm::ring), {}, 1_MB};
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i <= RecentPrices::kMost; ++i) {
    clusters.push_back(star_cluster(8, BytesPerSecond(1e9), Seconds(1e-6 * static_cast<double>(i + 1))));
    clusters.back().topology = Torus{{2, 4}};
  }
  RecentPrices recent;
  const ClusterPrices* first = &recent.of(clusters[0]);
  const Cluster equal = clusters[0];
  for (std::size_t i = 1; i < RecentPrices::kMost; ++i) {
    recent.of(clusters[i]);
    CHECK(&recent.of(equal) == first);
  }
  // Cluster 1 is now the one that was asked for longest ago, and goes for the one too many.
  const ClusterPrices* second = &recent.of(clusters[2]);
  recent.of(clusters.back());
  CHECK(&recent.of(clusters[0]) == first);
  CHECK(&recent.of(clusters[2]) == second);
  for (int time = 0; time < 2; ++time)
    for (const Cluster& cluster : clusters) {
      INFO(cluster.link.latency.si());
      CHECK(recent.of(cluster).cluster() == cluster);
      CHECK(recent.of(cluster)(call).total() == CachedPrices(cluster)(call).total());
    }
}

TEST_CASE("a round is within its bounds, and exact once it is followed, however many messages it has") {
  // The two racks above, for every two messages. The last pair's B is the slow one, so the round takes 10 us. Each
  // uplink has 8 kB for its 1 GB/s, from 2 us on: at least 10 us. With half of it, A ends by 2 + 8 = 10 us. B starts at
  // 4 us and has sent 6/8 of its 4 kB by then. It has the uplink alone for the other 1 kB: at most 11 us.
  for (const int pairs : {2, 2048, 4096}) {
    Cluster cluster = star_cluster(4 * pairs, BytesPerSecond(1e9), 2_us);
    cluster.topology = Racks{2, 2.0, 0_us};
    cluster.groups = {{1, 1.0, {}, 6_us}};
    Round round;
    for (int first = 0; first < 4 * pairs; first += 4) {
      round.push_back({first, first + 2, {0, 4}, false});
      round.push_back({first + 1, first + 3, {0, 4}, false});
    }
    Fabric fabric(cluster, 0);
    RoundFlows flows(round, fabric);
    CHECK_FALSE(flows.is_exact());
    require_close(10e-6, flows.least(1_kB).si(), 1e-12, "at least");
    require_close(11e-6, flows.most(1_kB).si(), 1e-12, "at most");
    require_close(10.5e-6, flows.duration(1_kB).total().si(), 1e-12, "the middle");
    CHECK(flows.follow(round, fabric));
    require_close(10e-6, flows.duration(1_kB).total().si(), 1e-12, "followed");
  }
}

TEST_CASE("the most that a round of unlike messages takes is its slowest flow's at fair shares of full links") {
  // A and B share the uplink of 1 GB/s all the time: A's 4 kB at half of it take 8 us, after 2 us.
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9), 2_us);
  cluster.topology = Racks{2, 2.0, 0_us};
  Fabric fabric(cluster, 0);
  const RoundFlows flows({{0, 2, {0, 4}, false}, {1, 3, {0, 1}, false}}, fabric);
  require_close(10e-6, flows.most(1_kB).si(), 1e-12, "at most");
  require_close(7e-6, flows.least(1_kB).si(), 1e-12, "at least the 5 kB that pass the uplink");
}

TEST_CASE("flows of a shorter latency do not slow bytes that others send after their end") {
  // Two racks of two hosts; the uplink has 1 GB/s. A, 0 to 2, and B, 1 to 2, have 2 us of latency; C, 0 to 3, has
  // 2/2 + 6/2 = 4 us. All send 3 kB. Fair shares of the uplink, a third of it, end A and B by 2 + 9 = 11 us. C has sent
  // (11 - 4) / 9 of its bytes by then. No other flow has 4 us, so the remaining 2/9 of 3 kB take 2/9 · 3 us. With a third
  // of the uplink to its end C would take 4 + 9 = 13 us.
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9), 2_us);
  cluster.topology = Racks{2, 2.0, 0_us};
  cluster.groups = {{1, 1.0, {}, 6_us}};
  const Round round = {{0, 2, {0, 3}, false}, {1, 2, {0, 3}, false}, {0, 3, {0, 3}, false}};
  Fabric fabric(cluster, 0);
  const RoundFlows flows(round, fabric);
  require_close(11e-6 + 2e-6 / 3, flows.most(1_kB).si(), 1e-12, "at most");
}

TEST_CASE("any round ends between its bounds") {
  property(
      "messages of any size between any hosts of machines, racks, tori and fat trees",
      [] {
        const int p = 4 * integer_between(2, 6);
        Cluster cluster = star_cluster(p, BytesPerSecond(1e9), Seconds(positive_between(1e-7, 1e-5)));
        switch (integer_between(0, 3)) {
          case 0:
            cluster.topology = Nodes{4, {BytesPerSecond(positive_between(5e8, 1e11)), 1_us}, integer_between(1, 4)};
            break;
          case 1: cluster.topology = Racks{4, real_between(1, 8), 1_us}; break;
          case 2: cluster.topology = FatTree{{4, p / 4}, {1, 2}, {1, 1}}; break;
          default: cluster.topology = Torus{{4, p / 4}}; break;
        }
        Round round;
        for (int i = integer_between(1, 3 * p); i > 0; --i) {
          const int from = integer_between(0, p - 1), to = (from + integer_between(1, p - 1)) % p;
          round.push_back({from, to, {0, integer_between(1, 5)}, false});
        }
        Fabric fabric(cluster, 0);
        RoundFlows flows(round, fabric);
        const Bytes block(positive_between(1, 1e5));
        const Seconds least = flows.least(block), most = flows.most(block);
        RC_ASSERT(flows.follow(round, fabric));
        const Seconds time = flows.duration(block).total();
        if (time < least * (1 - 1e-9) || time > most * (1 + 1e-9))
          RC_FAIL(fmt::format("{} s is not in {} .. {} s", time.si(), least.si(), most.si()));
      },
      500);
}

// One of the workers has 1 Gb/s, all other links 10 Gb/s; n = 1 MB.
TEST_CASE("with unlike links a push waits for the busiest host, not for all at the slowest link") {
  const auto seconds = [](int workers, int shards, bool co_located) {
    Cluster cluster = star_cluster(workers, BytesPerSecond(1.25e9));
    cluster.groups = {{.count = 1, .bandwidth = BytesPerSecond(1.25e8)}};
    return price(CachedPrices(cluster).shard_terms(std::vector<Bytes>(shards, 1_MB / shards), co_located),
                 collective_prices(cluster))
        .bandwidth.si();
  };
  require_close(8e-3, seconds(4, 1, false), 1e-12, "the slow worker's 1 MB, longer than the server's 4 MB in 3.2 ms");
  require_close(12.8e-3, seconds(16, 1, false), 1e-12, "the server's 16 MB");
  require_close(8e-3, seconds(16, 2, false), 1e-12, "two servers' 8 MB each take 6.4 ms");
  require_close(8e-3, seconds(4, 2, true), 1e-12, "servers beside workers 0 and 1");
  require_close(8e-3, seconds(4, 1, true), 1e-12, "a server beside worker 0");
  require_close(6e-3, seconds(4, 4, true), 1e-12, "a server beside the slow worker: 3/4 MB in, and as much out");
  // Two of three are slow. One is beside a server of 1 MB, so it sends 3 MB and takes 2. The other sends all 4 MB.
  Cluster two_slow = star_cluster(3, BytesPerSecond(1.25e9));
  two_slow.groups = {{.count = 2, .bandwidth = BytesPerSecond(1.25e8)}};
  require_close(
      32e-3,
      price(CachedPrices(two_slow).shard_terms(std::vector<Bytes>{3_MB, 1_MB}, true), collective_prices(two_slow))
          .bandwidth.si(),
      1e-12, "a slow worker without a server");
}

TEST_CASE("a collective uses its fastest protocol") {
  // A ring of 8 has 14 messages, and 14/8 of n on the busiest link. Quick: 14·10 us + 1.75 n/(2.5 GB/s); wide: 14·40 us
  // + 1.75 n/(10 GB/s). 100 kB take 140 + 70 us against 560 + 17.5 us; 8 MB take 140 + 5600 us against 560 + 1400 us.
  // They are equal for 420 us = 1.75 n·(0.4 - 0.1) ns, 800 kB.
  Cluster cluster = star_cluster(8, BytesPerSecond(10e9), 10_us);
  const PricedCost neighbours = CachedPrices(cluster).neighbours({}, 1_MB, 1_MB),
                   shards = CachedPrices(cluster).shards(ShardExchange::push, std::vector<Bytes>{1_MB}, false);
  cluster.protocols = {{"quick", 1, 0.25}, {"wide", 4, 1}};
  const CachedPrices prices(cluster);
  const auto ring = [&](Bytes n) { return prices.decide(Operation::all_reduce, {Algorithm::ring, {}, {}}, n); };
  CHECK((ring(100_kB).protocol == 0 && ring(799_kB).protocol == 0));
  CHECK((ring(801_kB).protocol == 1 && ring(8_MB).protocol == 1));
  require_close(210e-6, prices(ring(100_kB)).total().si(), 1e-12, "quick");
  require_close(1960e-6, prices(ring(8_MB)).total().si(), 1e-12, "wide");
  require_close(560e-6, prices(ring(8_MB)).latency.si(), 1e-12, "of it latency");
  // A call that is no collective has the links as they are.
  CHECK(prices.neighbours({}, 1_MB, 1_MB).total() == neighbours.total());
  CHECK(prices.shards(ShardExchange::push, std::vector<Bytes>{1_MB}, false).total() == shards.total());
  // "auto" has the best of both. For 2 MB, halving-doubling's 6 messages take 6·40 us + 1.75·2 MB/(10 GB/s) = 590 us.
  // The 3 of recursive doubling take 120 + 600 us, quickly 30 us + 2.4 ms.
  const CollectiveCall best = prices.decide(Operation::all_reduce, {}, 2_MB);
  CHECK((best.algorithm->algorithm == Algorithm::halving_doubling && best.protocol == 1));
  require_close(590e-6, prices(best).total().si(), 1e-12, "auto");
}

TEST_CASE("a protocol takes its own time to begin, and each byte of a buffer its own") {
  // The ring of 8 above: quick now takes 30 us to begin, wide 330 us more. 8 MB take 30 + 330 + 560 + 1400 us, and
  // 8 MB·2 ps/B = 16 us. Quick is the faster up to 750 us = 1.75 n·0.3 ns: 420 us of latency and 330 us.
  Cluster cluster = star_cluster(8, BytesPerSecond(10e9), 10_us);
  cluster.collective_cost = 30_us;
  cluster.collective_byte_cost = SecondsPerByte(2e-12);
  cluster.protocols = {{"quick", 1, 0.25}, {"wide", 4, 1, 330_us}};
  const CachedPrices prices(cluster);
  const auto ring = [&](Bytes n) { return prices.decide(Operation::all_reduce, {Algorithm::ring, {}, {}}, n); };
  const double equal = 750e-6 / (1.75 * 0.3e-9);
  CHECK(ring(Bytes(0.999 * equal)).protocol == 0);
  CHECK(ring(Bytes(1.001 * equal)).protocol == 1);
  require_close(2336e-6, prices(ring(8_MB)).total().si(), 1e-12, "wide");
  require_close(376e-6, prices(ring(8_MB)).setup.si(), 1e-12, "of it set-up");
  cluster.workers = 1;  // one worker has nothing to do
  const CachedPrices alone(cluster);
  CHECK(alone(alone.decide(Operation::all_reduce, {}, 8_MB)).total() == 0_s);
}

TEST_CASE("a protocol's links are the cluster's, all as much slower") {
  // By hand: every latency three times as long, of every bandwidth a half.
  Cluster nodes = star_cluster(24, 10_Gbps, 25_us), slow = star_cluster(24, 5_Gbps, 75_us);
  nodes.topology = Nodes{4, {100_GBps, 3_us}, 2, NodeRacks{2, 5.0, 7_us}};
  slow.topology = Nodes{4, {50_GBps, 9_us}, 2, NodeRacks{2, 5.0, 21_us}};
  Cluster racks = star_cluster(10, 10_Gbps, 25_us), slow_racks = star_cluster(10, 5_Gbps, 75_us);
  racks.topology = Racks{4, 3.0, 2_us};
  slow_racks.topology = Racks{4, 3.0, 6_us};
  racks.groups = {{3, 1.0, 4_Gbps, 60_us}};
  slow_racks.groups = {{3, 1.0, 2_Gbps, 180_us}};
  Cluster torus = star_cluster(12, 10_Gbps, 25_us), slow_torus = star_cluster(12, 5_Gbps, 75_us);
  torus.topology = slow_torus.topology = Torus{{3, 4}};
  for (const auto& [cluster, other] : {std::pair(&nodes, &slow), {&racks, &slow_racks}, {&torus, &slow_torus}}) {
    cluster->stack.host_cost = other->stack.host_cost = SecondsPerByte(0.1e-9);
    cluster->protocols = {{"slow", 3, 0.5}};
    const CachedPrices prices(*cluster), others(*other);
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      CollectiveChoice choice;
      choice.algorithm = entry.algorithm;
      if (entry.algorithm == Algorithm::hierarchical) choice.group_size.value = 2;
      const CollectiveCall call = others.decide(entry.operation, choice, 10_MB);
      require_close(others(call).total().si(), prices(prices.decide(entry.operation, choice, 10_MB)).total().si(),
                    1e-12, fmt::format("{} {}", name_of(entry.operation), name_of(entry.algorithm)));
    }
  }
}
