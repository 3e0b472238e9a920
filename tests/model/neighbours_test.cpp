// Graphs of decentralized SGD: laws of every graph, messages written out, and steps by hand.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collective/neighbours.hpp"
#include "models/strategy/coded_tensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_gossip.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs pairs_of(const Neighbours& neighbours, int p) {
  Pairs pairs;
  for (const Message& m : messages_of(neighbours, p)) pairs.emplace_back(m.from, m.to);
  return pairs;
}

std::vector<int> receivers_of_rank_0(const Neighbours& neighbours, int p) {
  std::vector<int> all;
  for (const auto& [from, to] : pairs_of(neighbours, p))
    if (from == 0) all.push_back(to);
  std::sort(all.begin(), all.end());
  return all;
}

using List = std::vector<int>;

}  // namespace

TEST_CASE("any graph: nobody sends to itself or twice, all receive as much as they send, and all are joined") {
  property(
      "random graphs",
      [] {
        const int p = integer_between(1, 40);
        const GossipStrategy gossip = random_gossip(p);
        Neighbours neighbours{gossip.graph, gossip.dimensions, gossip.edges};
        RC_ASSERT(is_connected(neighbours, p));
        for (; neighbours.step < unlike_steps(neighbours.graph, p); ++neighbours.step) {
          const Pairs pairs = pairs_of(neighbours, p);
          RC_ASSERT(static_cast<std::int64_t>(pairs.size()) == message_count(neighbours, p));
          const std::set<std::pair<int, int>> unlike(pairs.begin(), pairs.end());
          RC_ASSERT(unlike.size() == pairs.size());
          std::vector<int> sent(p), received(p);
          for (const auto& [from, to] : pairs) {
            RC_ASSERT(from != to && 0 <= from && from < p && 0 <= to && to < p);
            ++sent[from];
            ++received[to];
          }
          RC_ASSERT(sent == received);
          RC_ASSERT(*std::max_element(sent.begin(), sent.end()) == degree(neighbours, p));
          RC_ASSERT(is_regular(neighbours, p) == (std::count(sent.begin(), sent.end(), sent[0]) == p));
        }
      },
      2000);
}

TEST_CASE("graphs written out") {
  CHECK(pairs_of({}, 3) == Pairs{{0, 1}, {0, 2}, {1, 2}, {1, 0}, {2, 0}, {2, 1}});
  CHECK(pairs_of({}, 2) == Pairs{{0, 1}, {1, 0}});
  // 12 = 3·4: rank r is at r mod 3 and r / 3. Beside 0 are 1 and 2 along the first dimension, 3 and 9 along the second.
  CHECK(receivers_of_rank_0({NeighbourGraph::torus}, 12) == List{1, 2, 3, 9});
  CHECK(receivers_of_rank_0({NeighbourGraph::torus, {2, 3, 2}}, 12) == List{1, 2, 4, 6});
  CHECK(receivers_of_rank_0({NeighbourGraph::torus}, 7) == List{1, 6});
  CHECK(receivers_of_rank_0({NeighbourGraph::hypercube}, 8) == List{1, 2, 4});
  CHECK(receivers_of_rank_0({NeighbourGraph::exponential}, 6) == List{1, 2, 4});
  CHECK(receivers_of_rank_0({NeighbourGraph::exponential}, 9) == List{1, 2, 4, 8});
  CHECK(receivers_of_rank_0({NeighbourGraph::complete}, 5) == List{1, 2, 3, 4});
  CHECK(pairs_of({NeighbourGraph::one_peer_exponential, {}, {}, 1}, 5) ==
        Pairs{{0, 2}, {1, 3}, {2, 4}, {3, 0}, {4, 1}});
  CHECK(pairs_of({NeighbourGraph::one_peer_hypercube, {}, {}, 1}, 4) == Pairs{{0, 2}, {1, 3}, {2, 0}, {3, 1}});
  CHECK(unlike_steps(NeighbourGraph::one_peer_exponential, 5) == 3);  // 1, 2 and 4 ranks further
  CHECK(unlike_steps(NeighbourGraph::one_peer_hypercube, 1) == 1);
  CHECK(pairs_of({NeighbourGraph::edges, {}, {{2, 0}, {1, 0}}}, 3) == Pairs{{0, 2}, {0, 1}, {1, 0}, {2, 0}});
  CHECK_FALSE(is_connected({NeighbourGraph::edges, {}, {{0, 1}, {2, 3}}}, 4));
}

TEST_CASE("gossip steps on any graph, by hand") {
  // 8 workers, α = 10 us, β = 1 ns/B, γ = 0.1 ns/B, n = 10 MB: a message takes 10 ms and its addition 1 ms. Passes take
  // 60 ms, the update 2 ms. After the passes: 62.01 ms and 11 ms a neighbour.
  Cluster cluster = star_cluster(8, 1_GBps, 10_us);
  cluster.reduction_cost = 0.1_ns_per_B;
  const Workload w = simple_workload(20_ms, 40_ms, 2_ms, 10_MB);
  struct Row {
    NeighbourGraph graph;
    int neighbours;
  };
  for (const auto& [graph, neighbours] :
       {Row{NeighbourGraph::ring, 2}, Row{NeighbourGraph::torus, 3}, Row{NeighbourGraph::hypercube, 3},
        Row{NeighbourGraph::exponential, 3}, Row{NeighbourGraph::complete, 7},
        Row{NeighbourGraph::one_peer_hypercube, 1}, Row{NeighbourGraph::one_peer_exponential, 1}}) {
    const double exchange = 10e-6 + 11e-3 * neighbours;
    require_close(62e-3 + exchange, step_time(scenario_of(cluster, GossipStrategy{false, graph}), w), 1e-12,
                  fmt::format("{}, after the passes", name_of(graph)));
    require_close(2e-3 + std::max(60e-3, exchange), step_time(scenario_of(cluster, GossipStrategy{true, graph}), w),
                  1e-12, fmt::format("{}, beside them", name_of(graph)));
  }
  // One parameter server without a shard's work: worker 0 has seven neighbours.
  GossipStrategy edges{false, NeighbourGraph::edges};
  for (int rank = 1; rank < 8; ++rank) edges.edges.push_back({0, rank});
  require_close(62e-3 + 10e-6 + 77e-3, step_time(scenario_of(cluster, edges), w), 1e-12, "a star of edges");
}

TEST_CASE("compressed gossip, by hand") {
  // Three neighbours of each of 8 workers. 1,000,000 elements of 4 B; 10 us a launch, 100 GB/s: 4 MB take 40 us. top-k
  // keeps 10,000 elements, 80 kB with indices: 80 us a message at 1 ns/B.
  const Cluster cluster = star_cluster(8, 1_GBps, 10_us);
  Workload w;
  w.forward = 5_ms;
  w.update = 1_ms;
  w.gradients = {{"matrix", 1000000, 4_MB, 20_ms, {1000, 1000}}};
  w.gradient_bytes = 4_MB;
  w.backward = 20_ms;
  const CodecRates rates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};
  const auto step = [&](bool overlap, const Compressor& compressor) {
    Scenario scenario = scenario_of(cluster, GossipStrategy{overlap, NeighbourGraph::exponential}, compressor);
    scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
    return step_time(scenario, w);
  };
  const CodecPlan plan = make_plan(TopK{.ratio = 0.01}, Tensor{{1000, 1000}});
  // x - x̂: 12 MB in a launch of its own. x, x̂, s, the own message and the neighbours' sum are read, three are written.
  const double difference = 10e-6 + 12e6 / 1e11, average = 10e-6 + 32e6 / 1e11;
  const double encode = difference + price(plan.stages[0].encode, rates).si();
  const double decode = average + price(joined(sum_kernels(plan, 1), sum_kernels(plan, 3)), rates).si();
  const double exchange = 10e-6 + 3 * 80e-6;
  require_close(26e-3 + encode + exchange + decode, step(false, TopK{.ratio = 0.01}), 1e-12, "after the passes");
  require_close(26e-3 + encode + decode, step(true, TopK{.ratio = 0.01}), 1e-12, "beside them");
  // A ratio states its costs: 1/4 of the bytes, three times 1 MB, encoded and decoded once at 1 and 2 ns/B.
  require_close(26e-3 + 4e-3 + 10e-6 + 3e-3 + 8e-3, step(false, RatioCompressor{4.0, 1_ns_per_B, 2_ns_per_B}), 1e-12,
                "ratio");
}
