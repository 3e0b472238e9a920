#include "models/forecast/breakdown.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace stepcast {
namespace {

/// The counted phases and their parts. If several phases are active, the earlier one in the list counts.
struct CountedPhase {
  Phase phase;
  Seconds Breakdown::*part;
};
constexpr std::array kOrder = {
    CountedPhase{Phase::forward, &Breakdown::forward}, CountedPhase{Phase::backward, &Breakdown::backward},
    CountedPhase{Phase::update, &Breakdown::update},   CountedPhase{Phase::encode, &Breakdown::encode},
    CountedPhase{Phase::decode, &Breakdown::decode},   CountedPhase{Phase::exchange, &Breakdown::exposed_communication},
};

/// By phase its index in kOrder; kOrder.size() for a phase that does not count.
constexpr auto kIndices = [] {
  std::array<std::size_t, static_cast<std::size_t>(Phase::serve) + 1> indices{};
  indices.fill(kOrder.size());
  for (std::size_t i = 0; i < kOrder.size(); ++i) indices[static_cast<std::size_t>(kOrder[i].phase)] = i;
  return indices;
}();

constexpr auto kNoPhase = static_cast<std::uint8_t>(kOrder.size());

/// A time at which an interval ends, another begins, or both.
struct Edge {
  double time;
  std::uint8_t ends, begins;  ///< phases, by their index in kOrder, or kNoPhase
  double ended_share, begun_share;
};

/// The edges of intervals that count, inside the window. Where one goes on from the one before, they share an edge, or
/// none if they are alike.
std::vector<Edge> edges_of(const std::vector<Interval>& intervals, double begin, double end) {
  std::vector<Edge> edges;
  edges.reserve(2 * intervals.size());
  for (const Interval& interval : intervals) {
    const auto phase = static_cast<std::uint8_t>(kIndices[static_cast<std::size_t>(interval.phase)]);
    const double from = std::max(interval.start, begin), to = std::min(interval.end, end);
    const double share = interval.stack_share;
    if (phase == kNoPhase || from >= to) continue;
    if (edges.empty() || edges.back().time != from) {
      edges.push_back({from, kNoPhase, phase, 0, share});
    } else if (edges.back().ends == phase && edges.back().ended_share == share) {
      edges.back().time = to;
      continue;
    } else {
      edges.back().begins = phase;
      edges.back().begun_share = share;
    }
    edges.push_back({to, phase, kNoPhase, share, 0});
  }
  return edges;
}

/// Sorts edges. They often come in few sorted runs, one or two a stream.
void sort_by_time(std::vector<Edge>& edges) {
  constexpr int kFewRuns = 8;
  const auto earlier = [](const Edge& a, const Edge& b) { return a.time < b.time; };
  auto sorted = std::is_sorted_until(edges.begin(), edges.end(), earlier);
  for (int runs = 1; sorted != edges.end() && runs < kFewRuns; ++runs) {
    const auto end = std::is_sorted_until(sorted, edges.end(), earlier);
    std::inplace_merge(edges.begin(), sorted, end, earlier);
    sorted = end;
  }
  if (sorted != edges.end()) std::sort(edges.begin(), edges.end(), earlier);
}

/// The stack shares of one phase's active intervals. Mostly there is one interval.
struct ActiveShares {
  int count = 0;
  double least = 0.0;
  std::vector<double> others;  ///< in order, without the least

  void begin(double share) {
    if (count++ == 0) {
      least = share;
      return;
    }
    if (share < least) std::swap(share, least);
    others.insert(std::lower_bound(others.begin(), others.end(), share), share);
  }
  void end(double share) {
    if (--count == 0) return;
    if (share == least) {
      least = others.front();
      others.erase(others.begin());
    } else {
      others.erase(std::lower_bound(others.begin(), others.end(), share));
    }
  }
};

/// The intervals that are active at a time.
class Active {
 public:
  [[nodiscard]] bool any() const { return busy_ != 0; }
  /// The index in kOrder of the phase that counts.
  [[nodiscard]] std::size_t phase() const { return static_cast<std::size_t>(std::countr_zero(busy_)); }
  /// The least of its intervals' stack shares.
  [[nodiscard]] double stack_share() const { return shares_[phase()].least; }

  void change(const Edge& edge) {
    if (edge.ends != kNoPhase) {
      shares_[edge.ends].end(edge.ended_share);
      if (shares_[edge.ends].count == 0) busy_ &= ~(1U << edge.ends);
    }
    if (edge.begins != kNoPhase) {
      shares_[edge.begins].begin(edge.begun_share);
      busy_ |= 1U << edge.begins;
    }
  }

 private:
  std::array<ActiveShares, kOrder.size()> shares_;  ///< by phase
  unsigned busy_ = 0;                               ///< a bit for each phase with intervals
};

/// Appends the pieces of an interval in [0, period).
void wrap(const Interval& interval, double period, std::vector<Interval>& wrapped) {
  double start = interval.start, end = interval.end;
  // The same shift of both ends keeps what touches together.
  const auto shift = [&](double by) {
    start += by;
    end += by;
  };
  if (std::abs(start) >= period) shift(std::fmod(start, period) - start);  // slow, and changes nothing otherwise
  if (start < 0) shift(period);
  if (start >= period) shift(-period);  // a start just below zero becomes the period by rounding
  for (; end > period; end -= period) {
    wrapped.push_back({interval.phase, start, period, interval.stack_share});
    start = 0;
  }
  if (end > start) wrapped.push_back({interval.phase, start, end, interval.stack_share});
}

}  // namespace

Breakdown attribute(const std::vector<Interval>& intervals, double begin, double length) {
  std::vector<Edge> edges = edges_of(intervals, begin, begin + length);
  sort_by_time(edges);

  std::array<double, kOrder.size() + 1> spent{};
  double& stack = spent.back();
  Active active;
  double now = begin;
  for (const Edge& edge : edges) {
    if (active.any()) {
      const double time = edge.time - now, of_stack = time * active.stack_share();
      spent[active.phase()] += time - of_stack;
      stack += of_stack;
    }
    now = edge.time;
    active.change(edge);
  }

  // The rest makes the parts add up. Rounding residues go to the largest part.
  for (double& part : spent)
    if (part < 1e-10 * length) part = 0.0;
  const double rest = length - std::accumulate(spent.begin(), spent.end(), 0.0);
  Breakdown parts;
  if (rest > 1e-9 * length) parts.waiting = Seconds(rest);
  else *std::max_element(spent.begin(), spent.end()) += rest;
  for (std::size_t i = 0; i < kOrder.size(); ++i) parts.*kOrder[i].part = Seconds(spent[i]);
  parts.stack = Seconds(stack);
  return parts;
}

std::vector<Interval> wrap(const std::vector<Interval>& intervals, double period) {
  std::vector<Interval> wrapped;
  if (period <= 0) return wrapped;
  wrapped.reserve(intervals.size() + 1);
  for (const Interval& interval : intervals) wrap(interval, period, wrapped);
  return wrapped;
}

Breakdown add(const Breakdown& a, const Breakdown& b, double weight) {
  Breakdown sum = a;
  for (const BreakdownPart& part : kBreakdownParts) sum.*part.time += b.*part.time * weight;
  return sum;
}

}  // namespace stepcast
