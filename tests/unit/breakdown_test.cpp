#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "models/forecast/breakdown.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/unit/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

constexpr std::array kPriority = {Phase::forward, Phase::backward, Phase::update,
                                  Phase::encode,  Phase::decode,   Phase::exchange};

Seconds part(const Breakdown& b, Phase phase) {
  switch (phase) {
    case Phase::forward: return b.forward;
    case Phase::backward: return b.backward;
    case Phase::update: return b.update;
    case Phase::encode: return b.encode;
    case Phase::decode: return b.decode;
    case Phase::exchange: return b.exposed_communication;
    case Phase::serve: break;  // a server's work is the worker's waiting
  }
  return b.waiting;
}

Phase any_phase() { return static_cast<Phase>(integer_between(0, static_cast<int>(Phase::serve))); }

std::vector<Interval> random_intervals(const std::function<double()>& start, const std::function<double()>& length) {
  std::vector<Interval> intervals;
  const int count = integer_between(0, 12);
  for (int i = 0; i < count; ++i) {
    const double from = start();
    intervals.push_back({any_phase(), from, from + length()});
  }
  return intervals;
}

double total_length(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const Interval& i : intervals) sum += i.end - i.start;
  return sum;
}

}  // namespace

TEST_CASE("each instant goes to the first active phase") {
  // backward   0---------4
  // exchange        2----------6            (2..4 hidden behind backward, 4..6 exposed)
  // serve                      6----8       (waiting)
  // decode                          8--9
  //                                       9..10 nothing: waiting
  const Breakdown b =
      attribute({{Phase::exchange, 2, 6}, {Phase::backward, 0, 4}, {Phase::serve, 6, 8}, {Phase::decode, 8, 9}}, 0, 10);
  CHECK(b.backward == 4_s);
  CHECK(b.exposed_communication == 2_s);
  CHECK(b.decode == 1_s);
  CHECK(b.waiting == 3_s);  // 6..8 and 9..10
  CHECK(b.forward == 0_s);
  CHECK(b.update == 0_s);
  CHECK(b.encode == 0_s);
  CHECK(b.total() == 10_s);
}

TEST_CASE("the stack has its share of each instant") {
  // backward, a tenth of it the stack's   0---------4
  // exchange, a half                          2----------6
  // exchange, all                                     5-------8    (5..6: the least of both, a half)
  const Breakdown b =
      attribute({{Phase::exchange, 2, 6, 0.5}, {Phase::backward, 0, 4, 0.1}, {Phase::exchange, 5, 8, 1.0}}, 0, 10);
  require_close(3.6, b.backward.si(), 1e-12, "9/10 of 4 s");
  require_close(1.0, b.exposed_communication.si(), 1e-12, "a half of 4..6");
  require_close(0.4 + 1.0 + 2, b.stack.si(), 1e-12, "of 0..4, 4..6, 6..8");
  CHECK(b.waiting == 2_s);
  require_close(10, b.total().si(), 1e-12, "all");
}

TEST_CASE("the order of phases is forward, backward, update, encode, decode, exchange") {
  for (std::size_t i = 0; i < kPriority.size(); ++i)
    for (std::size_t j = i + 1; j < kPriority.size(); ++j) {
      INFO("phases " << i << " and " << j);
      // Both cover [0, 2); the earlier in the order takes it all. The later one goes on alone to 3.
      const Breakdown b = attribute({{kPriority[j], 0, 3}, {kPriority[i], 0, 2}}, 0, 3);
      CHECK(part(b, kPriority[i]) == 2_s);
      CHECK(part(b, kPriority[j]) == 1_s);
    }
}

TEST_CASE("overlapping intervals of one phase count once, and only inside the window") {
  // forward covers [1, 6) by two intervals; the window is [2, 4).
  const Breakdown b = attribute({{Phase::forward, 1, 4}, {Phase::forward, 3, 6}}, 2, 2);
  CHECK(b.forward == 2_s);
  CHECK(b.waiting == 0_s);
  CHECK(attribute({}, 5, 3).waiting == 3_s);
  CHECK(attribute({{Phase::forward, 0, 1}}, 0, 0).total() == 0_s);
}

TEST_CASE("attribution agrees with counting second by second") {
  // Whole seconds, so that sums are exact and every second belongs to one part.
  property(
      "each second goes to the first phase that covers it",
      [] {
        const auto intervals =
            random_intervals([] { return integer_between(-10, 40); }, [] { return integer_between(0, 15); });
        const int begin = integer_between(-5, 20), length = integer_between(1, 30);
        std::map<Phase, double> seconds;
        double waiting = 0;
        for (int t = begin; t < begin + length; ++t) {
          bool taken = false;
          for (const Phase phase : kPriority) {
            for (const Interval& i : intervals) taken = taken || (i.phase == phase && i.start <= t && t < i.end);
            if (!taken) continue;
            ++seconds[phase];
            break;
          }
          if (!taken) ++waiting;
        }
        const Breakdown b = attribute(intervals, begin, length);
        for (const Phase phase : kPriority) RC_ASSERT(part(b, phase).si() == seconds[phase]);
        RC_ASSERT(b.waiting.si() == waiting);
        RC_ASSERT(b.total().si() == length);
      },
      2000);
}

TEST_CASE("intervals that touch count as if they came in any order") {
  // Streams of touching intervals in whole seconds, as workers have them. Shares of whole halves keep sums exact.
  property(
      "each second goes to the first phase, and its least share to the stack",
      [] {
        std::vector<Interval> intervals;
        for (int streams = integer_between(1, 3); streams > 0; --streams) {
          double time = integer_between(0, 5);
          for (int tasks = integer_between(1, 8); tasks > 0; --tasks) {
            const double end = time + integer_between(0, 4);
            intervals.push_back({any_phase(), time, end, integer_between(0, 2) / 2.0});
            time = end + (integer_between(0, 4) == 0 ? integer_between(1, 2) : 0);
          }
        }
        const int length = integer_between(1, 40);
        std::map<Phase, double> seconds;
        double stack = 0;
        for (int t = 0; t < length; ++t)
          for (const Phase phase : kPriority) {
            double least = 2;
            for (const Interval& i : intervals)
              if (i.phase == phase && i.start <= t && t < i.end) least = std::min(least, i.stack_share);
            if (least > 1) continue;
            seconds[phase] += 1 - least;
            stack += least;
            break;
          }
        for (const bool in_order : {true, false}) {
          if (!in_order) std::reverse(intervals.begin(), intervals.end());
          const Breakdown b = attribute(intervals, 0, length);
          for (const Phase phase : kPriority) RC_ASSERT(part(b, phase).si() == seconds[phase]);
          RC_ASSERT(b.stack.si() == stack);
          RC_ASSERT(b.total().si() == length);
        }
      },
      2000);
}

TEST_CASE("parts add up for any times") {
  property(
      "sum of parts equals the length, no part is negative",
      [] {
        const double unit = positive_between(1e-9, 1e4);
        const auto intervals =
            random_intervals([&] { return unit * real_between(-1, 3); }, [&] { return unit * real_between(0, 2); });
        const double begin = unit * real_between(-1, 1), length = unit * real_between(0.1, 3);
        const Breakdown b = attribute(intervals, begin, length);
        // Sums of at most 24 rounded differences of times below 6 units.
        assert_close(length, b.total().si(), 1e-14, "sum of parts");
        for (const Phase phase : {Phase::forward, Phase::backward, Phase::update, Phase::encode, Phase::decode,
                                  Phase::exchange, Phase::serve})
          RC_ASSERT(part(b, phase).si() >= 0.0);
      },
      2000);
}

TEST_CASE("a periodic timeline folds into one period") {
  // [8, 13) with period 5: starts at 3, runs to 5 and again from 0 to 3.
  const auto folded = wrap({{Phase::update, 8, 13}}, 5);
  REQUIRE(folded.size() == 2);
  CHECK(folded[0].start == 3);
  CHECK(folded[0].end == 5);
  CHECK(folded[1].start == 0);
  CHECK(folded[1].end == 3);
  CHECK(folded[1].phase == Phase::update);
  // Before time zero: [-3, -1) is [2, 4) of the period before.
  CHECK(wrap({{Phase::update, -3, -1}}, 5).front().start == 2);
  CHECK(wrap({{Phase::update, 1, 2}}, 0).empty());
  // Longer than a period: three whole ones and two seconds.
  CHECK(total_length(wrap({{Phase::exchange, 0, 17}}, 5)) == 17);
}

TEST_CASE("a start that rounding puts just before zero keeps its interval") {
  // fmod(-1e-20, 10) + 10 rounds to 10 itself.
  const auto folded = wrap({{Phase::forward, -1e-20, 5}}, 10);
  CHECK(total_length(folded) == 5);
  CHECK(attribute(folded, 0, 10).forward == 5_s);
}

TEST_CASE("folding keeps every second of every phase") {
  property(
      "second s of the period is covered as often as s, s ± period, ... are",
      [] {
        const auto intervals =
            random_intervals([] { return integer_between(-40, 40); }, [] { return integer_between(0, 30); });
        const int period = integer_between(1, 12);
        const auto folded = wrap(intervals, period);
        std::map<std::pair<Phase, int>, int> expected, got;
        for (const Interval& i : intervals)
          for (int t = static_cast<int>(i.start); t < i.end; ++t)
            ++expected[{i.phase, ((t % period) + period) % period}];
        for (const Interval& i : folded) {
          RC_ASSERT(i.start >= 0 && i.start < i.end && i.end <= period);
          for (int t = static_cast<int>(i.start); t < i.end; ++t) ++got[{i.phase, t}];
        }
        RC_ASSERT(expected == got);
      },
      1000);
  property(
      "no time is lost for any times",
      [] {
        const double period = positive_between(1e-9, 1e4);
        const auto intervals = random_intervals(
            [&] { return coin() ? -period * 1e-17 * integer_between(0, 40) : period * real_between(-3, 3); },
            [&] { return period * real_between(0, 2.5); });
        const auto folded = wrap(intervals, period);
        for (const Interval& i : folded) RC_ASSERT(i.start >= 0 && i.end <= period * (1 + 1e-15));
        RC_ASSERT(std::abs(total_length(folded) - total_length(intervals)) <= 1e-13 * period);
      },
      2000);
}

TEST_CASE("adding breakdowns weighs every part") {
  const Breakdown a{1_s, 2_s, 3_s, 4_s, 5_s, 6_s, 7_s, 8_s}, b{10_s, 20_s, 30_s, 40_s, 50_s, 60_s, 70_s, 80_s};
  const Breakdown sum = add(a, b, 0.5);
  CHECK(sum.forward == 6_s);
  CHECK(sum.backward == 12_s);
  CHECK(sum.update == 18_s);
  CHECK(sum.encode == 24_s);
  CHECK(sum.decode == 30_s);
  CHECK(sum.exposed_communication == 36_s);
  CHECK(sum.stack == 42_s);
  CHECK(sum.waiting == 48_s);
  CHECK(sum.total() == 216_s);  // 36 + 0.5 * 360
}

TEST_CASE("kinds of workers: those in no group first, groups at the end") {
  Cluster cluster;
  cluster.workers = 8;
  cluster.link = {10_Gbps, 5_us};
  CHECK(worker_kinds(cluster) == std::vector<WorkerKind>{{0, 8, 1.0, {10_Gbps, 5_us}}});
  cluster.groups = {{2, 0.5, {}, {}}, {1, 1.0, 1_Gbps, 9_us}};
  CHECK(worker_kinds(cluster) == std::vector<WorkerKind>{{0, 5, 1.0, {10_Gbps, 5_us}},
                                                         {5, 2, 0.5, {10_Gbps, 5_us}},
                                                         {7, 1, 1.0, {1_Gbps, 9_us}}});
  cluster.groups[0].count = 7;  // nobody is left outside
  CHECK(worker_kinds(cluster) == std::vector<WorkerKind>{{0, 7, 0.5, {10_Gbps, 5_us}}, {7, 1, 1.0, {1_Gbps, 9_us}}});
}
