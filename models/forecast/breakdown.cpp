#include "models/forecast/breakdown.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace stepcast {
namespace {

constexpr std::array kOrder = {Phase::forward, Phase::backward, Phase::update,
                               Phase::encode,  Phase::decode,   Phase::exchange};

struct Edge {
  double time;
  std::size_t phase;
  int change;
};

}  // namespace

Breakdown attribute(const std::vector<Interval>& intervals, double begin, double length) {
  const double end = begin + length;
  std::vector<Edge> edges;
  for (const Interval& interval : intervals) {
    const auto phase = std::find(kOrder.begin(), kOrder.end(), interval.phase);
    const double from = std::max(interval.start, begin), to = std::min(interval.end, end);
    if (phase == kOrder.end() || from >= to) continue;
    const auto index = static_cast<std::size_t>(phase - kOrder.begin());
    edges.push_back({from, index, +1});
    edges.push_back({to, index, -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });

  std::array<double, kOrder.size()> spent{};
  std::array<int, kOrder.size()> active{};
  double now = begin;
  for (const Edge& edge : edges) {
    const auto busy = std::find_if(active.begin(), active.end(), [](int n) { return n > 0; });
    if (busy != active.end()) spent[static_cast<std::size_t>(busy - active.begin())] += edge.time - now;
    now = edge.time;
    active[edge.phase] += edge.change;
  }

  // The rest, so that the parts add up; what rounding alone makes or leaves belongs to the largest part.
  for (double& part : spent)
    if (part < 1e-10 * length) part = 0.0;
  const double rest = length - std::accumulate(spent.begin(), spent.end(), 0.0);
  Breakdown parts;
  if (rest > 1e-9 * length) parts.waiting = Seconds(rest);
  else *std::max_element(spent.begin(), spent.end()) += rest;
  parts.forward = Seconds(spent[0]);
  parts.backward = Seconds(spent[1]);
  parts.update = Seconds(spent[2]);
  parts.encode = Seconds(spent[3]);
  parts.decode = Seconds(spent[4]);
  parts.exposed_communication = Seconds(spent[5]);
  return parts;
}

std::vector<Interval> wrap(const std::vector<Interval>& intervals, double period) {
  std::vector<Interval> wrapped;
  if (period <= 0) return wrapped;
  for (const Interval& interval : intervals) {
    double start = std::fmod(interval.start, period);
    if (start < 0) start += period;
    if (start >= period) start = 0;  // a start just below zero, rounded up to the period
    double rest = interval.end - interval.start;
    while (rest > 0) {
      const double piece = std::min(rest, period - start);
      if (piece <= 0) break;
      wrapped.push_back({interval.phase, start, start + piece});
      rest -= piece;
      start = 0;
    }
  }
  return wrapped;
}

Breakdown add(const Breakdown& a, const Breakdown& b, double weight) {
  Breakdown sum = a;
  sum.forward += b.forward * weight;
  sum.backward += b.backward * weight;
  sum.update += b.update * weight;
  sum.encode += b.encode * weight;
  sum.decode += b.decode * weight;
  sum.exposed_communication += b.exposed_communication * weight;
  sum.waiting += b.waiting * weight;
  return sum;
}

}  // namespace stepcast
