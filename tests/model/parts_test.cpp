// Parts of message sets and their priorities: the order of a link, and steps by hand.
#include <vector>

#include "models/scenario/rules.hpp"
#include "models/strategy/parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Two layers. Backward: 30 ms, then the last layer's gradient of 8 MB is ready; 10 ms, then the first layer's of 2 MB.
/// Forward: 10 ms for the first layer, 20 ms for the last. Update: 2 ms.
Workload two_layers() {
  Workload w = workload_of(30_ms, {{8e6, 0.030}, {2e6, 0.010}}, {}, 2_ms);
  w.gradients[0].forward = 20_ms;
  w.gradients[1].forward = 10_ms;
  return w;
}

/// Two workers with links of 100 MB/s: a ring takes n/B, 10 ms for each MB.
Cluster two_workers() { return star_cluster(2, BytesPerSecond(1e8), 0_us); }

Exchange tensor_by_tensor(std::optional<Bytes> partition, bool priority) {
  return {.grouping = Grouping::per_tensor, .priority = priority, .partition = partition};
}

StepForecast by_all_reduce(const Exchange& exchange, const Workload& workload = two_layers()) {
  return forecast(scenario_of(two_workers(), AllReduceStrategy{ring_choice(), exchange, Carrier::automatic}), workload);
}

/// The two layers with half their bytes, since both workers share the server's link, and without update.
Workload for_a_server() {
  Workload workload = two_layers();
  workload.update = {};
  for (Gradient& gradient : workload.gradients) gradient.bytes *= 0.5;
  workload.gradient_bytes *= 0.5;
  return workload;
}

StepForecast by_server(const Exchange& exchange, bool duplex) {
  ParameterServerStrategy server;
  server.exchange = exchange;
  server.duplex = duplex;
  return forecast(scenario_of(two_workers(), server), for_a_server());
}

/// Half the bytes; to encode takes 1 ms for each MB, to decode 0.5 ms.
Compressor half() { return RatioCompressor{2.0, 1_ns_per_B, 0.5_ns_per_B}; }

}  // namespace

TEST_CASE("equal parts of at most the partition") {
  const std::vector<Bucket> buckets = make_buckets(two_layers(), tensor_by_tensor({}, false));
  const auto parts = parts_of(buckets, Bytes(3e6));
  REQUIRE(parts.size() == 4);  // 8 MB in 3, 2 MB in 1
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(parts[i].bucket == 0);
    require_close(8e6 / 3, parts[i].bytes.si(), 1e-12, "a third");
    CHECK(parts[i].of == 3);
  }
  CHECK(parts[3].bucket == 1);
  CHECK(parts[3].bytes == Bytes(2e6));
  CHECK(parts_of(buckets).size() == 2);
  CHECK(parts_of(buckets, Bytes(8e6)).size() == 2);
}

TEST_CASE("a link takes the ready turn of the highest priority and interrupts none") {
  using Order = std::vector<std::size_t>;
  // 0 runs alone at first, to 4 s; then 1 and 2 wait, and 2 is preferred.
  CHECK(order_by_priority({{0_s, 4_s, 0}, {1_s, 2_s, 1}, {2_s, 1_s, 2}}) == Order{0, 2, 1});
  // The link idles from 1 to 5 s; 1 and 2 are equals.
  CHECK(order_by_priority({{0_s, 1_s, 0}, {5_s, 1_s, 3}, {5_s, 1_s, 3}}) == Order{0, 1, 2});
  CHECK(order_by_priority({}).empty());
  // The end of 0, at 4 s, makes 2 possible, which beats 1.
  const auto then = [](std::size_t turn, Seconds end) {
    return turn == 0 ? std::optional(Turn{end, 1_s, 5}) : std::nullopt;
  };
  CHECK(order_by_priority({{0_s, 4_s, 0}, {0_s, 2_s, 0}}, then) == Order{0, 2, 1});
}

TEST_CASE("the order has every turn once, and its link is never idle while one is ready") {
  property(
      "orders by priority",
      [] {
        std::vector<Turn> turns;
        for (int i = integer_between(0, 30); i > 0; --i)
          turns.push_back({Seconds(integer_between(0, 20)), Seconds(integer_between(0, 5)),
                           static_cast<std::size_t>(integer_between(0, 4))});
        const auto order = order_by_priority(turns);
        RC_ASSERT(order.size() == turns.size());
        std::vector<bool> done(turns.size(), false);
        Seconds free{};
        for (const std::size_t next : order) {
          RC_ASSERT(!done[next]);
          Seconds earliest = turns[next].ready;
          for (std::size_t i = 0; i < turns.size(); ++i)
            if (!done[i]) earliest = std::min(earliest, turns[i].ready);
          const Seconds begin = std::max(free, earliest);
          RC_ASSERT(turns[next].ready <= begin);
          for (std::size_t i = 0; i < turns.size(); ++i)
            if (!done[i] && turns[i].ready <= begin) RC_ASSERT(turns[i].priority <= turns[next].priority);
          done[next] = true;
          free = begin + turns[next].time;
        }
      },
      300);
}

TEST_CASE("all-reduce in parts by priority, by hand") {
  // From the begin of backward, in ms. Parts of 4 MB: the link has the last layer's first part from 30 to 70, the first
  // layer's from 70 to 90, though it is ready at 40 only, and the last layer's second part from 90 to 130.
  // First layer: update 2/10 of 2 ms and forward, 90 .. 100.4. Last layer: update 1.6, forward 20, 130 .. 151.6.
  const StepForecast parts = by_all_reduce(tensor_by_tensor(Bytes(4e6), true));
  require_close(0.1516, parts.step.si(), 1e-12, "130 + 1.6 + 20");
  require_close(0.030, parts.breakdown.forward.si(), 1e-12, "forward");
  require_close(0.002, parts.breakdown.update.si(), 1e-12, "update");
  require_close(0.1516 - 0.072, parts.breakdown.exposed_communication.si(), 1e-12, "the rest");
  // Whole tensors: 30 .. 110, 110 .. 130. The first layer: 130 .. 140.4, then the last at once: 162 ms, as without
  // priorities, since both must wait for the first layer's tensor.
  require_close(0.162, by_all_reduce(tensor_by_tensor({}, true)).step.si(), 1e-12, "130 + 0.4 + 10 + 1.6 + 20");
  require_close(0.162, by_all_reduce(tensor_by_tensor({}, false)).step.si(), 1e-12, "130 + 2 + 30");
  // Parts alone change nothing on a link without costs of a message.
  require_close(0.162, by_all_reduce(tensor_by_tensor(Bytes(4e6), false)).step.si(), 1e-12, "130 + 2 + 30");
  // After backward, 40: the first layer's part goes first, to 60; the last layer's 60 .. 140; 140 + 1.6 + 20.
  Exchange after = tensor_by_tensor(Bytes(4e6), true);
  after.overlap = false;
  require_close(0.1616, by_all_reduce(after).step.si(), 1e-12, "40 + 20 + 80 + 21.6");
}

TEST_CASE("more bandwidth may make a step by priority longer, by hand") {
  // Parts of 1 MB take 10 ms at 0.1 GB/s, from 30 on. At 40 the first layer's 2 MB are ready, just as the link is free:
  // 40 .. 60 in two parts. The first layer computes for 100 ms: 60 + 0.4 + 100. The last layer: 1.6 + 20.
  // At 0.101 GB/s a part takes 10/1.01. The link is free at 39.9 and takes another one of the last layer's.
  Workload workload = two_layers();
  workload.gradients[1].forward = 100_ms;
  workload.forward = 120_ms;
  const AllReduceStrategy strategy{ring_choice(), tensor_by_tensor(Bytes(1e6), true), Carrier::automatic};
  const auto step = [&](double bandwidth) {
    return step_time(scenario_of(star_cluster(2, BytesPerSecond(bandwidth), 0_us), strategy), workload);
  };
  require_close(0.1820, step(1.00e8), 1e-12, "60 + 100.4 + 21.6");
  require_close(0.030 + 4 * 0.010 / 1.01 + 0.1004 + 0.0216, step(1.01e8), 1e-12,
                "two parts, then the first layer's two");
}

TEST_CASE("negotiation goes on beside the exchange before, by hand") {
  // Negotiations take 50 ms each, from the begin of backward. Workers agree on the last layer's tensor at 30 + 50 = 80,
  // on the first layer's at 130. Exchanges: 80 .. 160, 160 .. 180. Update and forward pass: 180 + 2 + 30.
  Cluster cluster = two_workers();
  cluster.stack.negotiation_cost = 50_ms;
  const auto step = [&](const Exchange& exchange) {
    return forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange, Carrier::automatic}), two_layers());
  };
  const StepForecast plain = step(tensor_by_tensor({}, false));
  require_close(0.212, plain.step.si(), 1e-12, "180 + 2 + 30");
  // Only negotiation runs from 40, where backward ends, to 80. It is the stack's; it hides behind the exchange then.
  require_close(0.040, plain.breakdown.stack.si(), 1e-12, "40 .. 80");
  require_close(0.100, plain.breakdown.exposed_communication.si(), 1e-12, "80 .. 180");
  // In parts of 4 MB by priority, agreed on at 80, 130 (the first layer's) and 180: exchanged to 120, 150 and 220. The
  // first layer's update and forward pass end at 160.4.
  require_close(0.2416, step(tensor_by_tensor(Bytes(4e6), true)).step.si(), 1e-12, "220 + 1.6 + 20");
  // A single worker has nobody to agree with.
  cluster.workers = 1;
  require_close(0.072, step(tensor_by_tensor({}, false)).step.si(), 1e-12, "30 + 40 + 2");
}

TEST_CASE("several passes: the first forward pass waits by layers, the last backward pass sends") {
  // One more pass, 30 + 40 ms, between the first forward pass and the last backward pass.
  Workload workload = two_layers();
  workload.accumulation = 2;
  require_close(0.1516 + 0.070, by_all_reduce(tensor_by_tensor(Bytes(4e6), true), workload).step.si(), 1e-12,
                "+ 70 ms");
}

TEST_CASE("servers in parts by priority, by hand") {
  // Tensors of 4 and 1 MB in parts of 2 MB: a push or pull of the last layer's takes 40 ms for both workers, the first
  // layer's 20. From the begin of backward, in ms. Pushes: 30 .. 70, the first layer's 70 .. 90, 90 .. 130.
  // Pulls beside them: 70 .. 110, the first layer's 110 .. 130, 130 .. 170. Forward: 130 .. 140, 170 .. 190.
  const Exchange parts = tensor_by_tensor(Bytes(2e6), true);
  require_close(0.190, by_server(parts, true).step.si(), 1e-12, "170 + 20");
  // In turn: push 30 .. 70; of the first layer push 70 .. 90 and pull 90 .. 110; push 110 .. 150, two pulls to 230.
  require_close(0.250, by_server(parts, false).step.si(), 1e-12, "230 + 20");
  // Without priorities, in turn, the earlier to be ready first: pushes 30 .. 70, 70 .. 110, 110 .. 130, since all are
  // ready before the first pull, at 70; pulls 130 .. 210 and 210 .. 230; then the whole forward pass, 30.
  require_close(0.260, by_server(tensor_by_tensor(Bytes(2e6), false), false).step.si(), 1e-12, "230 + 30");
}

TEST_CASE("whole parts on shards, by hand") {
  // Parts of 2, 2 and 1 MB on two shards: the largest first, each to the shard with the fewest bytes. A part goes through
  // its shard's link alone, and the next one follows it: the time of one server, if shards have nothing to compute.
  ParameterServerStrategy server;
  server.shards = 2;
  server.balance = ShardBalance::greedy;
  server.exchange = tensor_by_tensor(Bytes(2e6), true);
  const Scenario scenario = scenario_of(two_workers(), server);
  const StepGraph graph = build_step_graph(scenario, for_a_server());
  std::vector<std::vector<Bytes>> pushes;
  for (const Task& task : graph.tasks)
    if (const auto* shards = std::get_if<ShardWork>(&task.work); shards && shards->exchange == ShardExchange::push)
      pushes.push_back(shards->shard_bytes);
  // The first layer's goes between the last layer's two.
  CHECK(pushes == std::vector<std::vector<Bytes>>{{2_MB, 0_B}, {1_MB, 0_B}, {0_B, 2_MB}});
  require_close(0.190, step_time(scenario, for_a_server()), 1e-12, "as one server");
  // A shard adds two pushes at 10 ns/B: 40 ms for 2 MB, 20 for 1. Pushed at 70 | 90 | 130, ready at 110 | 130 on the first
  // shard, 170 on the second. Pulls: 110 .. 150, 150 .. 170, 170 .. 210. Forward: 170 .. 180, 210 .. 230.
  Scenario adding = scenario;
  std::get<ParameterServerStrategy>(adding.strategy).server_reduction_cost = 10_ns_per_B;
  require_close(0.230, step_time(adding, for_a_server()), 1e-12, "210 + 20");
  // More shards than parts: three hold something.
  std::get<ParameterServerStrategy>(adding.strategy).shards = 8;
  CHECK(build_step_graph(adding, for_a_server()).shards == 3);
}

TEST_CASE("compressed parts by all-reduce, by hand") {
  // From the begin of backward, in ms. The last layer's two parts of 4 MB are encoded from 30 to 38, the first layer's
  // 2 MB from 48 to 50, after its backward pass. Messages of 2 MB take 20, the first layer's 1 MB takes 10.
  const auto step = [](bool priority, bool beside, Seconds first_gap) {
    Scenario scenario = scenario_of(
        two_workers(), AllReduceStrategy{ring_choice(), tensor_by_tensor(Bytes(4e6), priority), {}}, half());
    scenario.codec.overlap = beside;
    Workload workload = two_layers();
    workload.backward += first_gap - workload.gradients[1].gap;
    workload.gradients[1].gap = first_gap;
    return step_time(scenario, workload);
  };
  // In order: 34 .. 54 .. 74 .. 84. All is decoded by then but the first layer's, 1; update 2 and forward 30.
  require_close(0.117, step(false, true, 10_ms), 1e-12, "84 + 1 + 2 + 30");
  // With priority: the first layer's message from 54 to 64, the last layer's second one from 64 to 84. The first layer is
  // decoded, updated and computed from 64 to 75.4; the last layer's 8 MB take 4 to decode, 1.6 and 20.
  require_close(0.1096, step(true, true, 10_ms), 1e-12, "84 + 4 + 1.6 + 20");
  // Encoded after back-propagation, at 40: 44, 48, 50. Messages: 44 .. 64, the first layer's to 74, then to 94.
  require_close(0.1196, step(true, false, 10_ms), 1e-12, "94 + 25.6");
  // If the first layer's backward pass takes 30, its gradient is encoded at 70, when the last layer's second message is
  // on its way, to 74. Its own goes to 84. It is decoded, updated and computed to 95.4.
  require_close(0.121, step(true, true, 30_ms), 1e-12, "95.4 + 4 + 1.6 + 20");
}

TEST_CASE("a part has its share of each tensor, and is encoded by itself") {
  // 8 MB in two parts: 1 % of a million elements are 80,000 B with their indices, where a whole tensor has 160,000 B.
  // A matrix of 2000 x 1000 in two parts: rank 2 keeps 2 · (1000 + 1000) elements of each; P and Q are summed apart.
  const auto graph_of = [](const Compressor& compressor, Gradient gradient) {
    Workload workload = workload_of(30_ms, {{8e6, 0.030}}, {}, {});
    workload.gradients = {std::move(gradient)};
    const AllReduceStrategy strategy{ring_choice(), tensor_by_tensor(Bytes(4e6), false), Carrier::sum_or_gather};
    Scenario scenario = scenario_of(two_workers(), strategy, compressor);
    scenario.codec.device = device_of(10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25));
    return build_step_graph(scenario, workload);
  };
  const auto count = [](const StepGraph& graph, Phase phase) {
    return std::count_if(graph.tasks.begin(), graph.tasks.end(), [&](const Task& task) { return task.phase == phase; });
  };
  const StepGraph top = graph_of(TopK{.ratio = 0.01}, {"flat", 2000000, 8_MB, 30_ms, {2000000}});
  CHECK(top.payload == 160_kB);
  CHECK(count(top, Phase::encode) == 2);
  CHECK(count(top, Phase::exchange) == 2);
  const StepGraph power = graph_of(PowerSgd{.rank = 2}, {"matrix", 2000000, 8_MB, 30_ms, {2000, 1000}});
  CHECK(power.payload == 32_kB);
  CHECK(count(power, Phase::exchange) == 4);
  CHECK(count(power, Phase::encode) == 4);  // each part twice
}

TEST_CASE("two stages of a part by priority: the second one goes with the part's priority") {
  // PowerSGD without kernels' times: two messages a part, the second one when the first is there.
  Scenario scenario =
      scenario_of(two_workers(), AllReduceStrategy{ring_choice(), tensor_by_tensor({}, true), {}}, PowerSgd{.rank = 1});
  scenario.codec.device = device_of(0_us, BytesPerSecond(1e30), FlopsPerSecond(1e30));
  Workload workload = two_layers();
  workload.gradients[0].dims = {1000000, 2};
  workload.gradients[1].dims = {2, 250000};
  std::vector<std::string> messages;
  for (const Task& task : build_step_graph(scenario, workload).tasks)
    if (task.phase == Phase::exchange) messages.push_back(task.name.text());
  // From 30: the last layer's P of 4 MB, to 70. Both the first layer's P and the last layer's Q are ready then.
  CHECK(messages == std::vector<std::string>{"all-reduce 1/2", "all-reduce 2/2", "all-reduce 2/2", "all-reduce 1/2"});
}

TEST_CASE("servers that send compressed sums back by priority, by hand") {
  // Parts of 2 MB. From the begin of backward, in ms: the last layer's two are encoded from 30 to 34, the first layer's
  // 1 MB from 44 to 45. A push or pull of half of 2 MB takes 20 for both workers, the first layer's 10.
  // Pushes: 32 .. 52, the first layer's to 62, to 82. A shard decodes and encodes 2 MB in 3 ms, the first layer's in 1.5.
  // Pulls: 55 .. 75, the first layer's to 85, 85 .. 105. First layer: decoded in 0.5, forward to 95.5. Last layer: 4 MB
  // are decoded from 105 to 107, forward 20.
  ParameterServerStrategy server;
  server.exchange = tensor_by_tensor(Bytes(2e6), true);
  server.two_way = true;
  require_close(0.127, step_time(scenario_of(two_workers(), server, half()), for_a_server()), 1e-12, "107 + 20");
  // Without priority: pushes 32 .. 52 .. 72 .. 82, pulls 55 .. 75 .. 95 .. 105. The last to be decoded is the first
  // layer's, to 105.5; the whole forward pass takes 30.
  server.exchange.priority = false;
  require_close(0.1355, step_time(scenario_of(two_workers(), server, half()), for_a_server()), 1e-12, "105.5 + 30");
  // Plain sums that workers apply: pushes as by priority above without compression, 30 .. 70 .. 90 .. 130; pulls to 170.
  // First layer: from 130, update 0.4 and forward 10. Last layer: update 1.6 and forward 20.
  server.exchange.priority = true;
  Workload workload = for_a_server();
  workload.update = 2_ms;
  require_close(0.1916, step_time(scenario_of(two_workers(), server), workload), 1e-12, "170 + 1.6 + 20");
}

TEST_CASE("parts and priorities that no strategy has are refused with the field") {
  const auto refuses = [](const Scenario& scenario, const char* pointer) {
    const Workload workload = two_layers();
    std::vector<Fault> faults;
    check(scenario, &workload, faults);
    std::erase_if(faults, [](const Fault& fault) { return fault.pointer == "/workload"; });  // it is made in code
    REQUIRE(faults.size() == 1);
    CHECK(faults.front().pointer == pointer);
  };
  const Exchange parts = tensor_by_tensor(Bytes(4e6), true);
  Scenario coded = scenario_of(two_workers(), AllReduceStrategy{ring_choice(), parts, Carrier::automatic});
  coded.compressor = QsparseLocalSgd{.local_steps = 2};
  coded.codec.device = device_of(10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25));
  refuses(coded, "/strategy/exchange/priority");
  Exchange whole = parts;
  whole.grouping = Grouping::whole_model;
  refuses(scenario_of(two_workers(), AllReduceStrategy{ring_choice(), whole, Carrier::automatic}),
          "/strategy/exchange/priority");
  refuses(scenario_of(two_workers(), AllReduceStrategy{ring_choice(), tensor_by_tensor(Bytes(1), false), {}}),
          "/strategy/exchange/partition");
  ParameterServerStrategy server{.consistency = Consistency::asynchronous, .pull_steps = 2, .exchange = parts};
  Scenario asynchronous = scenario_of(two_workers(), server);
  asynchronous.evaluation.evaluator = Evaluator::replay;
  refuses(asynchronous, "/strategy/exchange/priority");
  ShardedStrategy sharded;
  sharded.exchange = parts;
  sharded.exchange.priority = false;
  refuses(scenario_of(two_workers(), sharded), "/strategy/exchange/partition");
}
