// Sharded data parallelism (models/strategy/sharded.cpp) against recurrences of one step and small cases by hand.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Half of ring_all_reduce() among g workers: g-1 messages of n/g, of which the scattering half adds.
double ring_half(const Cluster& c, double g, double n, bool reduces) {
  if (g == 1) return 0;
  const double share = (g - 1) / g;
  return (g - 1) * c.link.latency.si() + share * n * (1 / c.link.bandwidth.si() + c.stack.host_cost.si()) +
         (reduces ? share * n * c.reduction_cost.si() : 0) + c.collective_cost.si();
}
double gather(const Cluster& c, int g, Bytes n) { return ring_half(c, g, n.si(), false); }
double reduce(const Cluster& c, int g, Bytes n) { return ring_half(c, g, n.si(), true); }
/// The time that the p/g workers with one share take to sum it up.
double sum(const Cluster& c, int g, Bytes n) {
  Cluster others = c;
  others.workers /= g;
  return ring_all_reduce(others, n.si() / g);
}

ShardedStrategy sharded(ShardingStage stage, int prefetch = 1, Exchange exchange = {.grouping = Grouping::per_tensor},
                        std::optional<int> group = {}) {
  return {stage, prefetch, ring_choice(), exchange, group, ring_choice()};
}

/// Units of these bytes, in backward order, each with a second forward and two backward. The link's latency alone takes
/// time where bytes are few: 2 workers, so that a gathering is one message, and a reduction another.
Workload units(const std::vector<double>& bytes, double forward = 1, double backward = 2) {
  std::vector<std::pair<double, double>> gradients;
  for (const double n : bytes) gradients.emplace_back(n, backward);
  Workload w = workload_of(Seconds(forward * static_cast<double>(bytes.size())), gradients, {}, Seconds(0.5));
  for (Gradient& gradient : w.gradients) gradient.forward = Seconds(forward);
  return w;
}

/// A byte takes a second.
Cluster two_workers() { return star_cluster(2, BytesPerSecond(1)); }

double time_of(const Cluster& cluster, const ShardedStrategy& strategy, const Workload& w) {
  return step_time(scenario_of(cluster, strategy), w);
}

Workload random_workload() {
  std::vector<std::pair<double, double>> gradients;
  for (int i = integer_between(1, 8); i > 0; --i)
    gradients.emplace_back(4.0 * integer_between(1, 2000000), real_between(0, 0.02));
  const double head = real_between(0, 0.01);
  double forward = head;
  std::vector<double> own;
  for (std::size_t i = 0; i < gradients.size(); ++i) forward += own.emplace_back(real_between(0, 0.01));
  Workload w = workload_of(Seconds(forward), gradients, Seconds(coin() ? real_between(0, 0.02) : 0.0),
                           Seconds(real_between(0, 0.02)));
  for (std::size_t i = 0; i < own.size(); ++i) w.gradients[i].forward = Seconds(own[i]);
  return w;
}

/// One step, from the end of the update before to the end of its own. A step leaves only the update to the next one.
double recurrence(const Cluster& c, const ShardedStrategy& s, const Workload& w) {
  const auto buckets = make_buckets(w, s.exchange);
  const int n = static_cast<int>(buckets.size());
  const auto at = [&](int i) -> const Bucket& { return buckets[i]; };
  const bool whole = s.exchange.grouping == Grouping::whole_model, overlap = s.exchange.overlap && !whole;
  const double slowdown = overlap && c.workers > 1 ? c.stack.backward_slowdown : 1.0;
  const bool again = s.stage == ShardingStage::parameters;
  const int ahead = overlap ? s.prefetch : 0, group = s.group(c.workers);
  const bool every = s.reduce_after != ReduceAfter::last_pass,
             sums_once = s.reduce_after == ReduceAfter::inside_every_pass;
  const double wider = s.reduced_over(w.dtype);
  const auto gather = [&](Bytes bytes) { return ::gather(c, group, bytes); };
  double link = 0, gpu = 0;     // when each is free
  std::vector<double> reduced;  // end of each unit's reduction
  const auto wait_for_reduced = [&] {
    if (reduced.size() > 1) gpu = std::max(gpu, reduced[reduced.size() - 2]);
  };
  // The next unit's collective waits for the sum of the shares, computation for the reduction alone.
  int reductions = 0;
  const auto reduce = [&](Bytes bytes) {
    const bool is_last = ++reductions > n * (every ? w.accumulation - 1 : 0);
    reduced.push_back(std::max(link, gpu) + ::reduce(c, group, bytes * wider));
    link = reduced.back() + (sums_once && !is_last ? 0 : sum(c, group, bytes * wider));
  };
  // Without overlap: all units' after their pass, for which the next pass waits, sums included.
  const auto reduce_all = [&] {
    for (int i = 0; i < n; ++i) reduce(at(i).bytes);
    gpu = std::max(gpu, link);
  };

  double left = w.forward.si();  // the first unit computes the layers of no later unit
  std::vector<double> forward;   // for each unit
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t g = at(i).first; g < at(i).last; ++g) sum += w.gradients[g].forward.si();
    forward.push_back(i + 1 < n ? sum : left);
    left -= sum;
  }

  if (s.stage == ShardingStage::optimizer_state)
    for (int i = 0; i < n; ++i) gpu = link += gather(at(i).bytes);
  if (!again) {
    // Only the first forward pass waits for gatherings, one unit after the other.
    for (int i = n - 1; i >= 0; --i) {
      if (s.stage == ShardingStage::gradients)
        link = (overlap ? link : std::max(link, i < n - 1 ? gpu : 0.0)) + gather(at(i).bytes);
      gpu = std::max(gpu, link) + forward[i];
    }
    if (!every) gpu += (w.accumulation - 1) * (w.backward.si() + w.forward.si());
    for (int pass = every ? 1 : w.accumulation; pass <= w.accumulation; ++pass) {
      if (every && pass > 1) gpu += w.forward.si();
      for (int i = 0; i < n; ++i) {
        wait_for_reduced();
        gpu += at(i).gap.si() * slowdown;
        if (overlap) reduce(at(i).bytes);
      }
      if (!whole) gpu += w.tail.si() * slowdown;
      if (!overlap) reduce_all();
    }
  } else {
    // Uses of units in order: each pass has n forward and n backward uses. A tail that uses none follows the last. Data
    // for use k is gathered from the end of use k - 1 - ahead on. On the link, it comes before the reductions of the
    // uses from k - ahead on. Passes without reductions are slowed only by units that are gathered ahead.
    struct Use {
      double time;
      int unit;
      bool gathered, reduced;
      double tail = 0;
      bool last = false;
    };
    std::vector<Use> uses;
    for (int pass = 1; pass <= w.accumulation; ++pass) {
      for (int i = n - 1; i >= 0; --i) uses.push_back({forward[i], i, true, false});
      const bool reduces = every || pass == w.accumulation;
      const double slowed = reduces || ahead > 0 ? slowdown : 1.0;
      for (int i = 0; i < n; ++i) uses.push_back({at(i).gap.si() * slowed, i, i > 0, reduces});
      if (!whole) uses.back().tail = w.tail.si() * slowed;
      uses.back().last = reduces;
    }
    std::vector<double> end, there(uses.size(), 0.0);
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const auto reach = static_cast<std::size_t>(ahead);
      for (std::size_t g = k == 0 ? 0 : k + reach; g <= k + reach && g < uses.size(); ++g)
        if (uses[g].gathered)
          there[g] = link = std::max(link, g > reach ? end[g - 1 - reach] : 0.0) + gather(at(uses[g].unit).bytes);
      if (uses[k].reduced) wait_for_reduced();
      end.push_back(gpu = std::max(gpu, there[k]) + uses[k].time);
      if (uses[k].reduced && overlap) reduce(at(uses[k].unit).bytes);
      gpu += uses[k].tail;
      if (uses[k].last && !overlap) reduce_all();
    }
  }
  return std::max(gpu, link) + w.update.si() / group;
}

}  // namespace

TEST_CASE("one unit: gathered, computed, reduced, updated, whatever is sharded") {
  // 2 workers, 4 B at 1 B/s. Half of it is gathered in 2 s, and reduced in 2 s. Computation takes 1 + 2 s, half of the
  // update 0.25 s.
  for (const ShardingStage stage :
       {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
    require_close(7.25, time_of(two_workers(), sharded(stage, 1, {}), units({4})), 1e-12, "2 + 1 + 2 + 2 + 0.25 s");
}

TEST_CASE("gatherings and reductions hide behind computation, but for the first and the last") {
  // Three units of 1 B: each collective takes 0.5 s, forward 1 s a unit and backward 2 s. The first gathering and the
  // last reduction are exposed: 0.5 + 3·1 + 3·2 + 0.5 + 0.25 s.
  for (const ShardingStage stage : {ShardingStage::gradients, ShardingStage::parameters})
    require_close(10.25, time_of(two_workers(), sharded(stage), units({1, 1, 1})), 1e-12, "two collectives");
  // All three are gathered before the forward pass: 3·0.5 s.
  require_close(11.25, time_of(two_workers(), sharded(ShardingStage::optimizer_state), units({1, 1, 1})), 1e-12,
                "gathered after the update");
  // Nothing is gathered ahead. Each of three forward units waits 0.5 s. So do the two backward units that need it,
  // which also wait 0.5 s for the reduction before. Last comes the last reduction: 3·0.5 + 3 + 2·(0.5 + 0.5) + 6 + 0.5
  // + 0.25 s.
  require_close(13.25, time_of(two_workers(), sharded(ShardingStage::parameters, 0), units({1, 1, 1})), 1e-12,
                "nothing ahead");
}

TEST_CASE("a tail of backward is no unit that is gathered ahead of") {
  // 4 passes of two units of 1 B. Each collective takes 0.5 s, forward 1 s and backward 2 s. Only the first gathering
  // and the last reduction are exposed: 0.5 + 4·6 + 0.5 + 0.25 s. The length of the last unit's tail does not matter.
  // With four tails, the last one hides behind the last reduction.
  Workload w = units({1, 1});
  w.accumulation = 4;
  require_close(25.25, time_of(two_workers(), sharded(ShardingStage::parameters), w), 1e-12, "no tail");
  w.tail = Seconds(1e-9);
  w.backward += w.tail;
  require_close(25.25 + 3e-9, time_of(two_workers(), sharded(ShardingStage::parameters), w), 1e-12, "a tail of 1 ns");
}

TEST_CASE("passes that neither reduce nor gather ahead are not slowed down") {
  // As above, with γ_o = 1.5 and nothing gathered ahead. Three passes keep their 4 s of backward; the last one's takes
  // 6 s. Two forward units and one backward unit of four passes take 0.5 s each to gather. The last pass also waits 0.5
  // s for the first reduction.
  Workload w = units({1, 1});
  w.accumulation = 4;
  const Exchange exchange{.grouping = Grouping::per_tensor};
  Cluster cluster = two_workers();
  cluster.stack.backward_slowdown = 1.5;
  require_close(4 * 1.5 + 4 * 2 + 3 * 4 + 6 + 0.5 + 0.5 + 0.25,
                time_of(cluster, sharded(ShardingStage::parameters, 0, exchange), w), 1e-12,
                "0.5 s for each of 12 gatherings, 26 s, 0.5 s twice, 0.25 s");
}

TEST_CASE("without computation a step is its collectives, one after the other") {
  // Units of 2, 4 and 6 B: 12 B take 6 s to gather and 6 s to reduce. All but the first of backward order are gathered
  // again, 5 s.
  const Workload w = units({2, 4, 6}, 0, 0);
  require_close(12.25, time_of(two_workers(), sharded(ShardingStage::optimizer_state), w), 1e-12, "optimizer state");
  require_close(12.25, time_of(two_workers(), sharded(ShardingStage::gradients), w), 1e-12, "gradients");
  require_close(17.25, time_of(two_workers(), sharded(ShardingStage::parameters), w), 1e-12, "parameters");
}

TEST_CASE("without overlap nothing moves while something is computed") {
  // Two units of 2 B, 1 s a collective: 2 gathered, 2 s forward, 1 gathered again, 4 s backward, 2 reduced, 0.25 s.
  Exchange exchange{.grouping = Grouping::per_tensor};
  exchange.overlap = false;
  require_close(2 + 2 + 1 + 4 + 2 + 0.25,
                time_of(two_workers(), sharded(ShardingStage::parameters, 3, exchange), units({2, 2})), 1e-12,
                "parameters");
  require_close(2 + 2 + 4 + 2 + 0.25,
                time_of(two_workers(), sharded(ShardingStage::gradients, 3, exchange), units({2, 2})), 1e-12,
                "gradients");
}

TEST_CASE("the gradients of two units at most wait for their reduction") {
  // Four units of 8 B, 4 s a collective, no forward time and 1 s of backward each. Gathered one after the other, they
  // take 16 s. Backward ends at 17 and 18. Its third unit waits for the first one's reduction, from 17 to 21, and ends
  // at 22. The fourth waits for the second's, to 25, and ends at 26. Reductions follow each other to 33. Two workers
  // share half a second of update.
  require_close(33.25, time_of(two_workers(), sharded(ShardingStage::gradients), units({8, 8, 8, 8}, 0, 1)), 1e-12,
                "step");
  // This limits them, not the link: a last unit that takes long to compute begins at 25 and not at 19.
  Workload w = units({8, 8, 8, 8}, 0, 1);
  w.gradients[3].gap = 20_s;
  w.backward += 19_s;
  require_close(25 + 20 + 4 + 0.25, time_of(two_workers(), sharded(ShardingStage::gradients), w), 1e-12,
                "late last unit");
}

TEST_CASE("only the last of several passes is reduced, and released parameters are gathered in each") {
  // Two passes over two units of 2 B, 1 s a collective, nothing to compute but the update, 0.25 s.
  Workload w = units({2, 2}, 0, 0);
  w.accumulation = 2;
  require_close(2 + 2 + 0.25, time_of(two_workers(), sharded(ShardingStage::optimizer_state), w), 1e-12,
                "optimizer state");
  require_close(2 + 2 + 0.25, time_of(two_workers(), sharded(ShardingStage::gradients), w), 1e-12, "gradients");
  require_close(2 * (2 + 1) + 2 + 0.25, time_of(two_workers(), sharded(ShardingStage::parameters), w), 1e-12,
                "parameters");
  // And with 1 s forward and 2 s backward a unit, which hide all but the first gathering and the last reduction.
  w = units({2, 2});
  w.accumulation = 2;
  require_close(1 + 2 * 6 + 1 + 0.25, time_of(two_workers(), sharded(ShardingStage::gradients), w), 1e-12,
                "gradients, hidden");
}

TEST_CASE("each of several passes may be reduced") {
  // As above, two passes over two units of 2 B, 1 s a collective: reduced twice.
  Workload w = units({2, 2}, 0, 0);
  w.accumulation = 2;
  const auto time = [&](ShardingStage stage, Exchange exchange = {.grouping = Grouping::per_tensor}) {
    ShardedStrategy strategy = sharded(stage, 1, exchange);
    strategy.reduce_after = ReduceAfter::every_pass;
    return time_of(two_workers(), strategy, w);
  };
  require_close(2 + 2 * 2 + 0.25, time(ShardingStage::optimizer_state), 1e-12, "optimizer state");
  require_close(2 + 2 * 2 + 0.25, time(ShardingStage::gradients), 1e-12, "gradients");
  require_close(2 * (2 + 1) + 2 * 2 + 0.25, time(ShardingStage::parameters), 1e-12, "parameters");
  // With 1 s forward and 2 s backward a unit the first pass' last reduction hides behind the second's forward.
  w = units({2, 2});
  w.accumulation = 2;
  require_close(1 + 2 * 6 + 1 + 0.25, time(ShardingStage::gradients), 1e-12, "gradients, hidden");
  // Without overlap a pass' reductions, 2 s, come between its backward and the next forward.
  require_close(2 + 6 + 2 + 6 + 2 + 0.25,
                time(ShardingStage::gradients, {.grouping = Grouping::per_tensor, .overlap = false}), 1e-12,
                "gradients, after each pass");
  // One pass is reduced once, whatever is said.
  w.accumulation = 1;
  CHECK(time(ShardingStage::parameters) == time_of(two_workers(), sharded(ShardingStage::parameters), w));
}

TEST_CASE("shares may be summed up between groups after the last pass alone") {
  // 2 groups of 2 workers, two passes over one unit of 4 B. It is gathered in 2 s after each release, reduced inside in
  // 2 s, and summed between in 2 s. A pass computes for 1 + 2 s; the update takes 0.25 s.
  Workload w = units({4});
  w.accumulation = 2;
  ShardedStrategy strategy = sharded(ShardingStage::gradients, 1, {.grouping = Grouping::per_tensor}, 2);
  const Cluster four = star_cluster(4, BytesPerSecond(1));
  // The first pass' reduction and sum, 4 s, hide behind the second's 3 s but for 1 s.
  strategy.reduce_after = ReduceAfter::every_pass;
  require_close(2 + 3 + 3 + 1 + 2 + 2 + 0.25, time_of(four, strategy, w), 1e-12, "each pass");
  strategy.reduce_after = ReduceAfter::inside_every_pass;
  require_close(2 + 3 + 3 + 2 + 2 + 0.25, time_of(four, strategy, w), 1e-12, "the last");
  // Without overlap the second pass waits for the first one's sum: all follow each other.
  strategy = sharded(ShardingStage::gradients, 1, {.grouping = Grouping::per_tensor, .overlap = false}, 2);
  strategy.reduce_after = ReduceAfter::every_pass;
  require_close(2 + 3 + 4 + 3 + 4 + 0.25, time_of(four, strategy, w), 1e-12, "nothing hides");
  strategy.reduce_after = ReduceAfter::inside_every_pass;
  require_close(2 + 3 + 2 + 3 + 4 + 0.25, time_of(four, strategy, w), 1e-12, "one sum, nothing hides");
  // Without groups there is nothing to sum up.
  strategy.exchange.overlap = true;
  strategy.group_size = {};
  const double inside = time_of(two_workers(), strategy, w);
  strategy.reduce_after = ReduceAfter::every_pass;
  CHECK(inside == time_of(two_workers(), strategy, w));
}

TEST_CASE("gradients reduced in a wider type are so many times the bytes, parameters are not") {
  // 4 B of bf16 are gathered in 2 s. As 8 B of fp32, they are reduced in 4 s. Computation takes 1 + 2 s, the update
  // 0.25 s.
  Workload w = units({4});
  w.dtype = Dtype::bf16;
  ShardedStrategy strategy = sharded(ShardingStage::parameters);
  strategy.reduce_dtype = Dtype::fp32;
  require_close(2 + 3 + 4 + 0.25, time_of(two_workers(), strategy, w), 1e-12, "one unit");
  CHECK(build_step_graph(scenario_of(two_workers(), strategy), w).payload == 8_B);
  strategy.reduce_dtype = Dtype::fp16;  // as wide
  require_close(2 + 3 + 2 + 0.25, time_of(two_workers(), strategy, w), 1e-12, "as wide");
  // Shares are summed up between groups in that type too: 4 B of each half in 2 messages of 2 B, 4 s.
  strategy = sharded(ShardingStage::parameters, 1, {.grouping = Grouping::per_tensor}, 2);
  strategy.reduce_dtype = Dtype::fp32;
  require_close(2 + 3 + 4 + 4 + 0.25, time_of(star_cluster(4, BytesPerSecond(1)), strategy, w), 1e-12, "groups");
}

TEST_CASE("a sharded step follows the recurrence of one step") {
  property(
      "for any stage, prefetch, grouping, overlap and workload",
      [] {
        Cluster cluster = random_star();
        Workload w = random_workload();
        if (coin()) w.accumulation = integer_between(2, 4);
        ShardedStrategy strategy =
            sharded(static_cast<ShardingStage>(integer_between(0, 2)), integer_between(0, 4), random_exchange());
        if (coin()) {
          strategy.group_size = integer_between(2, 3);
          cluster.workers = *strategy.group_size * integer_between(1, 4);
        }
        strategy.reduce_after = static_cast<ReduceAfter>(integer_between(0, 2));
        if (coin()) {
          w.dtype = coin() ? Dtype::bf16 : Dtype::fp32;
          strategy.reduce_dtype = coin() ? Dtype::bf16 : Dtype::fp32;
        }
        assert_close(recurrence(cluster, strategy, w), time_of(cluster, strategy, w), 1e-9, "step");
      },
      2000);
}

TEST_CASE("groups share out a copy each, and sum up their shares between them") {
  // 4 workers in groups of 2, 1 B/s. Units of 4 B are gathered in 2 s and reduced in 2 s, each worker with half of
  // them. The 2 workers with the same half sum its 2 B in 2 messages of 1 B, 2 s. Computation takes 1 + 2 s, half of
  // the update 0.25 s.
  const Cluster four = star_cluster(4, BytesPerSecond(1));
  const Exchange units_of_tensors{.grouping = Grouping::per_tensor};
  for (const ShardingStage stage :
       {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
    require_close(2 + 3 + 2 + 2 + 0.25, time_of(four, sharded(stage, 1, {}, 2), units({4})), 1e-12, "one unit");
  // Three units of 1 B, 0.5 s a collective: gathered ahead; the reductions and sums of two hide behind computation, the
  // last's do not.
  require_close(0.5 + 9 + 0.5 + 0.5 + 0.25,
                time_of(four, sharded(ShardingStage::parameters, 1, units_of_tensors, 2), units({1, 1, 1})), 1e-12,
                "three units");
  // Without computation, all follow each other. Units of 2 and 4 B are gathered in 3 s, the second once more in 2 s.
  // They are reduced in 3 s and summed in 3 s.
  require_close(3 + 2 + 3 + 3 + 0.25,
                time_of(four, sharded(ShardingStage::parameters, 1, units_of_tensors, 2), units({2, 4}, 0, 0)), 1e-12,
                "nothing hides them");
}

TEST_CASE("computation waits for a unit's reduction, not for the sum of its shares") {
  // 2 groups of 2 workers, and four units of 8 B, gathered one after the other in 16 s. Each is reduced in 4 s, and its
  // 4 B are summed in 4 s. There is no forward time. Backward takes 1 s each: to 17 and 18. The third waits for the
  // first's reduction, from 17 to 21, and ends at 22. Sums follow to 25, and the second's reduction to 29. The fourth
  // waits for that and ends at 30. Sums follow to 33, the third's to 37 and 41, the fourth's to 45 and 49.
  require_close(
      49.25,
      time_of(star_cluster(4, BytesPerSecond(1)),
              sharded(ShardingStage::gradients, 1, {.grouping = Grouping::per_tensor}, 2), units({8, 8, 8, 8}, 0, 1)),
      1e-12, "step");
}

TEST_CASE("one group of all workers is no group") {
  property("any strategy", [] {
    const Cluster cluster = random_star();
    const Workload w = random_workload();
    ShardedStrategy strategy =
        sharded(static_cast<ShardingStage>(integer_between(0, 2)), integer_between(0, 4), random_exchange());
    if (coin()) strategy.collective = {};
    const double absent = time_of(cluster, strategy, w);
    strategy.group_size = cluster.workers;
    RC_ASSERT(time_of(cluster, strategy, w) == absent);  // to the bit
  });
}

TEST_CASE("groups that are machines with fast links cost only the sums over the NICs") {
  // 4 machines of 8 workers, 8 NICs of 1 GB/s without latency, and inner links a million times as fast. One unit has
  // 800 MB. Each NIC has 100 MB, and 2·3/4 of it takes 150 ms. In one ring of all 32, every message waits for a NIC:
  // 2·31/32·800 MB = 1.55 s.
  Cluster cluster = star_cluster(32, BytesPerSecond(1e9));
  cluster.topology = Nodes{8, {BytesPerSecond(1e15), 0_s}, 8};
  const Workload w = units({800e6}, 0, 0);
  const double update = 0.5 / 8;
  require_close(0.150 + update, time_of(cluster, sharded(ShardingStage::parameters, 1, {}, 8), w), 1e-5, "groups of 8");
  require_close(1.55 + 0.5 / 32, time_of(cluster, sharded(ShardingStage::parameters, 1, {}), w), 1e-5, "all 32");
  // If one collective sums everything by the same steps, and only the update of all is left, it takes as long.
  CollectiveChoice hierarchical;
  hierarchical.algorithm = Algorithm::hierarchical;
  hierarchical.between_groups = Algorithm::ring;
  require_close(0.150 + 0.5, step_time(scenario_of(cluster, AllReduceStrategy{.collective = hierarchical}), w), 1e-5,
                "all-reduce");
}

TEST_CASE("gathering sooner or only once never ends later") {
  property("for any workload", [] {
    const Cluster cluster = random_star();
    const Workload w = random_workload();
    const Exchange exchange = random_exchange();
    const auto time = [&](ShardingStage stage) {
      return time_of(cluster, sharded(stage, integer_between(0, 4), exchange), w);
    };
    const double gradients = time(ShardingStage::gradients);
    RC_ASSERT(gradients <= time(ShardingStage::optimizer_state) * (1 + 1e-12));
    RC_ASSERT(gradients <= time(ShardingStage::parameters) * (1 + 1e-12));
  });
}

TEST_CASE("one worker computes alone, with all of the update") {
  const Workload w = units({1, 1, 1});
  for (const ShardingStage stage :
       {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
    require_close(w.compute().si(), time_of(star_cluster(1, BytesPerSecond(1)), sharded(stage), w), 1e-12, "alone");
}

TEST_CASE("a unit's forward time is its layers', and a layer without parameters goes with the one before it") {
  // Forward order: a head of 1 ms, conv 2 ms, relu 4 ms, fc 8 ms; backward order of gradients: fc, conv.
  const Json table = Json::parse(R"({"name": "net", "batch": 1, "layers": [
      {"name": "head", "forward": "1ms", "backward": "1ms"},
      {"name": "conv", "forward": "2ms", "backward": "1ms", "gradients": [{"name": "conv", "elements": 8}]},
      {"name": "relu", "forward": "4ms", "backward": "1ms"},
      {"name": "fc", "forward": "8ms", "backward": "1ms", "gradients": [{"name": "fc.weight", "elements": 8}, {"name": "fc.bias", "elements": 8}]}]})");
  const Json scenario{
      {"name", "s"}, {"workload", table}, {"cluster", {{"workers", 2}, {"link", {{"bandwidth", "1Gbps"}}}}}};
  const Workload w = make_workload(parse_study(scenario.dump(), "s.json", {}, "").points.at(0).scenario);
  REQUIRE(w.gradients.size() == 3);
  CHECK(w.gradients[0].forward == 8_ms);
  CHECK(w.gradients[1].forward == 0_s);
  CHECK(w.gradients[2].forward == 6_ms);
  CHECK(w.forward == 15_ms);
}

TEST_CASE("a total is divided alike for forward and backward times") {
  const Json table = Json::parse(
      R"({"name": "net", "batch": 1, "forward": "6ms", "gradients": [{"name": "a", "elements": 8, "gap": "1ms"}, {"name": "b", "elements": 8, "gap": "2ms"}]})");
  const Json scenario{
      {"name", "s"}, {"workload", table}, {"cluster", {{"workers", 2}, {"link", {{"bandwidth", "1Gbps"}}}}}};
  const Workload w = make_workload(parse_study(scenario.dump(), "s.json", {}, "").points.at(0).scenario);
  require_close(0.002, w.gradients[0].forward.si(), 1e-12, "6 ms · 1/3");
  require_close(0.004, w.gradients[1].forward.si(), 1e-12, "6 ms · 2/3");
}
