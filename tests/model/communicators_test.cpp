// Collectives in communicators of some of the ranks: each one gives the result of a single one, and touches no other.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/price/cluster_prices.hpp"
#include "models/price/path_prices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// A random entry of the table with parameters for m participants.
CollectiveCall random_call(int m, Communicators among) {
  const auto algorithms = collective_algorithms();
  const CollectiveAlgorithm& entry = algorithms[integer_between(0, static_cast<int>(algorithms.size()) - 1)];
  CollectiveCall call{&entry, {}, Bytes(positive_between(1, 1e9)), {}, among};
  call.parameters.segments = integer_between(1, 3);
  int& g = call.parameters.group_size = integer_between(1, m);
  while (m % g != 0) --g;
  call.parameters.rings = integer_between(1, g);
  return call;
}

/// Communicators of at least two among some ranks.
struct Split {
  Communicators among;
  int p;
};
Split random_split() {
  const Communicators among{integer_between(2, 9), integer_between(1, 6)};
  return {among, among.members * among.stride * integer_between(1, 4)};
}

bool same(const Round& one, const Round& other) {
  const auto alike = [](const Message& a, const Message& b) {
    return a.from == b.from && a.to == b.to && a.slice.first == b.slice.first && a.slice.count == b.slice.count &&
           a.slice.stride == b.slice.stride && a.reduce == b.reduce;
  };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), alike);
}

Cluster on_nodes(int workers, int gpus, int nics, Link inner = {BytesPerSecond(1e12), 0_s}) {
  Cluster cluster = star_cluster(workers, BytesPerSecond(1e9), 10_us);
  cluster.topology = Nodes{gpus, inner, nics};
  return cluster;
}

CollectiveChoice choice_of(Algorithm algorithm) {
  CollectiveChoice choice;
  choice.algorithm = algorithm;
  return choice;
}

CollectiveCall ring_call(Operation operation, Bytes n, Communicators among) {
  return {&find_algorithm(operation, Algorithm::ring), {}, n, {}, among};
}

}  // namespace

TEST_CASE("communicators share out the ranks") {
  property("any members and stride", [] {
    const auto [among, p] = random_split();
    std::vector<int> ranks;
    for (int c = 0; c < among.count(p); ++c)
      for (int i = 0; i < among.size(p); ++i) {
        ranks.push_back(among.rank(c, i));
        RC_ASSERT(among.of(ranks.back()) == c);
        if (i > 0) RC_ASSERT(among.rank(c, i) - among.rank(c, i - 1) == among.stride);
      }
    std::sort(ranks.begin(), ranks.end());
    RC_ASSERT(static_cast<int>(ranks.size()) == p);
    for (int rank = 0; rank < p; ++rank) RC_ASSERT(ranks[rank] == rank);
  });
  // 12 ranks in groups of 4: 0 1 2 3, 4 5 6 7, 8 9 10 11. The ranks of one position are 0 4 8, 1 5 9 and so on.
  CHECK(inside_groups(4, 12).rank(1, 2) == 6);
  CHECK(between_groups(4, 12).rank(1, 2) == 9);
  CHECK(between_groups(4, 12).count(12) == 4);
  CHECK(inside_groups(12, 12) == Communicators{});
  CHECK(between_groups(1, 12) == Communicators{});
}

TEST_CASE("each communicator carries out the rounds of one alone, and no message leaves it") {
  property(
      "any algorithm",
      [] {
        const auto [among, p] = random_split();
        const CollectiveCall call = random_call(among.members, among);
        const Schedule all = schedule_of(call, p), one = call.algorithm->schedule(among.members, call.parameters);
        RC_ASSERT(all.participants == p);
        RC_ASSERT(all.blocks == one.blocks);
        RC_ASSERT(all.rounds == one.rounds);
        RC_ASSERT(message_count(all) == message_count(one) * among.count(p));
        for (int r = 0; r < all.rounds; ++r) {
          RC_ASSERT(all.like_round(r) == one.like_round(r));
          std::vector<Round> of(among.count(p));
          for (const Message& m : all.round(r)) {
            RC_ASSERT(among.of(m.from) == among.of(m.to));
            const int c = among.of(m.from), first = among.rank(c, 0);
            of[c].push_back(
                {(m.from - first) / among.stride, (m.to - first) / among.stride, m.slice, m.reduce, m.in_network});
          }
          for (const Round& round : of) RC_ASSERT(same(round, one.round(r)));
        }
      },
      500);
}

TEST_CASE("all ranks in one communicator are as without") {
  property("any algorithm", [] {
    const int p = integer_between(1, 20);
    const CollectiveCall call = random_call(p, {});
    RC_ASSERT(schedule_of(call, p).rounds == call.algorithm->schedule(p, call.parameters).rounds);
    for (int r = 0; r < schedule_of(call, p).rounds; ++r)
      RC_ASSERT(same(schedule_of(call, p).round(r), call.algorithm->schedule(p, call.parameters).round(r)));
  });
}

TEST_CASE("the places of members decide the path of their messages") {
  const Machines eight{8, 2};
  const auto where = [&](Communicators among, int p) { return placement(among, p, eight); };
  CHECK(where({}, 64) == Placement::machines);
  CHECK(where({4, 1}, 64) == Placement::machine);          // half of one
  CHECK(where({16, 1}, 64) == Placement::machines);        // two of them
  CHECK(where({12, 1}, 48) == Placement::spread);          // one and a half
  CHECK(where({8, 8}, 64) == Placement::spread);           // one worker of each
  CHECK(where({2, 4}, 8) == Placement::machine);           // all are on one
  CHECK(placement({4, 2}, 8, {}) == Placement::machines);  // in a star
  CHECK(machines_seen({16, 1}, 64, eight).workers == 8);
  CHECK(machines_seen({8, 8}, 64, eight).workers == 1);
  // Groups of 2: each machine has four ranks of one position, one after the other.
  CHECK(machines_seen({32, 2}, 64, eight).workers == 4);
  CHECK(machines_seen({12, 1}, 48, eight).workers == 1);
  // Ranks 0, 2, 4, 6 of a machine have NICs 0, 1, 2, 3 if neighbours share four, and 0, 0, 1, 1 if they share two.
  CHECK(machines_seen({32, 2}, 64, {8, 4, NicOfGpu::in_turn}).nics == 1);
  CHECK(machines_seen({32, 2}, 64, {8, 4, NicOfGpu::neighbours}).nics == 4);
  CHECK(machines_seen({32, 2}, 64, {8, 2, NicOfGpu::neighbours}).nics == 2);
  CHECK(machines_seen({32, 2}, 64, {8, 8, NicOfGpu::neighbours}).nics == 4);
  CHECK(machines_seen({32, 2}, 64, {8, 3, NicOfGpu::neighbours}).nics == 1);
}

TEST_CASE("the closed form of each communicator is that of one alone, on the path that its messages take") {
  const Bytes n = 80_MB;
  // A ring of 4: 3 messages, 3/4·n.
  const auto cost = [&](Placement placement, int path) {
    CollectiveCall call = ring_call(Operation::all_gather, n, {4, 1});
    call.placement = placement;
    const CostTerms terms = cost_of(call, 64);
    CHECK(terms.sent == 60_MB);
    CHECK(terms.total_copied() == 60_MB);
    CHECK(terms.total_wire() == 60_MB);
    CHECK(terms.messages[path] == 3);
    CHECK(terms.wire[path] == 60_MB);
  };
  cost(Placement::machines, static_cast<int>(Path::ring));
  cost(Placement::machine, static_cast<int>(Path::inner));
  cost(Placement::spread, static_cast<int>(Path::far));
}

TEST_CASE("groups that are machines gather inside them and share their NICs between them, by hand") {
  // 2 machines of 4 workers, with 1 GB/s and 10 us between them, 1 TB/s and no latency inside. Inside, a ring of 12 MB
  // has 3 rounds with blocks of 3 MB, 3 us each. Between, each of 4 pairs sums 8 MB in 2 rounds of 4 MB, all out of a
  // machine at once. One NIC carries 16 MB, each of two 8 MB, each of four 4 MB.
  for (const auto& [nics, nic_load] : {std::pair{1, 16e6}, {2, 8e6}, {4, 4e6}}) {
    const Cluster cluster = on_nodes(8, 4, nics);
    const CachedPrices prices(cluster);
    const auto ring = ring_choice();
    const CollectiveCall inside = prices.decide(Operation::all_gather, ring, 12_MB, inside_groups(4, 8)),
                         between = prices.decide(Operation::all_reduce, ring, 8_MB, between_groups(4, 8));
    CHECK(inside.placement == Placement::machine);
    CHECK(between.placement == Placement::spread);
    require_close(3 * 3e-6, prices(inside).total().si(), 1e-12, "inside, by routes");
    require_close(2 * (10e-6 + nic_load / 1e9), prices(between).total().si(), 1e-12, "between, by routes");
    for (const CollectiveCall& call : {inside, between}) {
      CHECK(prices.slack(call) == 0_s);
      require_close(prices(call).total().si(), price(cost_of(call, 8), collective_prices(cluster)).total().si(), 1e-12,
                    "closed form");
    }
  }
}

TEST_CASE("closed form and routes agree where groups are machines, or some to a machine") {
  property(
      "any algorithm and number of NICs",
      [] {
        const int gpus = integer_between(1, 8), of_machines = integer_between(2, 6), nics = integer_between(1, gpus),
                  p = gpus * of_machines;
        int g = gpus;
        if (coin())
          for (g = integer_between(1, gpus); gpus % g != 0;) --g;
        const Cluster cluster = on_nodes(p, gpus, nics, {BytesPerSecond(positive_between(2e9, 1e12)), 3_us});
        const CachedPrices prices(cluster);
        const auto agree = [&](const CollectiveCall& call) {
          if (call.among.is_one()) return;  // nobody else is there
          assert_close(price(cost_of(call, p), collective_prices(cluster)).total().si(), prices(call).total().si(),
                       1e-9, std::string(name_of(call.algorithm->algorithm)));
        };
        const Bytes n(positive_between(1e5, 1e9));
        if (g > 1)
          for (const Algorithm algorithm : {Algorithm::ring, Algorithm::recursive_doubling, Algorithm::bruck})
            agree(prices.decide(Operation::all_gather, choice_of(algorithm), n, inside_groups(g, p)));
        // If a machine has several members of a communicator, some messages stay inside. Fewer leave than the form
        // assumes.
        if (g == gpus)
          for (const Algorithm algorithm :
               {Algorithm::ring, Algorithm::halving_doubling, Algorithm::recursive_doubling}) {
            const bool power = (of_machines & (of_machines - 1)) == 0;
            if (power || algorithm == Algorithm::ring)
              agree(prices.decide(Operation::all_reduce, choice_of(algorithm), n, between_groups(g, p)));
          }
      },
      300);
}

TEST_CASE("the three phases of hierarchical are collectives in communicators") {
  // Reduce-scatter inside, all-reduce between of a g-th, all-gather inside: the same times as the one algorithm's.
  property("any groups, on a star and on machines of that size", [] {
    const int g = integer_between(2, 6), p = g * integer_between(2, 6);
    Cluster cluster =
        star_cluster(p, BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-4)));
    if (coin()) cluster.topology = Nodes{g, {BytesPerSecond(positive_between(1e9, 1e12)), 3_us}, integer_between(1, g)};
    const CachedPrices prices(cluster);
    const Bytes n(positive_between(1e5, 1e9));
    const CollectiveChoice ring = ring_choice();
    CollectiveChoice whole = choice_of(Algorithm::hierarchical);
    whole.group_size.value = g;
    whole.between_groups = Algorithm::ring;
    const Seconds phases = prices(prices.decide(Operation::reduce_scatter, ring, n, inside_groups(g, p))).total() +
                           prices(prices.decide(Operation::all_reduce, ring, n / g, between_groups(g, p))).total() +
                           prices(prices.decide(Operation::all_gather, ring, n, inside_groups(g, p))).total();
    assert_close(prices(prices.decide(Operation::all_reduce, whole, n)).total().si(), phases.si(), 1e-9,
                 "sum of phases");
  });
}

TEST_CASE("auto sees the machines that a communicator is on") {
  // Groups of two machines gather 8 kB each: 3 us between machines and 0.1 us inside.
  Cluster cluster = star_cluster(64, 100_Gbps, 3_us);
  cluster.topology = Nodes{8, {100_GBps, 100_ns}, 1};
  const CachedPrices prices(cluster);
  const CollectiveCall gather = prices.decide(Operation::all_gather, {}, 100_MB, inside_groups(16, 64));
  CHECK(gather.algorithm->algorithm == Algorithm::hierarchical);
  CHECK(gather.parameters.group_size == 8);
  CHECK(gather.parameters.group_fits);
  // Groups of 2: a machine's four ranks of one position add up first what one NIC must carry. Halving-doubling does, too,
  // in fewer rounds.
  const CollectiveCall sum = prices.decide(Operation::all_reduce, choice_of(Algorithm::hierarchical), 100_MB,
                                           between_groups(2, 64)),
                       best = prices.decide(Operation::all_reduce, {}, 100_MB, between_groups(2, 64));
  CHECK(sum.parameters.group_size == 4);
  CHECK(best.algorithm->algorithm == Algorithm::halving_doubling);
  CHECK(prices(best).total() < prices(sum).total());
  // Groups of 8: no two of those are on one machine, and named groups of them do not fit.
  CHECK(prices.decide(Operation::all_reduce, {}, 100_MB, between_groups(8, 64)).algorithm->algorithm !=
        Algorithm::hierarchical);
  CollectiveChoice named = choice_of(Algorithm::hierarchical);
  named.group_size.value = 4;
  named.between_groups = Algorithm::ring;
  CHECK_FALSE(prices.decide(Operation::all_reduce, named, 100_MB, between_groups(8, 64)).parameters.group_fits);
  CHECK_THROWS_AS(prices.decide(Operation::all_gather, named, 100_MB, inside_groups(2, 64)), std::invalid_argument);
}
