// Direct exchanges (parameter-server shards, neighbours) against a fluid simulation of max-min fair sharing.
#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "models/collective/direct.hpp"
#include "models/collective/neighbours.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_gossip.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// A message of `bytes` that crosses the links `links` (indices), all of bandwidth 1 B/s.
struct Flow {
  std::vector<std::size_t> links;
  double bytes = 0;
};

/// Max-min fair rates by progressive filling: all rates grow together; those that cross a full link stop.
std::vector<double> fair_rates(const std::vector<Flow>& flows, std::size_t links) {
  std::vector<double> rate(flows.size(), 0.0), free(links, 1.0);
  std::vector<bool> stopped(flows.size(), false);
  for (std::size_t left = flows.size(); left > 0;) {
    std::vector<double> growing(links, 0.0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (!stopped[f])
        for (const std::size_t link : flows[f].links) ++growing[link];
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < links; ++link)
      if (growing[link] > 0) step = std::min(step, free[link] / growing[link]);
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (!stopped[f]) rate[f] += step;
    for (std::size_t link = 0; link < links; ++link) free[link] -= step * growing[link];
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (stopped[f] || std::none_of(flows[f].links.begin(), flows[f].links.end(),
                                     [&](std::size_t link) { return free[link] < 1e-12; }))
        continue;
      stopped[f] = true;
      --left;
    }
  }
  return rate;
}

/// Time until the last flow has ended.
double fluid_time(std::vector<Flow> flows, std::size_t links) {
  double now = 0;
  std::erase_if(flows, [](const Flow& f) { return f.bytes <= 0; });
  while (!flows.empty()) {
    const auto rate = fair_rates(flows, links);
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < flows.size(); ++f) step = std::min(step, flows[f].bytes / rate[f]);
    for (std::size_t f = 0; f < flows.size(); ++f) flows[f].bytes -= step * rate[f];
    now += step;
    std::erase_if(flows, [](const Flow& f) { return f.bytes < 1e-9; });
  }
  return now;
}

/// All p workers push to all shards. Link i leads out of worker i, and link p + j into shard j. Shard j is co-located
/// with worker j, whose own push crosses no link.
std::vector<Flow> pushes(const std::vector<Bytes>& shards, int p, bool co_located) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p); ++i)
    for (std::size_t j = 0; j < shards.size(); ++j)
      if (!co_located || i != j) flows.push_back({{i, static_cast<std::size_t>(p) + j}, shards[j].si()});
  return flows;
}

double wire(const std::vector<Bytes>& shards, int p, bool co_located) {
  return shard_exchange_cost(shards, p, co_located).total_wire().si();
}

}  // namespace

TEST_CASE("the fluid simulation by hand") {
  // Two flows share link 0, one of them and a third share link 1: rates 1/2 each, bytes 1, 2, 2. At t = 2 the
  // first ends; the second, alone on link 0 but with the third on link 1, keeps 1/2. All end at t = 4.
  CHECK(fluid_time({{{0}, 1}, {{0, 1}, 2}, {{1}, 2}}, 2) == 4);
  // Flows 0 and 1 are on link 0; flow 1 is also on link 1 with flows 2 and 3. Flow 1 gets 1/3, flow 0 the other 2/3.
  const auto rate = fair_rates({{{0}, 1}, {{0, 1}, 1}, {{1}, 1}, {{1}, 1}}, 2);
  require_close(2.0 / 3, rate[0], 1e-12, "flow 0");
  require_close(1.0 / 3, rate[1], 1e-12, "flow 1");
}

TEST_CASE("pushes to dedicated shards take the time of max-min fair sharing") {
  property(
      "for any sizes of any number of shards",
      [] {
        const int p = integer_between(1, 7), count = integer_between(1, 9);
        std::vector<Bytes> shards;
        for (int j = 0; j < count; ++j)
          shards.emplace_back(integer_between(0, 4) == 0   ? 0
                              : integer_between(0, 3) == 0 ? 500
                                                           : integer_between(1, 1000));
        assert_close(fluid_time(pushes(shards, p, false), static_cast<std::size_t>(p) + shards.size()),
                     wire(shards, p, false), 1e-9, fmt::format("p={}, {} shards", p, count));
      },
      2000);
}

TEST_CASE("pushes to co-located shards take the time of max-min fair sharing") {
  property(
      "for any sizes of up to p shards",
      [] {
        const int p = integer_between(1, 8), count = integer_between(1, p);
        std::vector<Bytes> shards;
        for (int j = 0; j < count; ++j) shards.emplace_back(integer_between(0, 4) == 0 ? 0 : integer_between(1, 1000));
        assert_close(fluid_time(pushes(shards, p, true), static_cast<std::size_t>(p) + shards.size()),
                     wire(shards, p, true), 1e-9, fmt::format("p={}, {} shards", p, count));
      },
      2000);
}

TEST_CASE("closed forms of equal shards") {
  // n = 12 MB over M shards of p = 4 workers: max(p, M)·n/M dedicated, (p-1)·n/M co-located.
  const auto equal = [](int count) { return std::vector<Bytes>(count, 12_MB / count); };
  require_close(48e6, wire(equal(1), 4, false), 1e-14, "one dedicated server: p·n");
  require_close(24e6, wire(equal(2), 4, false), 1e-14, "two: p·n/2");
  require_close(12e6, wire(equal(4), 4, false), 1e-14, "four: n, a worker's own link");
  require_close(12e6, wire(equal(12), 4, false), 1e-14, "twelve: still n");
  require_close(36e6, wire(equal(1), 4, true), 1e-14, "one co-located: (p-1)·n");
  require_close(9e6, wire(equal(4), 4, true), 1e-14, "four: (p-1)/p·n");
  CHECK(shard_exchange_cost(equal(1), 1, true).empty());  // a worker beside its server sends nothing
  require_close(12e6, wire(equal(3), 1, false), 1e-14, "one worker, dedicated: n over its own link");
  CHECK(shard_exchange_cost(std::vector<Bytes>(3), 4, false).empty());  // nothing to send
}

TEST_CASE("bytes that a worker sends on average") {
  // 3 + 5 bytes. Dedicated: each worker sends 8. Co-located, p = 4: 3 of 4 workers send each: 8 · 3/4.
  const std::vector<Bytes> shards{3_B, 5_B};
  CHECK(shard_exchange_cost(shards, 4, false).sent == 8_B);
  CHECK(shard_exchange_cost(shards, 4, true).sent == 6_B);
  CHECK(shard_exchange_cost(shards, 4, false).messages[static_cast<int>(Path::shard)] == 1);
  CHECK(shard_exchange_cost(shards, 4, false).reduced == 0_B);  // servers add, in a task of their own
}

TEST_CASE("bytes that the busiest worker copies") {
  // Its own messages, whatever else passes the link: 3 + 5 + 9 = 17 bytes.
  const std::vector<Bytes> shards{3_B, 5_B, 9_B};
  CHECK(shard_exchange_cost(shards, 8, false).total_copied() == 17_B);
  CHECK(shard_exchange_cost(shards, 8, true).total_copied() == 17_B);  // workers 3 to 7 host no shard
  // A shard on every host: worker 0, with the smallest share at home, copies most.
  CHECK(shard_exchange_cost(shards, 3, true).total_copied() == 14_B);
  CHECK(shard_exchange_cost(std::vector<Bytes>{3_B, 0_B, 9_B}, 3, true).total_copied() ==
        12_B);  // worker 1 keeps nothing
}

TEST_CASE("neighbour exchange takes the time of max-min fair sharing") {
  for (int p = 2; p <= 9; ++p) {
    std::vector<Flow> flows;
    const auto count = static_cast<std::size_t>(p);
    for (std::size_t i = 0; i < count; ++i) {
      flows.push_back({{i, count + (i + 1) % count}, 1000});
      if (p > 2) flows.push_back({{i, count + (i + count - 1) % count}, 1000});  // with p = 2 both neighbours are one
    }
    const CostTerms terms = neighbour_exchange_cost({}, 1000_B, 1000_B, p);
    require_close(fluid_time(flows, 2 * count), terms.total_wire().si(), 1e-12, fmt::format("p={}", p));
    // A worker adds all that it receives and sends as much.
    CHECK(terms.reduced.si() == (p == 2 ? 1000 : 2000));
    CHECK(terms.sent == terms.reduced);
  }
  property("any graph", [] {
    const int p = integer_between(2, 12);
    const GossipStrategy gossip = random_gossip(p);
    const Neighbours neighbours{gossip.graph, gossip.dimensions, gossip.edges, integer_between(0, 5)};
    std::vector<Flow> flows;
    for (const Message& m : messages_of(neighbours, p))
      flows.push_back({{static_cast<std::size_t>(m.from), static_cast<std::size_t>(p + m.to)}, 1000});
    const CostTerms terms = neighbour_exchange_cost(neighbours, 1000_B, 500_B, p);
    assert_close(fluid_time(flows, 2 * static_cast<std::size_t>(p)), terms.total_wire().si(), 1e-9,
                 std::string(name_of(gossip.graph)));
    RC_ASSERT(terms.reduced * 2.0 == terms.total_wire());
    assert_close(1000.0 * static_cast<double>(flows.size()) / p, terms.sent.si(), 1e-12, "sent, the mean");
  });
  CHECK(neighbour_exchange_cost({}, 1_GB, 1_GB, 1).empty());
  CHECK(neighbour_exchange_cost({}, 1_GB, 1_GB, 1).sent == 0_B);
}
