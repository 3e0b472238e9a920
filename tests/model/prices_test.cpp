// What each topology charges for the paths of collectives, worked out by hand.
#include "models/strategy/prices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/scenario.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

void check_path(const Cluster& cluster, Path path, double alpha, double beta, const std::string& what) {
  const PathPrice found = collective_prices(cluster).path[static_cast<int>(path)];
  require_close(alpha, found.alpha.si(), 1e-12, what + ": α");
  require_close(beta, found.beta.si(), 1e-12, what + ": β");
}

void check_all(const Cluster& cluster, double alpha, double beta, const std::string& what) {
  for (const Path path : {Path::neighbour, Path::far, Path::inner}) check_path(cluster, path, alpha, beta, what);
}

}  // namespace

TEST_CASE("a star charges its link") {
  Cluster star = star_cluster(8, 10_Gbps, 5_us);
  star.reduction_cost = 0.3_ns_per_B;
  star.host_cost = 0.1_ns_per_B;
  star.collective_cost = 20_us;
  check_all(star, 5e-6, 0.8e-9, "star");  // 1 / (10e9/8 B/s) = 0.8 ns/B
  const Prices prices = collective_prices(star);
  CHECK(prices.gamma == 0.3_ns_per_B);
  CHECK(prices.host == 0.1_ns_per_B);
  CHECK(prices.setup == 20_us);
  CHECK(prices_are_exact(star));
  CHECK(natural_group(star) == 1);
  CHECK(direct_price(star).alpha == 5_us);
}

TEST_CASE("the slowest links count, each end with half its latency") {
  Cluster star = star_cluster(8, 10_Gbps, 4_us);
  star.groups = {{1, 1.0, 5_Gbps, 10_us}};
  check_all(star, 7e-6, 1.6e-9, "one slow worker: 10/2 + 4/2 us, 5 Gb/s");
  CHECK_FALSE(prices_are_exact(star));
  star.groups = {{2, 1.0, {}, 10_us}};
  check_all(star, 10e-6, 0.8e-9, "two slow workers talk to each other: 10/2 + 10/2 us");
  star.groups = {{1, 1.0, {}, 10_us}, {1, 1.0, 100_Gbps, 2_us}};
  check_all(star, 7e-6, 0.8e-9, "10/2 + 4/2 us; the fast one changes nothing");
  star.groups = {{8, 1.0, 100_Gbps, 2_us}};
  check_all(star, 2e-6, 0.08e-9, "all in the group: the plain link is nobody's");
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
  check_path(cluster, Path::far, 6e-6, 0.32e-9, "4 flows a NIC");
  cluster.topology = Nodes{8, {BytesPerSecond(300e9), 1_us}, 3};
  check_path(cluster, Path::far, 6e-6, 0.24e-9, "8 GPUs on 3 NICs: 3 on the fullest");
  cluster.topology = Nodes{8, {BytesPerSecond(1e9), 1_us}, 8};
  check_path(cluster, Path::far, 6e-6, 1e-9, "slow inner links bound it");
  CHECK_FALSE(prices_are_exact(cluster));
  CHECK(natural_group(cluster) == 8);
  cluster.workers = 8;
  check_all(cluster, 1e-6, 1e-9, "one machine: no NIC in the way");
}

TEST_CASE("racks share their uplinks") {
  Cluster cluster = star_cluster(32, 10_Gbps, 5_us);
  cluster.topology = Racks{16, 4.0, 2_us};
  // The uplink is worth 16/4 = 4 links. One flow has more than its own link's worth; 16 flows have a quarter each.
  check_path(cluster, Path::neighbour, 7e-6, 0.8e-9, "one flow: its own link");
  check_path(cluster, Path::far, 7e-6, 3.2e-9, "16 flows on 4 links' worth");
  cluster.topology = Racks{16, 32.0, 2_us};
  check_path(cluster, Path::neighbour, 7e-6, 1.6e-9, "an uplink of half a link: twice β");
  cluster.topology = Racks{16, 1.0, 0_us};
  check_path(cluster, Path::far, 5e-6, 0.8e-9, "no oversubscription");
  CHECK(natural_group(cluster) == 16);
  cluster.topology = Racks{32, 8.0, 2_us};
  check_all(cluster, 5e-6, 0.8e-9, "one rack: nothing crosses an uplink");
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
