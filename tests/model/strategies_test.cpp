// Step graphs of every strategy against recurrences written out for one step, and closed forms.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/price/cluster_prices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Workload random_workload(int max_gradients) {
  std::vector<std::pair<double, double>> gradients;
  for (int i = integer_between(1, max_gradients); i > 0; --i)
    gradients.emplace_back(4.0 * integer_between(1, 2000000), coin() ? real_between(0, 0.02) : 0.0);
  return workload_of(Seconds(real_between(0, 0.1)), gradients, Seconds(coin() ? real_between(0, 0.02) : 0.0),
                     Seconds(real_between(0, 0.02)));
}

Compressor random_compressor() {
  if (coin()) return NoCompressor{};
  return RatioCompressor{real_between(1, 10), SecondsPerByte(coin() ? positive_between(1e-12, 1e-9) : 0.0),
                         SecondsPerByte(coin() ? positive_between(1e-12, 1e-9) : 0.0)};
}

/// ratio, encode and decode cost; 1, 0, 0 without a compressor
struct Codec {
  double ratio = 1, encode = 0, decode = 0;
  explicit Codec(const Compressor& compressor) {
    if (const auto* r = std::get_if<RatioCompressor>(&compressor))
      *this = Codec(r->ratio, r->encode_cost.si(), r->decode_cost.si());
  }
  Codec(double c, double e, double d) : ratio(c), encode(e), decode(d) {}
};

/// The compute stream of one step up to the end of backward.
struct Backward {
  std::vector<double> ready;  ///< when each bucket may be sent
  double end = 0;
};

Backward run_backward(const Workload& w, const std::vector<Bucket>& buckets, const Exchange& exchange,
                      const Codec& codec, bool overlap, double slowdown) {
  Backward b;
  double now = w.forward.si(), backward_end = 0;
  for (const Bucket& bucket : buckets) {
    now += bucket.gap.si() * slowdown;
    backward_end = now;
    now += bucket.bytes.si() * codec.encode;
    b.ready.push_back(now);
  }
  const double tail = exchange.grouping == Grouping::whole_model ? 0 : w.tail.si() * slowdown;
  b.end = now + tail;
  if (tail > 0) backward_end = b.end;
  // Without overlap the first bucket leaves when back-propagation has ended, though the last may still be encoded.
  for (double& ready : b.ready) ready = overlap ? ready : std::max(ready, backward_end);
  return b;
}

/// Decodes follow backward and each other on the compute stream.
double run_decodes(const std::vector<double>& exchanged, const std::vector<Bucket>& buckets, const Codec& codec,
                   double backward_end) {
  double now = backward_end;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    now = std::max(now, exchanged[i]) + buckets[i].bytes.si() * codec.decode;
  return now;
}

std::string names(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ", ")); }

/// Pipe-SGD of width K with compute A = update + forward + backward and a ring that takes B.
Scenario pipelined(const Cluster& cluster, int width, int segments = 1, int warmup = 0) {
  PipelinedStrategy strategy;
  strategy.width = width;
  strategy.segments = segments;
  strategy.warmup_steps = warmup;
  strategy.collective = ring_choice();
  return scenario_of(cluster, strategy);
}

}  // namespace

// --- synchronous AllReduce

TEST_CASE("synchronous AllReduce: forward, backward, exchange, update") {
  Cluster cluster = star_cluster(4, 10_Gbps, 5_us);
  cluster.collective_cost = 20_us;
  cluster.reduction_cost = 0.1_ns_per_B;
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), {}, Carrier::automatic}), w);
  // 6·5 us + 1.5·1e8·0.8 ns + 0.75·1e8·0.1 ns + 20 us = 0.03 + 120 + 7.5 + 0.02 ms = 127.55 ms
  require_close(0.21955, f.step.si(), 1e-12, "30 + 60 + 127.55 + 2 ms");
  require_close(0.21955, f.first_step.si(), 1e-12, "nothing overlaps: the first step takes as long");
  require_close(0.030, f.breakdown.forward.si(), 1e-12, "forward");
  require_close(0.060, f.breakdown.backward.si(), 1e-12, "backward");
  require_close(0.002, f.breakdown.update.si(), 1e-12, "update");
  require_close(0.12755, f.breakdown.exposed_communication.si(), 1e-12, "exchange");
  CHECK(f.breakdown.waiting == 0_s);
  CHECK(f.critical_steps == 1);
  CHECK(f.critical.size() == 4);
}

TEST_CASE("AllReduce in buckets follows the recurrence of one step") {
  // E_i = max(ready_i, E_{i-1}) + t_i; decodes after backward and E_i; update; and the next forward after it.
  property(
      "for any gradients, grouping, overlap, slowdown and compressor",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload(8);
        const Exchange exchange = random_exchange();
        const Compressor compressor = random_compressor();
        const Codec codec(compressor);
        const auto buckets = make_buckets(w, exchange);
        const bool overlap = exchange.overlap && exchange.grouping != Grouping::whole_model;
        const Backward backward = run_backward(w, buckets, exchange, codec, overlap,
                                               overlap && cluster.workers > 1 ? cluster.stack.backward_slowdown : 1.0);
        std::vector<double> exchanged;
        double free = 0;
        for (std::size_t i = 0; i < buckets.size(); ++i)
          exchanged.push_back(free = std::max(free, backward.ready[i]) +
                                     ring_all_reduce(cluster, buckets[i].bytes.si() / codec.ratio));
        const double expected = run_decodes(exchanged, buckets, codec, backward.end) + w.update.si();

        const Scenario scenario = scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange}, compressor);
        const StepForecast f = forecast(scenario, w);
        assert_close(expected, f.step.si(), 1e-9, "step");
        assert_close(expected, f.first_step.si(), 1e-9, "first step");
        assert_close(5 * expected, time_of_steps(scenario, w, 5), 1e-9, "five steps");
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
        RC_ASSERT(f.breakdown.waiting.si() <= 1e-9 * expected);  // like workers, no servers: nobody waits
      },
      2000);
}

TEST_CASE("communication that overlaps with backward is not exposed") {
  // Two gradients of 10 MB, 50 ms of backward each; on 2 workers at 1 GB/s a ring takes 10 ms each.
  const Cluster cluster = star_cluster(2, BytesPerSecond(1e9));
  const Workload w = workload_of(20_ms, {{1e7, 0.05}, {1e7, 0.05}}, 0_s, 0_s);
  Exchange exchange;
  exchange.grouping = Grouping::per_tensor;
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange}), w);
  require_close(0.130, f.step.si(), 1e-12, "20 + 100 + the last 10 ms");
  require_close(0.010, f.breakdown.exposed_communication.si(), 1e-12, "the first exchange hides");
}

// --- parameter server

TEST_CASE("synchronous parameter server: compute, push, serve, pull") {
  // p = 4, M = 2 dedicated, n = 100 MB at 10 Gb/s. Each way takes α + max(4, 2)·50 MB·0.8 ns/B = 5 us + 160 ms. A shard
  // adds 4·50 MB at 0.05 ns/B, 10 ms, and updates half of the parameters, 1 ms.
  Cluster cluster = star_cluster(4, 10_Gbps, 5_us);
  cluster.reduction_cost = 0.1_ns_per_B;
  cluster.collective_cost = 20_us;  // cost of collectives: none here
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  ParameterServerStrategy server;
  server.shards = 2;
  server.server_reduction_cost = 0.05_ns_per_B;
  const StepForecast f = forecast(scenario_of(cluster, server), w);
  require_close(0.42101, f.step.si(), 1e-12, "30 + 60 + 160.005 + 11 + 160.005 ms");
  require_close(0.32001, f.breakdown.exposed_communication.si(), 1e-12, "push and pull");
  require_close(0.011, f.breakdown.waiting.si(), 1e-12, "while servers work");
  CHECK(f.breakdown.update == 0_s);
  // The server's cost is the cluster's unless it has its own: 20 ms; and three times the update: 3 ms.
  server.server_reduction_cost.reset();
  server.server_update_factor = 3;
  require_close(0.43301, step_time(scenario_of(cluster, server), w), 1e-12, "30 + 60 + 160.005 + 23 + 160.005 ms");
  // Co-located: (p-1)·50 MB·0.8 ns/B = 120 ms each way.
  server.placement = ServerPlacement::co_located;
  require_close(0.35301, step_time(scenario_of(cluster, server), w), 1e-12, "30 + 60 + 120.005 + 23 + 120.005 ms");
  // Every fourth step alone has an exchange. The others have 30 + 60 ms and the worker's own update of 2 ms.
  server.steps = 4;
  require_close((3 * 0.092 + 0.35301) / 4, step_time(scenario_of(cluster, server), w), 1e-12, "every 4 steps");
  // Workers that update do so after each step: 3·2 ms less on servers, half of 6 ms each.
  server.two_way = true;
  require_close((4 * 0.092 + 0.26001) / 4, step_time(scenario_of(cluster, server), w), 1e-12,
                "every 4 steps, workers update: 120.005 + 20 + 120.005 ms");
}

TEST_CASE("the parameter server in buckets follows the recurrence of one step") {
  // Dedicated: pushes, serving and pulls each have a stream, so bucket i pulls while bucket i+1 pushes. One co-located
  // shard does the same. Several co-located shards have one stream for both, in the order of readiness.
  property(
      "for any gradients, shards, placement and grouping",
      [] {
        const Cluster cluster = random_star();
        const int p = cluster.workers;
        const Workload w = random_workload(5);
        ParameterServerStrategy server;
        server.exchange = random_exchange();
        server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
        const bool co_located = server.placement == ServerPlacement::co_located;
        server.shards = integer_between(1, co_located ? p : 12);
        if (coin()) server.server_reduction_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
        server.server_update_factor = real_between(0, 3);
        server.two_way = coin();
        const Compressor compressor = random_compressor();
        const Codec codec(compressor);

        const auto buckets = make_buckets(w, server.exchange);
        const bool overlap = server.exchange.overlap && server.exchange.grouping != Grouping::whole_model;
        const Backward backward =
            run_backward(w, buckets, server.exchange, codec, overlap,
                         overlap && !(co_located && p == 1) ? cluster.stack.backward_slowdown : 1.0);
        const double alpha = cluster.link.latency.si(), beta = 1 / cluster.link.bandwidth.si(),
                     host = cluster.stack.host_cost.si();
        // A server's host copies the messages of all workers but its own in, and as many out. A worker copies the bytes
        // that it sends or receives. If every host has a shard, it leaves out the share of its own host's.
        const int remote = co_located ? p - 1 : p,
                  copied_shares = co_located && server.shards == p ? p - 1 : server.shards;
        // A shard adds the pushed messages, decodes the sum, and encodes its answer if that is compressed, too.
        const double add = p * server.server_reduction_cost.value_or(cluster.reduction_cost).si();
        const double serve_per_raw_byte = codec.decode + (server.two_way ? codec.encode : 0);
        std::vector<double> push_transfer, serve, pull_transfer, pulled;
        for (std::size_t i = 0; i < buckets.size(); ++i) {
          const double share = buckets[i].bytes.si() / server.shards, push = share / codec.ratio,
                       pull = server.two_way ? push : share;
          const double flows = co_located ? p - 1 : std::max(p, server.shards);
          const auto transfer = [&](double wire) {
            return flows == 0 ? 0 : alpha + flows * wire * beta + copied_shares * wire * host;
          };
          push_transfer.push_back(transfer(push));
          serve.push_back(
              push * add + (push + pull) * remote * host + share * serve_per_raw_byte +
              (server.two_way ? 0 : w.update.si() * server.server_update_factor * share / w.gradient_bytes.si()));
          pull_transfer.push_back(transfer(pull));
        }
        double pushing = 0, pulling = 0, serving = 0;
        std::vector<double> served;
        double& pull_stream = co_located && server.shards > 1 ? pushing : pulling;
        while (pulled.size() < buckets.size()) {
          const std::size_t i = served.size(), j = pulled.size();
          if (i < buckets.size() && (i == j || backward.ready[i] <= served[j])) {
            pushing = std::max(pushing, backward.ready[i]) + push_transfer[i];
            served.push_back(serving = std::max(serving, pushing) + serve[i]);
          } else {
            pulled.push_back(pull_stream = std::max(pull_stream, served[j]) + pull_transfer[j]);
          }
        }
        // Parameters that come back as they are need no decoding; two-way the worker updates.
        const double expected = run_decodes(pulled, buckets, server.two_way ? codec : Codec(1, 0, 0), backward.end) +
                                (server.two_way ? w.update.si() : 0);

        const Scenario scenario = scenario_of(cluster, server, compressor);
        const StepForecast f = forecast(scenario, w);
        assert_close(expected, f.step.si(), 1e-9, "step");
        assert_close(expected, f.first_step.si(), 1e-9, "first step");
        assert_close(4 * expected, time_of_steps(scenario, w, 4), 1e-9, "four steps");
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
      },
      2000);
}

TEST_CASE("co-located shards: pushes and pulls in the order in which they are ready") {
  // 4 workers with 10 ms of forward, and 10 ms before each of four gradients of 40 MB. The asynchronous replay of one
  // worker at a time has the same. With a shard on each at 100 Gb/s, a push or pull of 3·10 MB takes 2.4 ms. Only the
  // last gradient's are exposed.
  const auto step = [](BytesPerSecond bandwidth, int shards) {
    ParameterServerStrategy server;
    server.placement = ServerPlacement::co_located;
    server.shards = shards;
    server.exchange.grouping = Grouping::per_tensor;
    return step_time(scenario_of(star_cluster(4, bandwidth), server),
                     workload_of(10_ms, {{40e6, 0.01}, {40e6, 0.01}, {40e6, 0.01}, {40e6, 0.01}}, 0_s, 0_s));
  };
  require_close(0.0548, step(100_Gbps, 4), 1e-12, "50 + 2.4 + 2.4 ms");
  // At 10 Gb/s the links are never idle from the first gradient on: 20 ms and eight times 24 ms.
  require_close(0.212, step(10_Gbps, 4), 1e-12, "20 + 8·24 ms");
  // One shard: pulls leave by the link that pushes come in by, the other way: five times 3·40 MB, 96 ms.
  require_close(0.5, step(10_Gbps, 1), 1e-12, "20 + 5·96 ms");
}

TEST_CASE("co-located shards: those that hold different tensors serve side by side, as far as the order goes") {
  // Two workers with a shard each, and three gradients of 2 MB, the first and the last on shard 0. A push or pull takes
  // 2 ms at 1 GB/s. Each update takes a third of 12 ms. Pushed until 12 and 14 ms, the first two are served until 16
  // and 18 ms, not 20. Both are pulled before the third is ready at 19 ms.
  ParameterServerStrategy server;
  server.placement = ServerPlacement::co_located;
  server.shards = 2;
  server.balance = ShardBalance::greedy;
  server.exchange.grouping = Grouping::per_tensor;
  const Scenario scenario = scenario_of(star_cluster(2, 1_GBps), server);
  const StepGraph graph =
      build_step_graph(scenario, workload_of(10_ms, {{2e6, 0}, {2e6, 0}, {2e6, 0.009}}, 0_s, 12_ms));
  std::string order;
  for (const Task& task : graph.tasks)
    if (task.phase == Phase::exchange) order += task.name.text() + ", ";
  CHECK(order == "push 1/3, push 2/3, pull 1/3, pull 2/3, push 3/3, pull 3/3, ");
}

TEST_CASE("greedy shards get whole tensors, largest first") {
  // 8, 7, 5, 4 MB on 2 shards: 8 | 7, then 7+5 = 12 for the lighter (7), then 8+4 = 12: 12 MB each.
  // With p = 2 dedicated: α = 0, 2 flows a shard: 2·12 MB·1 ns/B = 24 ms each way.
  const Cluster cluster = star_cluster(2, BytesPerSecond(1e9));
  ParameterServerStrategy server;
  server.shards = 2;
  server.balance = ShardBalance::greedy;
  require_close(
      0.048,
      step_time(scenario_of(cluster, server), workload_of(0_s, {{5e6, 0}, {8e6, 0}, {4e6, 0}, {7e6, 0}}, 0_s, 0_s)),
      1e-12, "balanced");
  // 8 and 2 MB: shard 2 ends after 2·2 MB. Shard 1's 6 MB then go on, still 2 flows on its link: 2·8 MB = 16 ms.
  require_close(0.032, step_time(scenario_of(cluster, server), workload_of(0_s, {{2e6, 0}, {8e6, 0}}, 0_s, 0_s)), 1e-12,
                "unequal");
  // Update 10 ms: the larger shard's 8/10 of it decide.
  require_close(0.040, step_time(scenario_of(cluster, server), workload_of(0_s, {{2e6, 0}, {8e6, 0}}, 0_s, 10_ms)),
                1e-12, "unequal, with update");
}

TEST_CASE("asynchronous servers are refused, with the remedy") {
  ParameterServerStrategy server;
  const Workload w = simple_workload(1_ms, 1_ms, 1_ms, 1_MB);
  for (const Consistency consistency : {Consistency::asynchronous, Consistency::stale_synchronous}) {
    server.consistency = consistency;
    const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), server);
    const StepGraph graph = build_step_graph(scenario, w);
    CHECK(graph.staleness.has_value() == (consistency == Consistency::stale_synchronous));
    // A trace calls its threads by streams; shards count from 0 there, as workers do.
    for (const std::string name : {"push, shard 0", "serve, shard 0", "pull, shard 0"}) {
      INFO(name);
      CHECK(std::any_of(graph.streams.begin(), graph.streams.end(), [&](const Stream& s) { return s.name == name; }));
      CHECK(std::any_of(graph.tasks.begin(), graph.tasks.end(), [&](const Task& t) { return t.name.text() == name; }));
    }
    CHECK_THROWS_AS(evaluate(graph, scenario.cluster), ModelError);
    CHECK_THROWS_WITH(evaluate(graph, scenario.cluster), ContainsSubstring("--evaluator replay"));
  }
}

// --- pipelined

TEST_CASE("Pipe-SGD's period is max(A, B, (A+B)/K)") {
  property(
      "for any A, B and K",
      [] {
        const Cluster cluster = random_star();
        const Workload w = simple_workload(Seconds(real_between(0.01, 0.1)), Seconds(real_between(0, 0.1)),
                                           Seconds(real_between(0, 0.05)), Bytes(positive_between(1e5, 1e9)));
        const int width = integer_between(1, 5);
        const double A = w.compute().si(), B = ring_all_reduce(cluster, w.gradient_bytes.si());
        const StepForecast f = forecast(pipelined(cluster, width), w);
        assert_close(std::max({A, B, (A + B) / width}), f.step.si(), 1e-9, "period");
        assert_close(A + B, f.first_step.si(), 1e-9, "first step");
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
        // The GPU works for A of each period; the exchange shows only where it outlasts that.
        const double compute = (f.breakdown.forward + f.breakdown.backward + f.breakdown.update).si();
        assert_close(A, compute, 1e-9, "computation in a period");
      },
      2000);
}

TEST_CASE("Pipe-SGD's critical cycle explains its period") {
  const Workload w = simple_workload(20_ms, 20_ms, 10_ms, 100_MB);  // A = 50 ms
  // Two workers: a ring of n bytes takes nβ.
  const StepForecast slow_link = forecast(pipelined(star_cluster(2, BytesPerSecond(1e9)), 2), w);  // B = 100 ms
  CHECK(names(slow_link.critical) == "all-reduce");
  CHECK(slow_link.critical_steps == 1);
  require_close(0.050, slow_link.breakdown.exposed_communication.si(), 1e-9, "B - A");
  const StepForecast fast_link = forecast(pipelined(star_cluster(2, BytesPerSecond(1e10)), 2), w);  // B = 10 ms
  CHECK(fast_link.critical.size() == 3);
  CHECK(names(fast_link.critical).find("all-reduce") == std::string::npos);
  CHECK(fast_link.breakdown.exposed_communication == 0_s);
}

TEST_CASE("T steps of Pipe-SGD take A + B + (T-1)·max(A, B)") {
  // update → forward → backward → exchange, and the update of step t after the exchange of t-K. Computation ends at c_t
  // and exchange at e_t: c_t = max(c_{t-1}, e_{t-K}) + A, e_t = max(c_t, e_{t-1}) + B. For K >= 2, e_{t-K} never delays
  // c_t more than the slower resource does. Therefore e_{T-1} = A + B + (T-1)·max(A, B).
  property(
      "for K >= 2",
      [] {
        const Cluster cluster = random_star();
        const Workload w = simple_workload(Seconds(real_between(0.01, 0.1)), Seconds(real_between(0, 0.1)),
                                           Seconds(real_between(0, 0.05)), Bytes(positive_between(1e5, 1e9)));
        const double A = w.compute().si(), B = ring_all_reduce(cluster, w.gradient_bytes.si());
        const int steps = integer_between(1, 40);
        assert_close(A + B + (steps - 1) * std::max(A, B),
                     time_of_steps(pipelined(cluster, integer_between(2, 5)), w, steps), 1e-9,
                     fmt::format("T={}", steps));
        assert_close(steps * (A + B), time_of_steps(pipelined(cluster, 1), w, steps), 1e-9, "K = 1: synchronous");
      },
      1000);
}

TEST_CASE("warm-up steps of Pipe-SGD are synchronous") {
  // Steps 0..W-1, and W's wait for the step before, take A + B each; from step W on the pipeline fills as from
  // the start: T = W(A+B) + A + B + (T-1-W)·max(A, B) for T > W.
  property(
      "W(A+B), then a pipeline of the rest",
      [] {
        const Cluster cluster = random_star();
        const Workload w = simple_workload(Seconds(real_between(0.01, 0.1)), Seconds(real_between(0, 0.1)),
                                           Seconds(real_between(0, 0.05)), Bytes(positive_between(1e5, 1e9)));
        const double A = w.compute().si(), B = ring_all_reduce(cluster, w.gradient_bytes.si());
        const int warmup = integer_between(1, 8), width = integer_between(2, 4),
                  steps = warmup + integer_between(1, 20);
        const Scenario scenario = pipelined(cluster, width, 1, warmup);
        assert_close(warmup * (A + B), time_of_steps(scenario, w, warmup), 1e-9, "the warm-up");
        assert_close(warmup * (A + B) + A + B + (steps - 1 - warmup) * std::max(A, B),
                     time_of_steps(scenario, w, steps), 1e-9, fmt::format("W={}, T={}", warmup, steps));
        assert_close(std::max(A, B), step_time(scenario, w), 1e-9, "the long run knows no warm-up");
      },
      1000);
}

TEST_CASE("Pipe-SGD with a compressor: codec work belongs to the computation") {
  // A = update + forward + backward + n·(encode + decode), B of n/c bytes.
  property(
      "period max(A, B)",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload(4);
        const Compressor compressor = random_compressor();
        const Codec codec(compressor);
        Scenario scenario = pipelined(cluster, 2);
        scenario.compressor = compressor;
        const double n = w.gradient_bytes.si(), A = w.compute().si() + n * (codec.encode + codec.decode);
        assert_close(std::max(A, ring_all_reduce(cluster, n / codec.ratio)), step_time(scenario, w), 1e-9, "period");
      },
      1000);
}

// --- gossip

TEST_CASE("gossip: the exchange beside the computation, or after it") {
  property(
      "update + max(computation, exchange), or their sum",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload(4);
        const double compute = (w.forward + w.backward).si(),
                     neighbours = cluster.workers == 1   ? 0
                                  : cluster.workers == 2 ? 1
                                                         : 2,
                     n = w.gradient_bytes.si() * neighbours;
        // α + 2nβ + 2nγ; S is of collectives
        const double exchange =
            cluster.workers == 1
                ? 0
                : cluster.link.latency.si() + n * (1 / cluster.link.bandwidth.si() + cluster.stack.host_cost.si() +
                                                   cluster.reduction_cost.si());
        assert_close(w.update.si() + std::max(compute, exchange),
                     step_time(scenario_of(cluster, GossipStrategy{true}), w), 1e-9, "overlapped");
        assert_close(w.update.si() + compute + exchange, step_time(scenario_of(cluster, GossipStrategy{false}), w),
                     1e-9, "one after the other");
      },
      1000);
}

// --- collective benchmark

TEST_CASE("a benchmark's step is the collective") {
  // All-gather of 8 MB among 4 at 1 GB/s, bandwidth only: 3/4·8 MB = 6 ms by any algorithm of the table.
  CollectiveBenchmark gather;
  gather.operation = Operation::all_gather;
  gather.size = 8_MB;
  require_close(0.006, step_time(scenario_of(star_cluster(4, BytesPerSecond(1e9)), gather), {}), 1e-12, "all-gather");
}

// --- workers of unlike speed

TEST_CASE("a synchronous step waits for the slowest worker") {
  // 3 workers of speed 1 and one of speed 1/2: 92 ms and 184 ms of computation. A ring of 100 MB among 4 at 10 Gb/s
  // takes 120 ms.
  Cluster cluster = star_cluster(4, 10_Gbps);
  cluster.groups = {{1, 0.5, {}, {}}};
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), {}}), w);
  require_close(0.304, f.step.si(), 1e-12, "184 + 120 ms");
  require_close(0.115, (f.breakdown.forward + f.breakdown.backward + f.breakdown.update).si(), 1e-12,
                "mean computation: (3·92 + 184)/4 ms");
  require_close(0.069, f.breakdown.waiting.si(), 1e-12, "three wait for 92 ms: 3/4·92");
  require_close(0.120, f.breakdown.exposed_communication.si(), 1e-12, "exchange");

  property(
      "slowest computation + exchange, mean waiting",
      [] {
        Cluster c = random_star();
        double slowest = 0, mean = 0;
        int rest = c.workers;
        while (rest > 0 && coin()) {
          c.groups.push_back({integer_between(1, rest), coin() ? 0.5 : real_between(0.1, 2), {}, {}});
          rest -= c.groups.back().count;
        }
        const Workload model = random_workload(3);
        const double compute = model.compute().si();
        if (rest > 0) slowest = compute;
        mean = rest * compute / c.workers;
        for (const WorkerGroup& g : c.groups) {
          slowest = std::max(slowest, compute / g.speed);
          mean += g.count * compute / g.speed / c.workers;
        }
        const double exchange = ring_all_reduce(c, model.gradient_bytes.si());
        const StepForecast result = forecast(scenario_of(c, AllReduceStrategy{ring_choice(), {}}), model);
        assert_close(slowest + exchange, result.step.si(), 1e-9, "step");
        RC_ASSERT(std::abs(result.breakdown.waiting.si() - (slowest - mean)) <= 1e-8 * slowest);
        // The same over a server: S and the update apart, the slowest computation counts too.
        ParameterServerStrategy server;
        server.server_update_factor = 0;
        const double no_compute =
            step_time(scenario_of(c, server), workload_of(0_s, {{model.gradient_bytes.si(), 0}}, 0_s, 0_s));
        Workload without_update = model;
        without_update.update = 0_s;
        const double backward = without_update.compute().si();
        assert_close(no_compute + backward * (slowest / compute), step_time(scenario_of(c, server), without_update),
                     1e-9, "parameter server");
        // Pipelined: max(slowest A, B).
        assert_close(std::max(slowest, exchange), step_time(pipelined(c, 2), model), 1e-9, "Pipe-SGD");
      },
      1000);
}

TEST_CASE("hundreds of speeds are told apart") {
  // 400 workers of speeds 1/1.000, 1/1.001, ..., 1/1.399; computation 92 ms, ring of 100 MB at 10 Gb/s 2·399/400·80 ms.
  Cluster cluster = star_cluster(400, 10_Gbps);
  for (int i = 0; i < 400; ++i) cluster.groups.push_back({1, 1 / (1 + i / 1000.0), {}, {}});
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const double slowest = 0.092 * 1.399, exchange = 0.1596;
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), {}}), w);
  require_close(slowest + exchange, f.step.si(), 1e-9, "synchronous");
  require_close(0.092 * 0.1995, f.breakdown.waiting.si(), 1e-9, "mean of 0.399, 0.398, ..., 0 times 92 ms");
  require_close(std::max(slowest, exchange), step_time(pipelined(cluster, 2), w), 1e-9, "Pipe-SGD, link-bound");
  require_close(0.92 * 1.399, step_time(pipelined(cluster, 2), simple_workload(300_ms, 600_ms, 20_ms, 100_MB)), 1e-9,
                "Pipe-SGD, bound by the slowest worker");
}

// --- one worker

TEST_CASE("one worker pays for computation only") {
  property("with every collective strategy", [] {
    Cluster cluster = random_star();
    cluster.workers = 1;
    const Workload w = random_workload(5);
    Exchange exchange = random_exchange();
    const double compute = w.compute().si();
    for (const Strategy& strategy :
         {Strategy(AllReduceStrategy{{}, exchange}), Strategy(GossipStrategy{coin()}), Strategy(LocalSgdStrategy{}),
          pipelined(cluster, 2).strategy, pipelined(cluster, 1, 3).strategy}) {
      const StepForecast f = forecast(scenario_of(cluster, strategy), w);
      assert_close(compute, f.step.si(), 1e-9, "step");
      RC_ASSERT(f.breakdown.exposed_communication == 0_s);
      RC_ASSERT(f.breakdown.waiting.si() <= 1e-9 * compute);
    }
  });
}

TEST_CASE("prices of communication tasks alone") {
  Cluster cluster = star_cluster(4, 10_Gbps, 5_us);
  cluster.collective_cost = 20_us;
  cluster.reduction_cost = 0.1_ns_per_B;
  const CachedPrices prices(cluster);
  StepGraph graph;
  graph.asynchronous = true;
  CHECK_THROWS_AS(communication_price(ShardTransfer{ShardExchange::push, 0, 1_MB}, graph, prices), ModelError);
  graph.asynchronous = false;
  const PricedCost ring = communication_price(
      CollectiveWork{{&find_algorithm(Operation::all_reduce, Algorithm::ring), {}, 100_MB}}, graph, prices);
  require_close(30e-6, ring.latency.si(), 1e-12, "6·5 us");
  require_close(0.12, ring.bandwidth.si(), 1e-12, "1.5·1e8·0.8 ns");
  require_close(7.5e-3, ring.reduction.si(), 1e-12, "0.75·1e8·0.1 ns");
  require_close(20e-6, ring.setup.si(), 1e-12, "S");
  const PricedCost push = communication_price(ShardWork{ShardExchange::push, {100_MB}}, graph, prices);
  require_close(5e-6, push.latency.si(), 1e-12, "one message");
  require_close(0.32, push.bandwidth.si(), 1e-12, "4·1e8·0.8 ns");
  CHECK(push.setup == 0_s);
  CHECK(push.reduction == 0_s);
  const PricedCost neighbours = communication_price(NeighbourWork{100_MB, 100_MB}, graph, prices);
  require_close(0.16, neighbours.bandwidth.si(), 1e-12, "2·1e8·0.8 ns");
  require_close(0.02, neighbours.reduction.si(), 1e-12, "2·1e8·0.1 ns");
}
