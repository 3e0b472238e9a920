// No improvement makes a step slower, by the equations, in all cases where that is a theorem.
//
// The proof: a step graph is a timed event graph, whose period is the largest ratio of durations to steps over its
// cycles. No sum of durations falls if one of them rises. Each duration is a sum of terms in α, β, γ, h and S with
// nonnegative factors, or a maximum of such sums. It may also be the least of several that auto chooses from. The
// theorem therefore needs a graph whose tasks and order do not depend on prices. docs/monotonicity.md lists the other
// cases.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

struct Case {
  Scenario scenario;
  Workload workload;
};

template <class T>
T one_of(std::initializer_list<T> values) {
  return *(values.begin() + integer_between(0, static_cast<int>(values.size()) - 1));
}

Workload random_workload() {
  std::vector<std::pair<double, double>> gradients;
  for (int i = integer_between(1, 6); i > 0; --i)
    gradients.emplace_back(4.0 * integer_between(1, 2000000), coin() ? real_between(0, 0.02) : 0.0);
  Workload w = workload_of(Seconds(real_between(0, 0.1)), gradients, Seconds(coin() ? real_between(0, 0.02) : 0.0),
                           Seconds(real_between(0, 0.02)));
  for (Gradient& gradient : w.gradients) gradient.forward = w.forward / static_cast<double>(w.gradients.size());
  w.accumulation = integer_between(1, 3);
  return w;
}

CollectiveChoice random_collective() {
  return {one_of({Algorithm::automatic, Algorithm::ring, Algorithm::halving_doubling, Algorithm::double_binary_tree}),
          {},
          {}};
}

/// Those that have the theorem; co-located servers of several shards only where one bucket leaves no order to choose.
Strategy random_strategy(int p) {
  switch (integer_between(0, 5)) {
    case 0: return AllReduceStrategy{random_collective(), random_exchange()};
    case 1: {
      PipelinedStrategy pipelined;
      pipelined.width = integer_between(1, 4);
      pipelined.segments = integer_between(1, 4);
      pipelined.collective = random_collective();
      return pipelined;
    }
    case 2: {
      LocalSgdStrategy local;
      local.steps = integer_between(1, 5);
      local.grouping = static_cast<Grouping>(integer_between(0, 2));
      local.collective = random_collective();
      return local;
    }
    case 3: {
      ShardedStrategy sharded;
      sharded.stage = static_cast<ShardingStage>(integer_between(0, 2));
      sharded.prefetch = integer_between(0, 3);
      sharded.exchange = random_exchange();
      sharded.reduce_after = coin() ? ReduceAfter::last_pass : ReduceAfter::every_pass;
      return sharded;
    }
    case 4: return GossipStrategy{coin(), coin() ? NeighbourGraph::ring : NeighbourGraph::exponential};
    default: {
      ParameterServerStrategy server;
      server.exchange = random_exchange();
      server.balance = coin() ? ShardBalance::split : ShardBalance::greedy;
      server.shards = integer_between(1, 5);
      server.two_way = coin();
      if (coin()) {
        server.placement = ServerPlacement::co_located;
        server.shards = std::min(server.shards, p);
        if (server.shards > 1) server.exchange.grouping = Grouping::whole_model;
      }
      return server;
    }
  }
}

/// A change for the better, and its name.
struct Change {
  std::string name;
  std::function<void(Case&, double factor)> make;  ///< factor >= 1
};

void scale_gap(Workload& w, std::size_t i, double factor) {
  Seconds& gap = w.gradients[i].gap;
  w.backward += gap / factor - gap;
  gap = gap / factor;
}

const std::vector<Change>& less_work() {
  static const std::vector<Change> changes = {
      {"forward",
       [](Case& c, double f) {
         c.workload.forward = c.workload.forward / f;
         for (Gradient& gradient : c.workload.gradients) gradient.forward = gradient.forward / f;
       }},
      {"a gap", [](Case& c, double f) { scale_gap(c.workload, c.workload.gradients.size() / 2, f); }},
      {"all gaps",
       [](Case& c, double f) {
         for (std::size_t i = 0; i < c.workload.gradients.size(); ++i) scale_gap(c.workload, i, f);
       }},
      {"update", [](Case& c, double f) { c.workload.update = c.workload.update / f; }},
      {"workers' speed",
       [](Case& c, double f) {
         if (!c.scenario.cluster.groups.empty()) c.scenario.cluster.groups.front().speed *= f;
       }},
      {"reduction_cost",
       [](Case& c, double f) { c.scenario.cluster.reduction_cost = c.scenario.cluster.reduction_cost / f; }},
  };
  return changes;
}

const std::vector<Change>& better_network() {
  static const std::vector<Change> changes = {
      {"bandwidth", [](Case& c, double f) { c.scenario.cluster.link.bandwidth *= f; }},
      {"latency", [](Case& c, double f) { c.scenario.cluster.link.latency = c.scenario.cluster.link.latency / f; }},
      {"host_cost",
       [](Case& c, double f) { c.scenario.cluster.stack.host_cost = c.scenario.cluster.stack.host_cost / f; }},
      {"collective_cost",
       [](Case& c, double f) { c.scenario.cluster.collective_cost = c.scenario.cluster.collective_cost / f; }},
  };
  return changes;
}

void require_no_slower(const Case& from, const std::vector<Change>& changes) {
  const double before = step_time(from.scenario, from.workload), factor = real_between(1, 4);
  for (const Change& change : changes) {
    Case to = from;
    change.make(to, factor);
    const double after = step_time(to.scenario, to.workload);
    if (after > before * (1 + 1e-9))
      RC_FAIL(change.name + " better by " + std::to_string(factor) + ": from " + std::to_string(before) + " to " +
              std::to_string(after) + " s of " + to_json(from.scenario).dump());
  }
}

}  // namespace

TEST_CASE("property: on a star, no strategy's step gets longer where something gets better") {
  property(
      "any strategy but those of servers whose order of messages has a choice",
      [] {
        Case one{scenario_of(random_star(), AllReduceStrategy{}), random_workload()};
        Cluster& cluster = one.scenario.cluster;
        one.scenario.strategy = random_strategy(cluster.workers);
        if (coin()) cluster.groups = {{integer_between(1, cluster.workers), real_between(0.3, 3), {}, {}}};
        if (coin())
          one.scenario.compressor = RatioCompressor{real_between(1, 10), SecondsPerByte(1e-10), SecondsPerByte(2e-10)};
        require_no_slower(one, less_work());
        require_no_slower(one, better_network());
      },
      1500);
}

TEST_CASE("property: on any machines and racks, no step gets longer where there is less work") {
  property(
      "durations of exchanges are fixed, whatever routes they take",
      [] {
        Case one{scenario_of(random_star(), AllReduceStrategy{}), random_workload()};
        Cluster& cluster = one.scenario.cluster;
        cluster.workers = one_of({4, 8, 12});
        const Link inner{BytesPerSecond(positive_between(1e9, 1e12)), Seconds(positive_between(1e-7, 1e-5))};
        if (coin()) cluster.topology = Nodes{4, inner, one_of({1, 2, 4})};
        else cluster.topology = Racks{4, real_between(1, 8), Seconds(positive_between(1e-7, 1e-4))};
        one.scenario.strategy = random_strategy(cluster.workers);
        require_no_slower(one, less_work());
      },
      300);
}

TEST_CASE("property: a collective is no slower where links are better, whatever auto chooses") {
  // auto takes the least of its candidates' times; the number of a tree's segments is the best of all, or of all powers
  // of two. The least of functions that do not rise does not rise.
  property(
      "algorithms and segments by auto",
      [] {
        CollectiveBenchmark benchmark;
        benchmark.size = Bytes(positive_between(10, 1e9));
        benchmark.operation = one_of({Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                      Operation::broadcast, Operation::all_to_all});
        if (benchmark.operation == Operation::all_reduce)
          benchmark.collective.algorithm = one_of(
              {Algorithm::automatic, Algorithm::double_binary_tree, Algorithm::nccl_tree, Algorithm::hierarchical});
        Case one{scenario_of(random_star(), benchmark), {}};
        Cluster& cluster = one.scenario.cluster;
        cluster.workers = integer_between(2, 64);
        if (coin()) cluster.protocols = {{"eager", 1.0, 0.3}, {"simple", 3.0, 1.0}};
        if (benchmark.collective.algorithm == Algorithm::hierarchical) {
          cluster.workers = 4 * integer_between(1, 16);
          benchmark.collective.group_size.value = 4;
          one.scenario.strategy = benchmark;
        }
        require_no_slower(one, better_network());
        require_no_slower(one, {less_work().back()});
      },
      2000);
}

TEST_CASE("order of buckets: fewer bytes leave a bucket open, which then waits for the next gradient") {
  // Two workers, 1 GB/s: a ring all-reduce of n bytes takes n·β. Buckets close at 4 MB; the second gradient is ready 4 ms
  // after the first.
  Exchange exchange;
  exchange.grouping = Grouping::bucketed;
  exchange.bucket_cap = 4_MB;
  exchange.first_bucket.value = 4_MB;
  const auto step = [&](double first) {
    return step_time(scenario_of(star_cluster(2, 1_GBps), AllReduceStrategy{ring_choice(), exchange}),
                     workload_of(0_s, {{first, 0}, {4e6, 0.004}}, 0_s, 0_s));
  };
  require_close(0.008, step(4e6), 1e-12, "a bucket each, 0-4 and 4-8 ms");
  require_close(0.011, step(3e6), 1e-12, "one bucket of 7 MB from 4 ms on");
}

TEST_CASE("looks: a gradient that is ready earlier is found alone, and a further exchange has a latency of its own") {
  // Two workers, 0.1 GB/s, 20 ms: a ring all-reduce of n bytes takes 40 ms + n·β. Looks every 16 ms after backward began.
  Exchange exchange;
  exchange.grouping = Grouping::bucketed;
  exchange.bucket_cap = 64_MB;
  exchange.first_bucket.value = 64_MB;
  Cluster cluster = star_cluster(2, BytesPerSecond(1e8), 20_ms);
  cluster.stack.cycle = 16_ms;
  const auto step = [&](double first) {
    return step_time(scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange}),
                     workload_of(30_ms, {{8e6, first}, {2e6, 0.010}}, {}, 2_ms));
  };
  require_close(0.220, step(0.033), 1e-12, "both found at 48: 48 .. 188, + 32");
  require_close(0.244, step(0.031), 1e-12, "found at 32 and 48: 32 .. 152, 152 .. 212, + 32");
}
