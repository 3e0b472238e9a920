// The places of co-located shards, by hand and for any machines: spread as evenly as whole numbers allow.
#include "models/price/shard_placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

std::vector<int> hosts(const Topology& topology, int p, int shards, bool co_located = true) {
  Cluster cluster = star_cluster(p, 10_Gbps);
  cluster.topology = topology;
  std::vector<int> all;
  for (int j = 0; j < shards; ++j) all.push_back(shard_host(cluster, shards, co_located, j));
  return all;
}

const Link kInner{BytesPerSecond(100e9), 1_us};

}  // namespace

TEST_CASE("shards are dealt to machines and racks in turn") {
  // 3 machines of 4: ranks 0-3, 4-7, 8-11. The first worker of each, then the second.
  CHECK(hosts(Nodes{4, kInner, 2}, 12, 2) == std::vector{0, 4});
  CHECK(hosts(Nodes{4, kInner, 2}, 12, 3) == std::vector{0, 4, 8});
  CHECK(hosts(Nodes{4, kInner, 2}, 12, 5) == std::vector{0, 4, 8, 1, 5});
  CHECK(hosts(Racks{4, 2.0, 0_us}, 12, 12) == std::vector{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  // The last rack has 1 worker, of 9: it gets one in the first turn and is passed over then.
  CHECK(hosts(Racks{4, 2.0, 0_us}, 9, 9) == std::vector{0, 4, 8, 1, 5, 2, 6, 3, 7});
  // Neighbours share a NIC, ranks 0 and 1, 2 and 3: the last worker of each NIC, then the first.
  CHECK(hosts(Nodes{4, kInner, 2, {}, NicOfGpu::neighbours}, 12, 7) == std::vector{1, 5, 9, 3, 7, 11, 0});
  // Fewer workers than a machine has: one machine.
  CHECK(hosts(Nodes{8, kInner, 1}, 3, 2) == std::vector{0, 1});
}

TEST_CASE("elsewhere shards are beside the first workers, or over the whole fabric") {
  CHECK(hosts(Star{}, 8, 3) == std::vector{0, 1, 2});
  CHECK(hosts(SimGridXml{}, 8, 3) == std::vector{0, 1, 2});
  // 16/4: the first host of each of 4 leaf switches. 16/3 = 5.33: 0, 5.33, 10.67.
  CHECK(hosts(FatTree{{4, 4}, {1, 2}, {1, 1}}, 16, 4) == std::vector{0, 4, 8, 12});
  CHECK(hosts(Torus{{4, 4}}, 16, 3) == std::vector{0, 5, 10});
  CHECK(hosts(Dragonfly{2, 1, 2, 1, 2, 1, 2}, 16, 2) == std::vector{0, 8});
  // j·p is more than an int holds.
  CHECK(hosts(Torus{{65536, 256}}, 16777216, 65536).back() == 65535 * 256);
}

TEST_CASE("dedicated shards follow the workers") {
  CHECK(hosts(Star{}, 8, 3, false) == std::vector{8, 9, 10});
  CHECK(hosts(Nodes{4, kInner, 1}, 8, 3, false) == std::vector{8, 9, 10});
  CHECK(hosts(Racks{4, 2.0, 0_us}, 6, 3, false) == std::vector{6, 7, 8});
}

TEST_CASE("property: machines' and NICs' numbers of shards differ by one at most") {
  property(
      "any machines, the last of which may be smaller",
      [] {
        const int size = integer_between(1, 9), p = integer_between(1, 60), shards = integer_between(1, p),
                  nics = integer_between(1, size);
        const bool racks = coin();  // racks, whose uplinks serve all
        const NicOfGpu rule = racks || coin() ? NicOfGpu::in_turn : NicOfGpu::neighbours;
        const Nics machine_nics{size, nics, rule};
        const std::vector<int> all =
            hosts(racks ? Topology(Racks{size, 2.0, 0_us}) : Topology(Nodes{size, kInner, nics, {}, rule}), p, shards);
        const std::string what = fmt::format("p={} by {}, {} NICs: {}", p, size, nics, fmt::join(all, " "));
        if (std::set<int>(all.begin(), all.end()).size() != all.size()) RC_FAIL("two on one host, " + what);
        if (*std::min_element(all.begin(), all.end()) < 0 || *std::max_element(all.begin(), all.end()) >= p)
          RC_FAIL("not a worker, " + what);
        std::map<int, int> of_machine;
        std::map<int, std::map<int, int>> of_nic, workers_of_nic;
        for (int rank = 0; rank < p; ++rank) of_machine[rank / size], of_nic[rank / size][machine_nics.of(rank % size)];
        for (int rank = 0; rank < p; ++rank) ++workers_of_nic[rank / size][machine_nics.of(rank % size)];
        for (const int rank : all) ++of_machine[rank / size], ++of_nic[rank / size][machine_nics.of(rank % size)];
        int most = 0;
        for (const auto& [machine, count] : of_machine) most = std::max(most, count);
        for (const auto& [machine, count] : of_machine) {
          const int workers = std::min(size, p - machine * size);
          if (count < std::min(most - 1, workers))
            RC_FAIL(fmt::format("machine {} has {} of at most {}, {}", machine, count, most, what));
        }
        for (const auto& [machine, nic] : of_nic) {
          int most_of_nic = 0;
          for (const auto& [number, count] : nic) most_of_nic = std::max(most_of_nic, count);
          // If neighbours share NICs, one NIC may have fewer workers than others.
          for (const auto& [number, count] : nic)
            if (count < std::min(most_of_nic - 1, workers_of_nic[machine][number]))
              RC_FAIL(fmt::format("NICs of machine {}, {}", machine, what));
        }
      },
      2000);
}
