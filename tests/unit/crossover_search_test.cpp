#include "models/search/crossover_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

using ScoreAt = std::function<double(double)>;

struct Searched {
  CrossoverSearch search;
  int rounds = 0;         ///< beside the grid's
  std::size_t asked = 0;  ///< scores, the grid's left out
};

/// The search's end, where each alternative's score is made up.
Searched searched(const AxisRange& range, std::size_t grid, const std::vector<ScoreAt>& scores,
                  std::size_t reference = 0) {
  Searched s{CrossoverSearch(range, grid_values(range, grid), scores.size(), reference)};
  for (int round = 0; round < 200; ++round) {
    const auto requests = s.search.requests();
    if (requests.empty()) return s;
    std::vector<double> answers;
    for (const auto& [alternative, value] : requests) {
      if (value < range.from || value > range.to) throw std::logic_error("a value beyond the range");
      answers.push_back(scores[alternative](value));
    }
    if (round > 0) s.asked += requests.size();
    s.rounds = round;
    s.search.answer(requests, answers);
  }
  throw std::logic_error("the search does not end");
}

bool near_to(double found, double expected) { return std::abs(found - expected) <= kCrossoverWidth * expected; }

const AxisRange kDecades{1e6, 1e9, false, nullptr};

}  // namespace

TEST_CASE("scores within 1e-9 are equal, and so are two infinite ones") {
  CHECK(compare_scores(1, 1 + 5e-10) == 0);
  CHECK(compare_scores(1, 1 + 5e-9) == -1);
  CHECK(compare_scores(1 + 5e-9, 1) == 1);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(compare_scores(infinite, infinite) == 0);
  CHECK(compare_scores(1, infinite) == -1);
  CHECK(compare_scores(0, 0) == 0);
  CHECK(score_ratio(infinite, infinite) == 1);
  CHECK(score_ratio(3, 2) == 1.5);
}

TEST_CASE("a compressor's crossing: time c + n/B against C + N/B with less to send and more to compute") {
  // c + n/B = C + N/B at B = (n - N)/(C - c). With c = 0.1, n = 1e7, C = 0.2, N = 0.25e7: B = 0.75e7/0.1 = 7.5e7.
  const auto plain = [](double b) { return 1 / (0.1 + 1e7 / b); };
  const auto coded = [](double b) { return 1 / (0.2 + 0.25e7 / b); };
  const Searched s = searched(kDecades, 25, {plain, coded});
  const auto pays = s.search.pays(1);
  REQUIRE(pays.size() == 1);
  CHECK(pays[0].from == 1e6);
  INFO("found " << pays[0].to);
  CHECK(near_to(pays[0].to, 7.5e7));
  // At 1e6: (0.1 + 10)/(0.2 + 2.5) = 10.1/2.7.
  CHECK(pays[0].at_from == Approx(10.1 / 2.7));
  CHECK(pays[0].at_to == Approx(1).epsilon(1e-4));
  CHECK(s.search.pays(0).empty());
  // The same place parts the fastest.
  REQUIRE(s.search.fastest(0).size() == 1);
  REQUIRE(s.search.fastest(1).size() == 1);
  CHECK(s.search.fastest(0)[0].from == s.search.fastest(1)[0].to);
  CHECK(s.search.fastest(0)[0].to == 1e9);
  CHECK(s.search.most(1).value == 1e6);
  CHECK(s.search.most(1).speedup == Approx(10.1 / 2.7));
  // 1e-4 of a grid's step of 1.33 takes bisection 12 rounds of 2 scores; smooth as this is, few.
  INFO("rounds " << s.rounds << ", asked " << s.asked);
  CHECK(s.rounds <= 4);
  CHECK(s.asked <= 16);
}

TEST_CASE("both crossings of a hump that the grid sees") {
  // x(1 - x)·4 is above 0.75 between 1/4 and 3/4.
  const AxisRange range{0, 1, false, nullptr};
  const Searched s = searched(range, 25, {[](double) { return 0.75; }, [](double x) { return 4 * x * (1 - x); }});
  const auto pays = s.search.pays(1), rest = s.search.fastest(0);
  REQUIRE(pays.size() == 1);
  CHECK(near_to(pays[0].from, 0.25));
  CHECK(near_to(pays[0].to, 0.75));
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].from == 0);
  CHECK(rest[1].to == 1);
  CHECK(s.search.most(1).speedup == Approx(1 / 0.75));  // at 1/2, which the grid has
  CHECK(s.search.most(1).value == 0.5);
}

TEST_CASE(
    "a third that is the fastest only between two values of the grid is found where the outer two change places") {
  // In x = ln(value), slopes -1 and 1 meet at x = 0.5 with score 0. The third, -0.01 there, is beaten. With +0.01 it is
  // the fastest for |x - 0.5| < 0.01.
  const AxisRange range{1, std::exp(1.0), false, nullptr};
  const auto falling = [](double v) { return std::exp(0.5 - std::log(v)); };
  const auto rising = [](double v) { return std::exp(std::log(v) - 0.5); };
  const Searched seen = searched(range, 4, {falling, rising, [](double) { return std::exp(0.01); }});
  const auto third = seen.search.fastest(2);
  REQUIRE(third.size() == 1);
  CHECK(near_to(third[0].from, std::exp(0.49)));
  CHECK(near_to(third[0].to, std::exp(0.51)));
  CHECK(seen.search.fastest(0).at(0).to == third[0].from);
  CHECK(seen.search.fastest(1).at(0).from == third[0].to);
  const Searched beaten = searched(range, 4, {falling, rising, [](double) { return std::exp(-0.01); }});
  CHECK(beaten.search.fastest(2).empty());
  CHECK(near_to(beaten.search.fastest(0).at(0).to, std::exp(0.5)));
}

TEST_CASE("jumps and kinks are found as crossings are") {
  const auto one = [](double) { return 1.0; };
  const Searched jump = searched(kDecades, 25, {one, [](double v) { return v < 3.21e7 ? 0.5 : 7.0; }});
  REQUIRE(jump.search.pays(1).size() == 1);
  CHECK(near_to(jump.search.pays(1)[0].from, 3.21e7));
  CHECK(jump.search.pays(1)[0].at_from == 7);
  // Equal up to the kink: no estimate says where.
  const Searched kink = searched(kDecades, 25, {one, [](double v) { return std::max(1.0, v / 6.54e7); }});
  REQUIRE(kink.search.pays(1).size() == 1);
  CHECK(near_to(kink.search.pays(1)[0].from, 6.54e7));
  CHECK(kink.search.fastest(0).at(0).to == kink.search.fastest(1).at(0).from);  // the first of equals
  INFO("rounds " << jump.rounds << " and " << kink.rounds);
  CHECK(std::max(jump.rounds, kink.rounds) <= 24);
}

TEST_CASE("equal scores: none pays, and the first is the fastest") {
  const auto one = [](double) { return 1.0; };
  const Searched s = searched(kDecades, 25, {one, [](double) { return 1.0 + 1e-10; }, one}, 2);
  for (std::size_t i = 0; i < 3; ++i) CHECK(s.search.pays(i).empty());
  REQUIRE(s.search.fastest(0).size() == 1);
  CHECK(s.search.fastest(0)[0].from == 1e6);
  CHECK(s.search.fastest(0)[0].to == 1e9);
  CHECK(s.search.fastest(1).empty());
  CHECK(s.search.most(1).speedup == 1);
  CHECK(s.asked == 0);
}

TEST_CASE("scores that are zero or infinite have crossings too") {
  const double infinite = std::numeric_limits<double>::infinity();
  const Searched s = searched({2, 1000, true, nullptr}, 10,
                              {[](double) { return 1.0; }, [](double v) { return v < 77 ? 0.0 : v; },
                               [=](double v) { return v < 500 ? infinite : 0.5; }});
  CHECK(s.search.pays(1).at(0).from == 77);
  CHECK(s.search.pays(2).at(0).to == 499);
  CHECK(s.search.fastest(1).at(0).from == 500);
  CHECK(s.search.fastest(0).empty());
}

TEST_CASE("without any score no alternative is the fastest, and the begin of that range is found") {
  // The first has one up to 3e7, the second up to 2e8, as of what fits a device.
  const auto s = searched(
      kDecades, 13, {[](double B) { return B <= 3e7 ? 2.0 : 0.0; }, [](double B) { return B <= 2e8 ? 1.0 : 0.0; }});
  REQUIRE(s.search.fastest(0).size() == 1);
  REQUIRE(s.search.fastest(1).size() == 1);
  CHECK(s.search.fastest(0)[0].from == 1e6);
  CHECK(near_to(s.search.fastest(0)[0].to, 3e7));
  CHECK(near_to(s.search.fastest(1)[0].from, 3e7));
  CHECK(near_to(s.search.fastest(1)[0].to, 2e8));
  // Nobody at all.
  const auto none = searched(kDecades, 5, {[](double) { return 0.0; }, [](double) { return 0.0; }});
  CHECK(none.search.fastest(0).empty());
  CHECK(none.search.pays(1).empty());
}

TEST_CASE("the largest speedup is found at its kink") {
  // Pipelining: max(A, C/b) beside A + C/b. The ratio is 2 if both are equal, b = C/A: 10^9.24 / 10^1 = 10^7.24 for A =
  // 10 here.
  const double bytes = std::pow(10, 8.24);
  const auto piped = [&](double b) { return 1 / std::max(10.0, bytes / b); };
  const auto plain = [&](double b) { return 1 / (10 + bytes / b); };
  const Searched s = searched(kDecades, 25, {plain, piped});
  CHECK(std::abs(s.search.most(1).speedup - 2) < 2 * kPeakWidth);
  CHECK(std::abs(s.search.most(1).value - bytes / 10) < kPeakWidth * bytes / 10);
  CHECK(s.rounds < 15);
  // For whole numbers, the best itself: k/(100 + (k - 7)^2) is the largest at k = sqrt(100 + 49) = 12.2, so 12.
  const Searched whole =
      searched({1, 100, true, nullptr}, 10,
               {[](double) { return 0.01; }, [](double k) { return k / (100 + (k - 7) * (k - 7)); }});
  CHECK(whole.search.most(1).value == 12);
}

TEST_CASE("whole numbers are exact: the last with and the first without") {
  property("a line through zero at c parts the whole numbers there", [] {
    const double last = integer_between(10, 5000), crossing = real_between(1, last - 0.5);
    const AxisRange range{1, last, true, nullptr};
    const Searched s =
        searched(range, static_cast<std::size_t>(integer_between(2, 30)),
                 {[](double) { return 1.0; }, [=](double v) { return std::exp((v - crossing) / last); }});
    const auto pays = s.search.pays(1);
    RC_ASSERT(pays.size() == 1u);
    // More than the reference where v > crossing, and 1e-9 of score more.
    const double first = std::floor(crossing * (1 + 1e-12)) + 1;
    RC_ASSERT(pays[0].from == first || (std::abs(crossing - std::round(crossing)) < 1e-5));
    RC_ASSERT(pays[0].to == last);
    if (pays[0].from > 1) RC_ASSERT(s.search.fastest(0).at(0).to == pays[0].from - 1);
  });
}

TEST_CASE("power laws cross where they should, each pair once") {
  property("c·v^a and d·v^b cross at (d/c)^(1/(a - b))", [] {
    const double a = real_between(-2, 2), b = a + (coin() ? 1 : -1) * real_between(0.05, 2),
                 c = positive_between(0.1, 10);
    const double crossing = positive_between(1.001e6, 0.999e9), d = c * std::pow(crossing, a - b);
    const Searched s =
        searched(kDecades, static_cast<std::size_t>(integer_between(2, 40)),
                 {[=](double v) { return c * std::pow(v, a); }, [=](double v) { return d * std::pow(v, b); }});
    const auto pays = s.search.pays(1);
    RC_ASSERT(pays.size() == 1u);
    RC_ASSERT(near_to(b > a ? pays[0].from : pays[0].to, crossing));
    RC_ASSERT(s.rounds <= 5);  // straight in logarithms, whatever the grid
  });
}

TEST_CASE(
    "several alternatives: the intervals of the fastest cover the range once, and each end has both sides evaluated") {
  property("as steps that c_i + n_i/v take", [] {
    std::vector<ScoreAt> scores;
    const int count = integer_between(2, 8);
    for (int i = 0; i < count; ++i) {
      const double c = positive_between(0.01, 10), n = positive_between(1e4, 1e10);
      scores.push_back([=](double v) { return 1 / (c + n / v); });
    }
    const Searched s = searched(kDecades, 25, scores, static_cast<std::size_t>(integer_between(0, count - 1)));
    std::vector<std::pair<double, std::size_t>> all;  // beginnings
    std::multiset<double> ends;
    for (std::size_t i = 0; i < scores.size(); ++i)
      for (const FieldInterval& one : s.search.fastest(i)) {
        all.emplace_back(one.from, i);
        ends.insert(one.to);
      }
    std::sort(all.begin(), all.end());
    RC_ASSERT(all.front().first == kDecades.from);
    for (std::size_t i = 1; i < all.size(); ++i) {
      RC_ASSERT(ends.count(all[i].first) == 1u);
      // Just below the one before is ahead of the one after, just above the other way about.
      const double below = all[i].first * (1 - 1e-4), above = all[i].first * (1 + 1e-4);
      RC_ASSERT(scores[all[i - 1].second](below) > scores[all[i].second](below));
      RC_ASSERT(scores[all[i].second](above) > scores[all[i - 1].second](above));
    }
  });
}
