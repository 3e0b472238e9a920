// Asynchronous pairs (AD-PSGD), by hand.
#include <string>
#include <vector>

#include "models/collective/neighbours.hpp"
#include "models/equation/exchange_summary.hpp"
#include "models/report/worker_memory.hpp"
#include "models/strategy/builder.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Workers compute for 8 + 12 ms and update for 1 ms. They exchange 10 MB each way.
Scenario pairs(int p, BytesPerSecond bandwidth, const GossipStrategy& strategy) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {bandwidth, 1_ms};
  Scenario scenario = scenario_of(cluster, strategy);
  scenario.workload = std::make_shared<const WorkloadTable>(one_tensor(8_ms, 12_ms, 1_ms));
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 300;
  return scenario;
}

Seconds step(const Scenario& scenario) { return replay_all({{"", scenario}}).front().step; }

/// The mean step of workers with these steps: their rates add.
Seconds mean(const std::vector<Seconds>& steps) {
  double rates = 0;
  for (const Seconds one : steps) rates += 1 / one.si();
  return Seconds(static_cast<double>(steps.size()) / rates);
}

const GossipStrategy kPairs{.asynchronous = true}, kAfter{.overlap = false, .asynchronous = true};

}  // namespace

TEST_CASE("who chooses, and who answers") {
  using Colours = std::vector<bool>;
  CHECK(two_colours({NeighbourGraph::ring}, 4) == Colours{false, true, false, true});
  CHECK(!two_colours({NeighbourGraph::ring}, 5));
  CHECK(two_colours({NeighbourGraph::ring}, 1) == Colours{false});
  CHECK(two_colours({NeighbourGraph::hypercube}, 4) == Colours{false, true, true, false});  // by the number of ones
  // Rank i + 2j at (i, j), by i + j.
  CHECK(two_colours({NeighbourGraph::torus, {2, 4}}, 8) == Colours{false, true, true, false, false, true, true, false});
  CHECK(!two_colours({NeighbourGraph::torus, {2, 3}}, 6));
  CHECK(two_colours({NeighbourGraph::complete}, 2));
  CHECK(!two_colours({NeighbourGraph::complete}, 3));
  CHECK(!two_colours({NeighbourGraph::exponential}, 8));  // 0 to 1, 1 to 2 and 0 to 2
  CHECK(two_colours({NeighbourGraph::edges, {}, {{0, 1}, {1, 2}}}, 3) == Colours{false, true, false});
  CHECK(!two_colours({NeighbourGraph::edges, {}, {{0, 1}, {2, 3}}}, 4));  // two parts
  CHECK(allows_pairs({NeighbourGraph::hypercube}, PairChoosers::half, 8));
  CHECK(!allows_pairs({NeighbourGraph::complete}, PairChoosers::half, 8));
  CHECK(allows_pairs({NeighbourGraph::complete}, PairChoosers::all, 8));
  CHECK(!allows_pairs({NeighbourGraph::one_peer_hypercube}, PairChoosers::all, 8));
  CHECK(choosing_ranks({NeighbourGraph::ring}, PairChoosers::half, 4) == Colours{true, false, true, false});
}

TEST_CASE("a pair by hand") {
  // An exchange over 10 Gb/s takes 1 + 8 ms, and hides behind 20 ms of computing.
  require_close(21_ms, step(pairs(2, 10_Gbps, kPairs)), 1e-9, "hidden");
  // After the gradient, it adds 9 ms to each step of the worker that chooses. The other one only answers.
  require_close(mean({30_ms, 21_ms}), step(pairs(2, 10_Gbps, kAfter)), 2e-3, "not hidden");
  // 1 + 80 ms at 1 Gb/s, then the update.
  require_close(mean({82_ms, 21_ms}), step(pairs(2, 1_Gbps, kPairs)), 2e-3, "slow link");
  // γ and h of 0.5 ns/B each: 10 ms, on both hosts at once.
  Scenario costly = pairs(2, 1_Gbps, kPairs);
  costly.cluster.reduction_cost = costly.cluster.stack.host_cost = 0.5_ns_per_B;
  require_close(mean({92_ms, 21_ms}), step(costly), 2e-3, "copied and added");
}

TEST_CASE("pairs after several steps, and pairs of islands, by hand") {
  // Every fourth step has an exchange, beside its computing. At 1 Gb/s it takes 81 ms: 3·21 + 81 + 1.
  GossipStrategy seldom = kPairs;
  seldom.steps = 4;
  require_close(mean({145_ms / 4, 21_ms}), step(pairs(2, 1_Gbps, seldom)), 2e-3, "every fourth step");
  // Machines of two sum and gather in no time. Each worker sends its 5 MB after the update, both over one NIC: 1 + 80 ms.
  GossipStrategy islands = kAfter;
  islands.islands = Islands{.size = 2};
  Scenario machines = pairs(4, 1_Gbps, islands);
  machines.cluster.topology = Nodes{2, {BytesPerSecond(1e20), Seconds{}}, 1};
  require_close(mean({102_ms, 21_ms}), step(machines), 2e-3, "two islands");
  // A slow worker holds back its island alone: the one that only answers.
  machines.cluster.groups = {{1, 0.5, {}, {}}};
  require_close(mean({102_ms, 42_ms}), step(machines), 2e-3, "a slow worker");
  CHECK(two_colours({NeighbourGraph::ring, {}, {}, 0, 2}, 8) ==
        std::vector<bool>{false, false, true, true, false, false, true, true});
}

TEST_CASE("a pair of two machines, and of one") {
  // 2 us inside, 1 ms and 2 us between them. After the gradient, the worker that chooses takes 21 ms and the exchange.
  Scenario scenario = pairs(2, 1_Gbps, kAfter);
  const Link inner{100_GBps, 2_us};
  scenario.cluster.topology = Nodes{1, inner, 1};
  require_close(mean({21_ms + 80_ms + 1_ms + 2_us, 21_ms}), step(scenario), 2e-3, "two machines");
  scenario.cluster.topology = Nodes{2, inner, 1};
  require_close(mean({21_ms + 0.1_ms + 2_us, 21_ms}), step(scenario), 2e-3, "one machine");
}

TEST_CASE("bytes and memory of pairs") {
  // 10 MB each way for each worker that chooses: one of two, one of four (in the centre), three of four, none of one.
  const auto sent = [](const Scenario& scenario) {
    const StepGraph graph = build_step_graph(scenario, make_workload(*scenario.workload));
    return summarise(scenario, graph, CachedPrices(scenario.cluster)).sent;
  };
  const auto around = [](int centre) {
    GossipStrategy strategy{.graph = NeighbourGraph::edges, .asynchronous = true};
    for (int rank = 0; rank < 4; ++rank)
      if (rank != centre) strategy.edges.push_back({rank, centre});
    return strategy;
  };
  require_close(10_MB, sent(pairs(2, 1_Gbps, kPairs)), 1e-12, "two workers");
  require_close(5_MB, sent(pairs(4, 1_Gbps, around(0))), 1e-12, "rank 0 in the centre");
  require_close(15_MB, sent(pairs(4, 1_Gbps, around(3))), 1e-12, "rank 0 outside");
  CHECK(sent(pairs(1, 1_Gbps, kPairs)) == 0_B);
  // Its own parameters and those of one neighbour, for four neighbours too.
  const Scenario torus = pairs(16, 1_Gbps, {.graph = NeighbourGraph::torus, .asynchronous = true});
  CHECK(worker_memory(torus, make_workload(*torus.workload)).parameters == 20_MB);
}

TEST_CASE("pairs that send codes") {
  // 2.5 million elements by a byte each, and a scale, at 1 Gb/s: 20 ms and 32 ns after 1 ms. Kernels launch in 10 us, and
  // move 100 GB/s. At last, three vectors of 10 MB are read and one is written.
  const CodecRates rates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};
  const CodecPlan plan = make_plan(EightBit{}, Tensor{{2500000}});
  const Seconds encode = price(plan.stages.front().encode, rates),
                decode = 2.0 * price(sum_kernels(plan, 1), rates) + 10_us + 40_MB / BytesPerSecond(1e11);
  Scenario scenario = pairs(2, 1_Gbps, kAfter);
  scenario.compressor = EightBit{};
  scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
  const Seconds computing = 21_ms + encode + decode;
  require_close(mean({computing + 1_ms + 2500004_B / 1_Gbps, computing}), step(scenario), 2e-3, "after the gradient");
  // Beside the gradient: encoding begins the step, and the exchange ends with the 20 ms that follow it, or later.
  scenario.strategy = kPairs;
  require_close(mean({encode + 1_ms + 2500004_B / 1_Gbps + decode + 1_ms, computing}), step(scenario), 2e-3, "beside");
  CHECK(worker_memory(scenario, make_workload(*scenario.workload)).parameters == 20_MB);
  // Ratio 4 at 1 ns/B: 10 ms before and after; 2.5 MB are sent and added at 1 ns/B.
  scenario.compressor = RatioCompressor{4.0, 1_ns_per_B, 1_ns_per_B};
  scenario.strategy = kAfter;
  scenario.cluster.reduction_cost = 1_ns_per_B;
  require_close(mean({41_ms + 1_ms + 20_ms + 2.5_ms, 41_ms}), step(scenario), 2e-3, "ratio");
}

TEST_CASE("all workers choose, and answer beside their own pair (SwarmSGD)") {
  // Two choose each other. Each sends its own parameters twice at a time over its link: 1 + 160 ms, then the update.
  GossipStrategy all{.graph = NeighbourGraph::complete, .asynchronous = true, .choosers = PairChoosers::all};
  require_close(162_ms, step(pairs(2, 1_Gbps, all)), 1e-9, "two workers");
  // A worker of three is in three pairs at a time at most, after each other in pairs: 3·(1 + 0.8) ms at 100 Gb/s. That hides
  // behind 20 ms of computing, on a graph without two halves.
  require_close(21_ms, step(pairs(3, 100_Gbps, all)), 1e-9, "three workers, hidden");
  const Scenario three = pairs(3, 100_Gbps, all);
  const StepGraph graph = build_step_graph(three, make_workload(*three.workload));
  // Each sends 10 MB to the one that it chooses, and is chosen as often.
  require_close(20_MB, summarise(three, graph, CachedPrices(three.cluster)).sent, 1e-12, "bytes sent");
  // Its own parameters, a neighbour's, and the copy that answers.
  CHECK(worker_memory(three, make_workload(*three.workload)).parameters == 30_MB);
  // Codes after the gradient: encoded once; its own and those of two pairs are decoded, and both averages are made.
  const CodecRates rates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};
  const CodecPlan plan = make_plan(EightBit{}, Tensor{{2500000}});
  const Seconds kernels = price(plan.stages.front().encode, rates) + 3.0 * price(sum_kernels(plan, 1), rates) +
                          2.0 * (10_us + 40_MB / BytesPerSecond(1e11));
  all.overlap = false;
  Scenario codes = pairs(2, 1_Gbps, all);
  codes.compressor = EightBit{};
  codes.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
  require_close(21_ms + kernels + 1_ms + 2.0 * (2500004_B / 1_Gbps), step(codes), 1e-9, "codes of two workers");
}

TEST_CASE("a worker answers one at a time") {
  // Workers 0 and 2 choose, and both have worker 1 alone: it exchanges without a break, 81 ms with each in turn.
  const GossipStrategy star{.graph = NeighbourGraph::edges, .edges = {{0, 1}, {1, 2}}, .asynchronous = true};
  require_close(mean({162_ms, 21_ms, 162_ms}), step(pairs(3, 1_Gbps, star)), 3e-3, "two with one");
}

TEST_CASE("two workers that choose from two, by chance") {
  // An exchange takes E = 81 ms, and other work next to nothing. Both choose at once. In half of the cases they take
  // different ones, and both end after E. Otherwise one ends after E and the other one begins. The first one then chooses
  // again: the busy one, so that again one ends in E, or the free one, so that both end. In each E, 3/2 exchanges end in
  // the mean, so each worker's step takes 4E/3. Of 4,000 steps, the standard error is below 1 %.
  const GossipStrategy both{
      .graph = NeighbourGraph::edges, .edges = {{0, 2}, {0, 3}, {1, 2}, {1, 3}}, .asynchronous = true};
  Scenario scenario = pairs(4, 1_Gbps, both);
  WorkloadTable table = *scenario.workload;
  table.forward = table.gradients[0].gap = 50_us;
  table.update = 1_us;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  scenario.cluster.groups = {{2, 1e-3, {}, {}}};  // those who answer compute for 101 ms
  scenario.evaluation.max_steps = 4000;
  require_close(mean({108_ms, 108_ms, 101_ms, 101_ms}), step(scenario), 0.01, "of two");
}

TEST_CASE("other numbers, other pairs") {
  Scenario twice = pairs(4, 1_Gbps, kPairs);
  twice.evaluation.runs = 2;
  CHECK(runs_of(twice) == 2);
  std::get<GossipStrategy>(twice.strategy).asynchronous = false;
  CHECK(runs_of(twice) == 1);
  Scenario scenario = pairs(8, 1_Gbps, GossipStrategy{.graph = NeighbourGraph::hypercube, .asynchronous = true});
  scenario.evaluation.max_steps = 20;
  Scenario other = scenario;
  other.evaluation.seed += 1;
  const auto answers = replay_all({{"", scenario}, {"", scenario}, {"", other}});
  CHECK(answers[0].step == answers[1].step);
  CHECK(answers[0].step != answers[2].step);
}
