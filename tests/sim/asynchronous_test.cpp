// Asynchronous and stale-synchronous parameter servers, whose order only time decides.
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/report.hpp"
#include "models/strategy/builder.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// One tensor of 10 MB (8 ms at 10 Gb/s), forward 20 ms, backward 30 ms; no latency, no update.
Scenario server(int p, Consistency consistency, double slow_speed = 1.0) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {10_Gbps, Seconds{}};
  if (slow_speed != 1.0) cluster.groups = {{1, slow_speed, {}, {}}};
  ParameterServerStrategy strategy;
  strategy.consistency = consistency;
  Scenario scenario = scenario_of(cluster, strategy);
  scenario.workload = std::make_shared<const WorkloadTable>(one_tensor(20_ms, 30_ms));
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 300;
  return scenario;
}

ParameterServerStrategy& strategy_of(Scenario& scenario) {
  return std::get<ParameterServerStrategy>(scenario.strategy);
}

/// Two tensors of 10 MB, ready 30 and 35 ms after the step begins. Each is exchanged separately over 1 GB/s: 10 ms a
/// way.
Scenario two_tensors(Consistency consistency) {
  Scenario scenario = server(1, consistency);
  scenario.cluster.link.bandwidth = 1_GBps;
  WorkloadTable table = *scenario.workload;
  table.gradients = {{"a", 2500000, 10_ms}, {"b", 2500000, 5_ms}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  strategy_of(scenario).exchange.grouping = Grouping::per_tensor;
  return scenario;
}

std::string notes_of(const Scenario& scenario, const StepForecast& replay = {}) {
  const Workload workload = make_workload(*scenario.workload);
  const StepGraph graph = build_step_graph(scenario, workload);
  const Answers answers{{}, replay};
  const PointReport report =
      make_point_report({{}, scenario, {}, {}, {}},
                        {{workload, answers}, graph, summarise(scenario, graph, CachedPrices(scenario.cluster))});
  return fmt::format("{}", fmt::join(texts_of(report.notes), "; "));
}

Seconds step(const Scenario& scenario) { return replay_all({{"", scenario}}).front().step; }

}  // namespace

TEST_CASE("one asynchronous worker does one thing after the other") {
  // 50 ms of computing, push 8 ms, pull 8 ms.
  require_close(66_ms, step(server(1, Consistency::asynchronous)), 1e-9, "one worker");
  // With an exchange every fourth step: (4·50 + 16)/4 ms.
  Scenario seldom = server(1, Consistency::asynchronous);
  strategy_of(seldom).steps = 4;
  require_close(54_ms, step(seldom), 1e-9, "every fourth step");
}

TEST_CASE("compressed messages to asynchronous servers, by hand") {
  // 2,500,000 elements. top-k keeps 25,000: 200,000 B, 0.16 ms at 10 Gb/s. A kernel takes 10 us a launch and bytes at
  // 100 GB/s. Parameters of 10 MB come back in 8 ms.
  const CodecRates rates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, .measured = {}};
  const auto with = [&](const Compressor& compressor, bool two_way, int p = 1) {
    Scenario scenario = server(p, Consistency::asynchronous);
    strategy_of(scenario).two_way = two_way;
    scenario.compressor = compressor;
    scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
    return step(scenario).si();
  };
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, rates).si(); };
  const CodecPlan top = make_plan(TopK{.ratio = 0.01}, Tensor{{2500000}});
  const double encode = time(encode_kernels(top)) + time(top.remember), one = time(sum_kernels(top, 1));
  require_close(50e-3 + encode + 0.16e-3 + one + 8e-3, with(TopK{.ratio = 0.01}, false), 1e-9, "top-k");
  require_close(50e-3 + encode + 0.32e-3 + time(recode_kernels(top, 1)) + one, with(TopK{.ratio = 0.01}, true), 1e-9,
                "top-k, encoded again by the server");
  // fp16: 5 MB, 4 ms each way. Without two_way the server decodes each push.
  const CodecPlan half = make_plan(Fp16{}, Tensor{{2500000}});
  const double cast = time(half.stages[0].encode), back = time(half.decode.first);
  require_close(50e-3 + cast + 4e-3 + back + 8e-3, with(Fp16{}, false), 1e-9, "fp16");
  require_close(50e-3 + cast + 8e-3 + back, with(Fp16{}, true), 1e-9, "fp16, both ways");
  // Signs: 312,500 B, 0.25 ms. Two equal workers begin apart by chance, by up to 50 ms, and with seed 1 they do not meet.
  const CodecPlan signs = make_plan(SignSgd{}, Tensor{{2500000}});
  const double sign = time(encode_kernels(signs)) + time(signs.remember), decode = time(sum_kernels(signs, 1));
  require_close(50e-3 + sign + 0.25e-3 + decode + 8e-3, with(SignSgd{}, false), 1e-9, "signs");
  require_close(50e-3 + sign + 0.25e-3 + decode + 8e-3, with(SignSgd{}, false, 2), 1e-9, "signs of two workers");
  // Pulls every second step: the first push travels beside the second step.
  Scenario seldom = server(1, Consistency::asynchronous);
  strategy_of(seldom).pull_steps = 2;
  seldom.compressor = SignSgd{};
  seldom.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
  require_close(50e-3 + sign + (0.25e-3 + decode + 8e-3) / 2, step(seldom).si(), 1e-9,
                "signs, a pull every second step");
  // Stale-synchronous, bound 0: the slower worker takes twice as long to compute and encode, and the other one waits for it.
  Scenario bounded = server(2, Consistency::stale_synchronous, 0.5);
  strategy_of(bounded).bound = 0;
  bounded.compressor = SignSgd{};
  bounded.codec.device = seldom.codec.device;
  require_close(2 * (50e-3 + sign) + 0.25e-3 + decode + 8e-3, step(bounded).si(), 1e-9, "signs, stale-synchronous");
}

TEST_CASE("asynchronous servers take parts of buckets, by hand") {
  // 10 MB, ready after 50 ms, in two parts of 4 ms a way: the first part is pulled while the second is pushed.
  Scenario parts = server(1, Consistency::asynchronous);
  strategy_of(parts).exchange.partition = 5_MB;
  require_close(62_ms, step(parts), 1e-9, "two parts");
  strategy_of(parts).exchange.partition = 1_MB;
  require_close(58.8_ms, step(parts), 1e-9, "50 + 8 + 0.8 ms");
}

TEST_CASE("asynchronous servers take parts of the first layers first, by hand") {
  // Of 10 MB, b is the first layer's, ready at 35 ms; a is ready at 30. Both layers compute for 10 ms forward. Parts of 5 MB
  // take 5 ms a way. Pushes of a to 35, of b to 40 and 45, of a to 50; each is pulled in the next 5 ms. The first layer
  // computes from 50 on, when the last part of a is not there yet, and a has all by 55.
  // In their order, the last part is there at 55, and the forward pass waits for it.
  for (const Consistency consistency :
       {Consistency::synchronous, Consistency::asynchronous, Consistency::stale_synchronous}) {
    Scenario scenario = two_tensors(consistency);
    strategy_of(scenario).exchange.partition = 5_MB;
    require_close(55_ms, step(scenario), 1e-9, fmt::format("{}, in order", name_of(consistency)));
    strategy_of(scenario).exchange.priority = true;
    require_close(50_ms, step(scenario), 1e-9, fmt::format("{}, by priority", name_of(consistency)));
  }
  // Another worker, which is as good as dead, changes the order's times alone: twice as long, in the same order.
  Scenario first = two_tensors(Consistency::backup_workers);
  first.cluster.workers = 2;
  first.cluster.groups = {{1, 1e-4, {}, {}}};
  strategy_of(first).exchange.partition = 5_MB;
  require_close(55_ms, step(first), 1e-9, "backup workers, in order");
  strategy_of(first).exchange.priority = true;
  require_close(50_ms, step(first), 1e-9, "backup workers, by priority");
}

TEST_CASE("machines as asynchronous workers, by hand") {
  // Machines of 2 with one NIC. At 10 GB/s inside, 2 workers reduce-scatter 10 MB in 0.5 ms, and gather them in 0.5 ms.
  // Both push their 5 MB over the NIC: 8 ms, and pull them in 8 ms. A step computes 50 ms.
  const auto on_machines = [](Scenario scenario, bool sums = true) {
    scenario.cluster.topology = Nodes{2, {10_GBps, Seconds{}}, 1};
    strategy_of(scenario).sum_in_machine = sums;
    return scenario;
  };
  require_close(67_ms, step(on_machines(server(2, Consistency::asynchronous))), 1e-9, "one machine");
  require_close(117_ms, step(on_machines(server(2, Consistency::asynchronous, 0.5))), 1e-9, "its slower worker");
  Scenario seldom = on_machines(server(2, Consistency::asynchronous));
  strategy_of(seldom).steps = 4;
  require_close(54.25_ms, step(seldom), 1e-9, "(4·50 + 17)/4 ms");
  // Signs of a share: 156,250 B. Both go over the NIC in 0.25 ms, and parameters come back.
  Scenario signs = on_machines(server(2, Consistency::asynchronous));
  signs.compressor = SignSgd{};
  signs.codec.scope = CodecScope::machines;
  signs.codec.device = device_of({}, BytesPerSecond(1e25), FlopsPerSecond(1e25));
  require_close(59.25_ms, step(signs), 1e-9, "50 + 0.5 + 0.25 + 8 + 0.5 ms");
  // Both ways, with fp16 inside: 5 MB are reduce-scattered and gathered in 0.25 ms each.
  strategy_of(signs).two_way = true;
  signs.inner_compressor = Fp16{};
  require_close(51_ms, step(signs), 1e-9, "50 + 0.25 + 0.25 + 0.25 + 0.25 ms");
  // Without messages to speak of, a machine of a slow worker makes a step in 100 ms, and another one in 50: 2/3 of 100.
  const auto by_computing = [&](Scenario scenario, bool sums) {
    scenario = on_machines(std::move(scenario), sums);
    scenario.cluster.link.bandwidth = BytesPerSecond(1e15);
    std::get<Nodes>(scenario.cluster.topology).inner.bandwidth = BytesPerSecond(1e15);
    return step(scenario).si();
  };
  require_close(2 / (1 / 100e-3 + 1 / 50e-3), by_computing(server(4, Consistency::asynchronous, 0.5), true), 1e-2,
                "two machines");
  require_close(4 / (1 / 100e-3 + 3 / 50e-3), by_computing(server(4, Consistency::asynchronous, 0.5), false), 1e-2,
                "four workers");
}

TEST_CASE("property: one machine of asynchronous workers takes the time of a synchronous one") {
  property(
      "sums in one machine",
      [] {
        Scenario scenario = scenario_of(star(1), ParameterServerStrategy{});
        Cluster& cluster = scenario.cluster;
        cluster.workers = integer_between(2, 4);
        cluster.topology = Nodes{cluster.workers, {BytesPerSecond(positive_between(1e9, 1e11)), 3_us}, 1};
        auto& servers = strategy_of(scenario);
        servers.sum_in_machine = true;
        servers.shards = integer_between(1, 3);
        servers.exchange.grouping = coin() ? Grouping::per_tensor : Grouping::whole_model;
        servers.exchange.overlap = coin();
        servers.steps = integer_between(1, 3);
        // A server that adds, copies or updates serves one share after the other, and its first answer leaves earlier.
        cluster.reduction_cost = {};
        cluster.stack.host_cost = cluster.stack.inner_host_cost = {};
        servers.server_update_factor = 0;
        scenario.workload = std::make_shared<const WorkloadTable>(small_workload(positive_between(0.01, 1.0)));
        Scenario synchronous = scenario;
        servers.consistency = coin() ? Consistency::asynchronous : Consistency::stale_synchronous;
        const auto answers = replay_all({{"", scenario}, {"", synchronous}});
        assert_close(answers[1].step.si(), answers[0].step.si(), 1e-9, to_json(scenario).dump());
      },
      60);
}

TEST_CASE("pushes and pulls at other steps, by hand") {
  // 50 ms a step; 8 ms a push, 8 ms a pull. The worker waits for pulls alone, and for the push that comes before one.
  const auto with = [](int push, int pull, BytesPerSecond bandwidth = 10_Gbps, Seconds update = {}) {
    Scenario scenario = server(1, Consistency::asynchronous);
    scenario.cluster.link.bandwidth = bandwidth;
    strategy_of(scenario).steps = push;
    strategy_of(scenario).pull_steps = pull;
    WorkloadTable table = *scenario.workload;
    table.update = update;
    scenario.workload = std::make_shared<const WorkloadTable>(table);
    return scenario;
  };
  require_close((200_ms + 16_ms) / 4, step(with(4, 4)), 1e-9, "both after four");
  // The push after two steps travels during the third.
  require_close((200_ms + 16_ms) / 4, step(with(2, 4)), 1e-9, "pushes twice");
  require_close((200_ms + 24_ms) / 4, step(with(4, 2)), 1e-9, "pulls twice");
  require_close((150_ms + 16_ms) / 3, step(with(1, 3)), 1e-9, "pulls after three");
  // Steps 2, 3, 4 and 6: a pull, a push behind the fourth step, a pull, and both.
  require_close((300_ms + 8_ms + 8_ms + 16_ms) / 6, step(with(3, 2)), 1e-9, "after three and two");
  // 6 ms of update: by the worker after the first and second step, by the server after the third.
  require_close((150_ms + 12_ms + 8_ms + 6_ms + 8_ms) / 3, step(with(1, 3, 10_Gbps, 6_ms)), 1e-9, "updates");
  // 80 ms a push at 1 Gb/s, one after the other from 50 ms on, and 80 ms of pull.
  require_close((50_ms + 3 * 80_ms + 80_ms) / 3, step(with(1, 3, 1_Gbps)), 1e-9, "slow pushes");
  // Copies of 10 ms: after two steps out of the server and in, after four out, in, out and in.
  Scenario copied = with(4, 2, BytesPerSecond(1e20));
  copied.cluster.stack.host_cost = 1_ns_per_B;
  require_close((200_ms + 20_ms + 40_ms) / 4, step(copied), 1e-9, "copies");
}

TEST_CASE("asynchronous workers keep a slow server busy") {
  // γ = 10 ns/B on the server: 100 ms for each push, one after the other. Eight workers compute for 66 ms and ask for
  // more than it can do, so the server is never idle. Each push takes 100 ms, and a step takes 800 ms.
  Scenario scenario = server(8, Consistency::asynchronous);
  std::get<ParameterServerStrategy>(scenario.strategy).server_reduction_cost = 10_ns_per_B;
  require_close(800_ms, step(scenario), 2e-3, "server-bound");
  // Exchanges every other step: workers compute for 100 + 16 ms, and the server still needs 800 ms for all of them.
  strategy_of(scenario).steps = 2;
  require_close(400_ms, step(scenario), 2e-3, "every other step");
}

TEST_CASE("a straggler slows asynchronous workers only by its own share") {
  // Two workers with links that are never contended for long. Alone, the fast one needs 66 ms a step, the slow one
  // (half speed) 116 ms. Their rates add: mean step 2/(1/66 + 1/116) ms = 84.1 ms. Sharing the server's link costs at
  // most the other's 16 ms now and then. The step is therefore at most 16 % more.
  const Seconds alone(2.0 / (1.0 / 0.066 + 1.0 / 0.116));
  const Seconds got = step(server(2, Consistency::asynchronous, 0.5));
  CHECK(got >= alone * (1 - 1e-9));
  CHECK(got <= alone * 1.16);
}

TEST_CASE("stale-synchronous workers end up at the straggler's pace") {
  // Bound s: the fast worker may be s steps ahead, then it waits. In the long run, both do one step in the slow
  // worker's 116 ms, plus at most 16 ms of contention.
  for (const int bound : {0, 1, 4}) {
    Scenario scenario = server(2, Consistency::stale_synchronous, 0.5);
    std::get<ParameterServerStrategy>(scenario.strategy).bound = bound;
    const Seconds got = step(scenario);
    INFO("bound " << bound << ": " << got.si() << " s");
    CHECK(got >= 116_ms * (1 - 1e-9));
    CHECK(got <= 132_ms);
  }
}

TEST_CASE("an asynchronous step's breakdown adds up") {
  const auto forecast = replay_all({{"", server(3, Consistency::asynchronous, 0.7)}}).front();
  require_close(forecast.step, forecast.breakdown.total(), 1e-9, "sum of the parts");
}

TEST_CASE("hosts' copies add up in any order of arrival") {
  // h = 1 ns/B: n·h = 10 ms; wires of no length and 50 ms of computing. A worker copies n out and n in; a shard's host
  // n/M in and n/M out for each worker, one after the other. Synchronous: n + p·2n/M + n.
  struct Expected {
    int p, shards;
    Seconds synchronous, asynchronous;
  };
  for (const auto& [p, shards, synchronous, asynchronous] : {
           Expected{1, 1, 90_ms, 90_ms},  // n + 2n + n = 4n
           Expected{1, 4, 75_ms, 75_ms},  // n + 2n/4 + n = 2.5n
           Expected{4, 1, 150_ms,
                    90_ms},  // n + 8n + n; spread out, each finds the shard idle: its 80 ms a round fit into 90
           Expected{4, 4, 90_ms, 75_ms},    // n + 8n/4 + n
           Expected{8, 1, 230_ms, 160_ms},  // n + 16n + n; the shard's host is never idle, 8·2n
       })
    for (const Consistency consistency :
         {Consistency::synchronous, Consistency::asynchronous, Consistency::stale_synchronous}) {
      Scenario scenario = server(p, consistency);
      scenario.cluster.link.bandwidth = BytesPerSecond(1e20);
      scenario.cluster.stack.host_cost = 1_ns_per_B;
      strategy_of(scenario).shards = shards;
      require_close(consistency == Consistency::synchronous ? synchronous : asynchronous, step(scenario), 1e-9,
                    fmt::format("p={} M={} {}", p, shards, name_of(consistency)));
    }
}

TEST_CASE("nothing is copied for the shard on a worker's own host") {
  // Two workers with a shard each, half of n: 5 ms out, 5 + 5 ms on the other's host, 5 ms in.
  for (const Consistency consistency : {Consistency::synchronous, Consistency::asynchronous}) {
    Scenario scenario = server(2, consistency);
    scenario.cluster.link.bandwidth = BytesPerSecond(1e20);
    scenario.cluster.stack.host_cost = 1_ns_per_B;
    strategy_of(scenario).shards = 2;
    strategy_of(scenario).placement = ServerPlacement::co_located;
    require_close(70_ms, step(scenario), 1e-9, fmt::format("co-located, {}", name_of(consistency)));
  }
}

TEST_CASE("an asynchronous worker pushes one bucket while it pulls the other") {
  // a: pushed from 30 to 40 ms, pulled to 50; b: pushed from 40 to 50, pulled to 60.
  for (const Consistency consistency : {Consistency::synchronous, Consistency::asynchronous}) {
    Scenario scenario = two_tensors(consistency);
    require_close(60_ms, step(scenario), 1e-9, fmt::format("{}", name_of(consistency)));
    // h = 0.1 ns/B: 1 ms a copy. a: out at 31, there at 41, copied in and out by the shard's host at 43, back at 53, in
    // at 54. b: out from 41, when a has left, to 42, there at 52, served at 54, back at 64, in at 65.
    scenario.cluster.stack.host_cost = 0.1_ns_per_B;
    require_close(65_ms, step(scenario), 1e-9, fmt::format("{}, with copies", name_of(consistency)));
  }
}

// One worker's order of pushes is no question of time: both kinds of servers are one algorithm.
TEST_CASE("property: one asynchronous worker takes as long as a synchronous one") {
  property(
      "same step",
      [] {
        Cluster cluster = star(1);
        cluster.link = {BytesPerSecond(positive_between(1e8, 1e10)), Seconds(positive_between(1e-6, 1e-3))};
        cluster.stack.host_cost = SecondsPerByte(coin() ? positive_between(1e-11, 1e-9) : 0.0);
        ParameterServerStrategy strategy;
        strategy.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
        strategy.shards = strategy.placement == ServerPlacement::dedicated ? integer_between(1, 4) : 1;
        strategy.two_way = coin();
        strategy.steps = integer_between(1, 3);
        // Greedy synchronous shards each hold a buffer for as long as the worker would copy if all were there: the same
        // without copies.
        if (cluster.stack.host_cost == SecondsPerByte{} && coin()) strategy.balance = ShardBalance::greedy;
        strategy.exchange = {static_cast<Grouping>(integer_between(0, 2)), 6_MB, {3_MB}, coin()};
        strategy.exchange.priority =
            strategy.exchange.grouping != Grouping::whole_model && strategy.steps == 1 && coin();
        if (coin()) strategy.exchange.partition = 4_MB;
        cluster.stack.backward_slowdown = real_between(1.0, 1.2);
        Scenario synchronous = scenario_of(cluster, strategy);
        if (coin()) synchronous.compressor = RatioCompressor{4.0, 0.03_ns_per_B, 0.05_ns_per_B};
        Scenario asynchronous = synchronous;
        strategy_of(asynchronous).consistency = coin() ? Consistency::asynchronous : Consistency::stale_synchronous;
        asynchronous.evaluation.max_steps = 20;
        const auto answers = replay_all({{"synchronous", synchronous}, {"asynchronous", asynchronous}});
        assert_close(answers[0].step, answers[1].step, 1e-9, "step");
        assert_close(answers[0].first_step, answers[1].first_step, 1e-9, "first step");
        // Unlike shards answer one after the other; a synchronous pull counts as waiting until the last one has begun.
        if (strategy.balance == ShardBalance::split)
          assert_close(exposed(answers[0].breakdown), exposed(answers[1].breakdown), 1e-7, "exposed communication");
      },
      100);
}

TEST_CASE("equal workers begin by chance, and a note says so") {
  // Two workers share the server's link. In step, they would take 50 + 16 + 16 ms. Apart, each has the link to itself for
  // most of its 8 ms a way.
  const auto is_announced = [](const Scenario& s) { return notes_of(s).find("begin by chance") != std::string::npos; };
  Scenario scenario = server(2, Consistency::asynchronous);
  for (int seed = 1; seed <= 4; ++seed) {
    scenario.evaluation.seed = seed;
    const Seconds apart = step(scenario);
    INFO(seed << ": " << apart.si());
    CHECK(apart >= 66_ms * (1 - 1e-9));
    CHECK(apart <= 74_ms);
    CHECK(step(scenario) == apart);
  }
  CHECK(is_announced(scenario));
  CHECK_THAT(notes_of(scenario), ContainsSubstring("/cluster/jitter"));
  scenario.cluster.jitter = {JitterDistribution::lognormal, 0.05};
  const Seconds spread = step(scenario);
  INFO(spread.si());
  CHECK(spread >= 66_ms * 0.99);
  CHECK(spread <= 74_ms);
  CHECK_FALSE(is_announced(scenario));
  CHECK_FALSE(is_announced(server(1, Consistency::asynchronous)));
  CHECK_FALSE(is_announced(server(2, Consistency::stale_synchronous, 0.5)));
  CHECK(is_announced(server(3, Consistency::stale_synchronous, 0.5)));
  CHECK_FALSE(is_announced(server(2, Consistency::synchronous)));
}

TEST_CASE("other seeds begin at other times") {
  // Four workers, one server's link: pushes and pulls of 8 ms. How they meet depends on the seed.
  Scenario scenario = server(4, Consistency::stale_synchronous);
  std::vector<Case> cases;
  for (int seed = 1; seed <= 8; ++seed) {
    scenario.evaluation.seed = seed;
    cases.push_back({fmt::format("seed {}", seed), scenario});
  }
  std::set<double> steps;
  for (const StepForecast& answer : replay_all(cases)) {
    CHECK(answer.step >= 66_ms * (1 - 1e-9));  // alone
    CHECK(answer.step <= 50_ms + 2 * 32_ms);   // in step
    steps.insert(answer.step.si());
  }
  CHECK(steps.size() > 1);
}

TEST_CASE("a mean of steps that still become shorter is announced, with the remedy") {
  StepForecast replay;
  replay.drift = -0.05;
  Scenario scenario = server(1, Consistency::asynchronous);
  CHECK(notes_of(scenario, replay) ==
        "not steady yet: the second half's steps take 5 % less than the first half's; increase /evaluation/max_steps");
  scenario.cluster.jitter = {JitterDistribution::lognormal, 0.05};
  replay.drift = 0.03;
  CHECK(
      notes_of(scenario, replay) ==
      "by chance or not steady yet, the second half's steps take 3 % more than the first half's; increase /evaluation/max_steps or /evaluation/runs");
  replay.drift = 0.02;
  CHECK(notes_of(scenario, replay).empty());
}

TEST_CASE("a queue of many: a short replay comes near a long one") {
  // 40 workers share one server's link. 40 pushes take 40·8 ms and none can be left out, so in the long run a step
  // takes 320 ms. In step, all would push at once and then all pull: 50 + 2·320 ms. They begin apart by chance.
  Scenario scenario = server(40, Consistency::asynchronous);
  strategy_of(scenario).server_reduction_cost = 0.1_ns_per_B;  // 1 ms each, one after the other
  std::vector<Case> cases;
  for (const int steps : {10, 300}) {
    scenario.evaluation.max_steps = steps;
    cases.push_back({fmt::format("{} steps", steps), scenario});
  }
  const auto answers = replay_all(cases);
  INFO(answers[0].step.si() << " and " << answers[1].step.si() << " s");
  for (const StepForecast& answer : answers) CHECK(std::abs(answer.drift) < 0.02);
  CHECK(answers[0].step <= 320_ms * 1.1);
  CHECK(answers[1].step >= 320_ms * (1 - 1e-3));
  CHECK(answers[1].step <= 320_ms * 1.03);
}
