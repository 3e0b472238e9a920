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

struct Edge {
  double time, stack_share;
  std::uint8_t phase;  ///< its index in kOrder
  bool begins;
};

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

/// The intervals that are active at a time.
class Active {
 public:
  [[nodiscard]] bool any() const { return busy_ != 0; }
  /// The index in kOrder of the phase that counts.
  [[nodiscard]] std::size_t phase() const { return static_cast<std::size_t>(std::countr_zero(busy_)); }
  /// The least of its intervals' stack shares.
  [[nodiscard]] double stack_share() const { return shares_[phase()].front(); }

  void change(const Edge& edge) {
    std::vector<double>& shares = shares_[edge.phase];
    const unsigned bit = 1U << edge.phase;
    if (edge.begins && shares.empty()) {
      shares.push_back(edge.stack_share);
      busy_ |= bit;
    } else if (!edge.begins && shares.size() == 1) {
      shares.clear();
      busy_ &= ~bit;
    } else {
      const auto place = std::lower_bound(shares.begin(), shares.end(), edge.stack_share);
      if (edge.begins) shares.insert(place, edge.stack_share);
      else shares.erase(place);
    }
  }

 private:
  std::array<std::vector<double>, kOrder.size()> shares_;  ///< by phase, the least first
  unsigned busy_ = 0;                                      ///< a bit for each phase with intervals
};

}  // namespace

Breakdown attribute(const std::vector<Interval>& intervals, double begin, double length) {
  const double end = begin + length;
  std::vector<Edge> edges;
  edges.reserve(2 * intervals.size());
  for (const Interval& interval : intervals) {
    const std::size_t index = kIndices[static_cast<std::size_t>(interval.phase)];
    const double from = std::max(interval.start, begin), to = std::min(interval.end, end);
    if (index == kOrder.size() || from >= to) continue;
    edges.push_back({from, interval.stack_share, static_cast<std::uint8_t>(index), true});
    edges.push_back({to, interval.stack_share, static_cast<std::uint8_t>(index), false});
  }
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

void wrap(const Interval& interval, double period, std::vector<Interval>& wrapped) {
  if (period <= 0) return;
  double start = interval.start;
  if (std::abs(start) >= period) start = std::fmod(start, period);  // slow, and changes nothing otherwise
  if (start < 0) start += period;
  if (start >= period) start = 0;  // a start just below zero becomes the period by rounding
  double rest = interval.end - interval.start;
  while (rest > 0) {
    const double piece = std::min(rest, period - start);
    if (piece <= 0) break;
    wrapped.push_back({interval.phase, start, start + piece, interval.stack_share});
    rest -= piece;
    start = 0;
  }
}

std::vector<Interval> wrap(const std::vector<Interval>& intervals, double period) {
  std::vector<Interval> wrapped;
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
