#include "models/fabric/round_flows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/collective/ring_latencies.hpp"

namespace stepcast {
namespace {

/// Sums of the same numbers in another order are one number.
constexpr double kRounding = 1e-12;

}  // namespace

RoundFlows::RoundFlows(const Round& round, const Fabric& fabric, bool goes_around) {
  struct Load {
    int flows = 0;
    double blocks = 0.0;
    double first = std::numeric_limits<double>::infinity();  ///< the shortest latency of its flows
  };
  std::vector<Load> loads;  // by link
  std::vector<double> latencies;
  Fabric::Route hops;                // of all routes, one after the other
  std::vector<std::size_t> ends{0};  // of each route
  for (const Message& message : round) {
    fabric.append_route(message.from, message.to, hops);
    loads.resize(fabric.links().size());
    double latency = 0.0;
    for (std::size_t h = ends.back(); h < hops.size(); ++h)
      latency += fabric.links()[static_cast<std::size_t>(hops[h])].latency.si();
    latencies.push_back(latency);
    ends.push_back(hops.size());
  }
  if (goes_around) latencies = even_latencies(round, std::move(latencies));
  for (std::size_t i = 0; i < round.size(); ++i) {
    latency_ = std::max(latency_, latencies[i]);
    for (std::size_t h = ends[i]; h < ends[i + 1]; ++h) {
      Load& load = loads[static_cast<std::size_t>(hops[h])];
      ++load.flows;
      load.blocks += round[i].slice.count;
      load.first = std::min(load.first, latencies[i]);
    }
  }
  const auto bandwidth = [&](std::size_t link) { return fabric.links()[link].bandwidth.si(); };
  for (std::size_t link = 0; link < loads.size(); ++link)
    if (loads[link].flows > 0) load_ = std::max(load_, loads[link].blocks / bandwidth(link));
  for (std::size_t link = 0; link < loads.size(); ++link)
    if (loads[link].flows > 0 && loads[link].blocks / bandwidth(link) >= load_ * (1 - kRounding))
      first_ = std::max(first_, loads[link].first);
  const bool alike = std::all_of(round.begin(), round.end(),
                                 [&](const Message& m) { return m.slice.count == round.front().slice.count; });
  is_closed_ = alike && first_ >= latency_ * (1 - kRounding);
  is_exact_ = is_closed_ || round.size() <= kMostFollowed;
  is_closed_ |= !is_exact_;
  if (is_closed_) return;

  // Of the links that only one message crosses, its narrowest is enough.
  constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(loads.size(), kUnknown);
  for (std::size_t i = 0; i < round.size(); ++i) {
    Flow flow{latencies[i], static_cast<double>(round[i].slice.count),
              static_cast<std::uint32_t>(links_of_flows_.size()), 0};
    double own = std::numeric_limits<double>::infinity();
    for (std::size_t h = ends[i]; h < ends[i + 1]; ++h) {
      const auto link = static_cast<std::size_t>(hops[h]);
      if (loads[link].flows == 1) {
        own = std::min(own, bandwidth(link));
        continue;
      }
      if (number[link] == kUnknown) {
        number[link] = static_cast<std::uint32_t>(bandwidth_.size());
        bandwidth_.push_back(bandwidth(link));
      }
      links_of_flows_.push_back(number[link]);
    }
    if (own < std::numeric_limits<double>::infinity()) {
      links_of_flows_.push_back(static_cast<std::uint32_t>(bandwidth_.size()));
      bandwidth_.push_back(own);
    }
    flow.last_link = static_cast<std::uint32_t>(links_of_flows_.size());
    flows_.push_back(flow);
  }
  std::stable_sort(flows_.begin(), flows_.end(), [](const Flow& a, const Flow& b) { return a.latency < b.latency; });
}

/// Max-min fair rates of running flows by progressive filling.
class RoundFlows::Sharing {
 public:
  explicit Sharing(const RoundFlows& round) : round_(round), left_(round.bandwidth_), flows_(round.bandwidth_.size()) {}

  /// Sets rate[i], seconds to bytes, of every flow of `running`.
  void share(const std::vector<std::size_t>& running, std::vector<double>& rate) {
    std::vector<std::size_t> open = running;
    std::fill(flows_.begin(), flows_.end(), 0);
    left_ = round_.bandwidth_;
    for (const std::size_t f : open) for_each_link(f, [&](std::size_t link) { ++flows_[link]; });
    while (!open.empty()) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t f : open)
        for_each_link(f, [&](std::size_t link) { least = std::min(least, left_[link] / flows_[link]); });
      // All flows on the fullest links get their share of them for good.
      const auto filled = std::partition(open.begin(), open.end(), [&](std::size_t f) {
        bool full = false;
        for_each_link(f,
                      [&](std::size_t link) { full = full || left_[link] <= least * flows_[link] * (1 + kRounding); });
        return !full;
      });
      for (auto f = filled; f != open.end(); ++f) {
        rate[*f] = least;
        for_each_link(*f, [&](std::size_t link) {
          left_[link] = std::max(0.0, left_[link] - least);
          --flows_[link];
        });
      }
      open.erase(filled, open.end());
    }
  }

 private:
  template <class F>
  void for_each_link(std::size_t flow, F&& f) const {
    for (std::uint32_t i = round_.flows_[flow].first_link; i < round_.flows_[flow].last_link; ++i)
      f(round_.links_of_flows_[i]);
  }

  const RoundFlows& round_;
  std::vector<double> left_;  ///< by link
  std::vector<int> flows_;    ///< by link: that have no rate yet
};

double RoundFlows::followed(double block) const {
  Sharing sharing(*this);
  std::vector<double> rest(flows_.size()), rate(flows_.size());
  for (std::size_t f = 0; f < flows_.size(); ++f) rest[f] = flows_[f].blocks * block;
  std::vector<std::size_t> running;
  std::size_t next = 0;  // to start
  double now = 0.0;
  while (next < flows_.size() || !running.empty()) {
    if (running.empty()) now = flows_[next].latency;
    for (; next < flows_.size() && flows_[next].latency <= now * (1 + kRounding); ++next) running.push_back(next);
    sharing.share(running, rate);
    double until = std::numeric_limits<double>::infinity();
    for (const std::size_t f : running) until = std::min(until, rest[f] / rate[f]);
    if (next < flows_.size()) until = std::min(until, flows_[next].latency - now);
    now += until;
    for (const std::size_t f : running) rest[f] -= rate[f] * until;
    std::erase_if(running, [&](std::size_t f) { return rest[f] <= kRounding * flows_[f].blocks * block; });
  }
  return now;
}

RoundFlows::Duration RoundFlows::duration(Bytes block) const {
  return {Seconds(latency_), Seconds(is_closed_ ? load_ * block.si() : std::max(0.0, followed(block.si()) - latency_))};
}

Seconds RoundFlows::least(Bytes block) const { return Seconds(std::max(latency_, first_ + load_ * block.si())); }

}  // namespace stepcast
