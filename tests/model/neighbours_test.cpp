// Graphs of decentralized SGD: laws of every graph, messages written out, and steps by hand.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/gossip_rounds.hpp"
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
        Neighbours neighbours = neighbours_of(random_gossip_rounds(p));
        RC_ASSERT(is_connected(neighbours, p));
        for (; neighbours.step < unlike_steps(neighbours, p); ++neighbours.step) {
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
          const int g = neighbours.island;
          for (const auto& [from, to] : pairs) RC_ASSERT(from % g == to % g && from / g != to / g);
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
  CHECK(unlike_steps({NeighbourGraph::one_peer_exponential}, 5) == 3);  // 1, 2 and 4 ranks further
  CHECK(unlike_steps({NeighbourGraph::one_peer_hypercube}, 1) == 1);
  CHECK(pairs_of({NeighbourGraph::edges, {}, {{2, 0}, {1, 0}}}, 3) == Pairs{{0, 2}, {0, 1}, {1, 0}, {2, 0}});
  CHECK_FALSE(is_connected({NeighbourGraph::edges, {}, {{0, 1}, {2, 3}}}, 4));
}

TEST_CASE("graphs of islands written out") {
  // Islands {0, 1}, {2, 3} and {4, 5} in a ring: each worker and those of its share.
  Neighbours neighbours;
  neighbours.island = 2;
  CHECK(receivers_of_rank_0(neighbours, 6) == List{2, 4});
  CHECK(pairs_of(neighbours, 4) == Pairs{{0, 2}, {1, 3}, {2, 0}, {3, 1}});
  CHECK(message_count(neighbours, 6) == 12);
  neighbours = {NeighbourGraph::edges, {}, {{0, 1}, {1, 2}}, 0, 2};
  CHECK(message_count(neighbours, 6) == 8);
  CHECK(degree(neighbours, 6) == 2);
  CHECK(is_connected(neighbours, 6));
  CHECK(unlike_steps({NeighbourGraph::one_peer_exponential, {}, {}, 0, 2}, 10) == 3);  // of 5 islands
  // Exchanges after 2 steps each, three unlike ones, and an average after every fourth step: lcm(6, 4).
  GossipStrategy rounds{.graph = NeighbourGraph::one_peer_exponential, .steps = 2};
  rounds.average = GlobalAverage{4};
  CHECK(period_of(rounds, 5) == 12);
}

TEST_CASE("steps alone, averages of all and islands, by hand") {
  // As below, on a ring: passes of 60 ms, an update of 2 ms, an exchange of 10 us + 22 ms. A ring's all-reduce among 8
  // takes 14·10 us + 2·7/8·10 MB at 1 ns/B, and adds 7/8·10 MB at 0.1 ns/B: 0.14 + 17.5 + 0.875 ms.
  Cluster cluster = star_cluster(8, 1_GBps, 10_us);
  cluster.reduction_cost = 0.1_ns_per_B;
  const Workload w = simple_workload(20_ms, 40_ms, 2_ms, 10_MB);
  const auto step = [&](const GossipStrategy& gossip) { return step_time(scenario_of(cluster, gossip), w); };
  GossipStrategy gossip{.overlap = false, .steps = 4};
  require_close(62e-3 + 22.01e-3 / 4, step(gossip), 1e-12, "one exchange in 4 steps");
  gossip.steps = 1;
  gossip.average = GlobalAverage{5, 1.5, ring_choice()};
  const double average = 18.515e-3 + 3e-3;  // with its outer update of 1.5·2 ms
  require_close(62e-3 + (4 * 22.01e-3 + average) / 5, step(gossip), 1e-12, "an average in 5 steps, 4 exchanges");
  gossip.overlap = true;
  require_close(62e-3 + average / 5, step(gossip), 1e-12, "exchanges beside the passes");

  // Islands of 2 sum 10 MB: 2·10 us + 10 MB at 1 ns/B + 5 MB at 0.1 ns/B, 10.52 ms. Then shares of 5 MB go to two islands
  // each: 10 us + 10 + 1 ms. Gathering takes 10 us + 5 ms.
  const double passes = 62e-3 + 10.52e-3, exchange = 11.01e-3, gather = 5.01e-3;
  GossipStrategy islands{.overlap = false};
  islands.islands = Islands{.size = 2, .collective = ring_choice()};
  require_close(passes + exchange + gather, step(islands), 1e-12, "islands, one after the other");
  // A quarter of each share, 1.25 MB to two islands: 10 us + 2.5 + 0.25 ms. 5 MB are encoded at 1 ns/B, decoded at 2.
  const Scenario coded = scenario_of(cluster, islands, RatioCompressor{4.0, 1_ns_per_B, 2_ns_per_B});
  require_close(passes + 5e-3 + 2.76e-3 + 10e-3 + gather, step_time(coded, w), 1e-12, "islands, compressed");
  islands.overlap = true;
  require_close(passes, step(islands), 1e-12, "islands, exchanges beside their steps");
  islands.islands->sharding = ShardingStage::gradients;
  islands.overlap = false;
  // Gradients are reduce-scattered, 10 us + 5 + 0.5 ms, parameters gathered, and each updates its half in 1 ms.
  require_close(61e-3 + 5.51e-3 + 5.01e-3 + exchange, step(islands), 1e-12, "the next step gathers");
  // Averages of shares between 4: 6·10 us + 2·3/4·5 MB at 1 ns/B + 3/4·5 MB at 0.1 ns/B, and half an outer update.
  islands.average = GlobalAverage{2, 1.0, ring_choice()};
  require_close(71.52e-3 + (exchange + 7.935e-3 + 1e-3) / 2, step(islands), 1e-12, "averages of islands");
}

TEST_CASE("power steps at both ends of each edge, by hand") {
  // One matrix of 1,000 x 500 in fp32 and a vector of 500 numbers, 2,002,000 B, rank 4. P: 4·1,000·4 B, with the vector
  // 18,000 B; Q: 4·500·4 B = 8,000 B. A ring of 4 has two neighbours. α = 10 us, β = 1 ns/B, γ = 0.1 ns/B: exchanges of
  // 10 us + 2·18,000·1.1 ns = 49.6 us and 10 us + 2·8,000·1.1 ns = 27.6 us.
  Cluster cluster = star_cluster(4, 1_GBps, 10_us);
  cluster.reduction_cost = 0.1_ns_per_B;
  Workload w = simple_workload(20_ms, 40_ms, 2_ms, 2002000_B);
  w.gradients = {{"m", 500000, 2000000_B, 40_ms, {1000, 500}}, {"v", 500, 2000_B, 0_s}};
  Scenario scenario = scenario_of(cluster, GossipStrategy{.overlap = false}, PowerSgd{.rank = 4});
  const CodecRates rates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e12)}, .measured = {}};
  scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
  const CodecPlan plan = make_plan(PowerSgd{.rank = 4}, std::vector<Tensor>{{{1000, 500}}, {{500}}});
  const double p = price(plan.stages[0].encode, rates).si(), q = price(plan.stages[1].encode, rates).si(),
               back = price(plan.decode.first, rates).si();
  require_close(62e-3 + 2 * (p + q + back) + 49.6e-6 + 27.6e-6, step_time(scenario, w), 1e-12, "two edges");
  CHECK(plan.stages[0].messages.size() == 2);  // P, and the vector
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
