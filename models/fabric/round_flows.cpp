#include "models/fabric/round_flows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
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
    latencies.push_back(fabric.latency(std::span(hops).subspan(ends.back())).si());
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
  if (is_closed_) return;
  is_closed_ = round.size() > kMostFolded || !fold(round, latencies, fabric);
  is_exact_ = !is_closed_;
}

/// Whether its quotient is small enough to be followed.
bool RoundFlows::fold(const Round& round, const std::vector<double>& latencies, const Fabric& fabric) {
  FlowSystem system;
  for (std::size_t i = 0; i < round.size(); ++i) {
    FlowSystem::Flow flow;
    flow.from = round[i].from;
    flow.to = round[i].to;
    flow.colour[0] = round[i].slice.count;
    system.flows.push_back(flow);
    system.latencies.emplace_back(latencies[i]);
  }
  FoldedFlows folded = fold_flows(system, fabric);
  if (folded.flow.size() > kMostFollowed) return false;
  std::vector<std::size_t> order(folded.flow.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return folded.quotient.flows[a].delay < folded.quotient.flows[b].delay;
  });
  quotient_.links = std::move(folded.quotient.links);
  for (const std::size_t flow : order) {
    quotient_.flows.push_back(std::move(folded.quotient.flows[flow]));
    blocks_.push_back(round[folded.flow[flow]].slice.count);
  }
  return true;
}

/// Max-min fair rates of running flows by progressive filling.
class RoundFlows::Sharing {
 public:
  explicit Sharing(const Quotient& quotient)
      : quotient_(quotient), left_(quotient.links.size()), flows_(left_.size()) {}

  /// Sets rate[i], seconds to bytes, of every flow of `running`.
  void share(const std::vector<std::size_t>& running, std::vector<double>& rate) {
    std::vector<std::size_t> open = running;
    std::fill(flows_.begin(), flows_.end(), 0);
    for (std::size_t link = 0; link < left_.size(); ++link) left_[link] = quotient_.links[link].si();
    for (const std::size_t f : open) for_each_link(f, [&](std::size_t link, int times) { flows_[link] += times; });
    while (!open.empty()) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t f : open)
        for_each_link(f, [&](std::size_t link, int) { least = std::min(least, left_[link] / flows_[link]); });
      // All flows on the fullest links get their share of them for good.
      const auto filled = std::partition(open.begin(), open.end(), [&](std::size_t f) {
        bool full = false;
        for_each_link(
            f, [&](std::size_t link, int) { full = full || left_[link] <= least * flows_[link] * (1 + kRounding); });
        return !full;
      });
      for (auto f = filled; f != open.end(); ++f) {
        rate[*f] = least;
        for_each_link(*f, [&](std::size_t link, int times) {
          left_[link] = std::max(0.0, left_[link] - times * least);
          flows_[link] -= times;
        });
      }
      open.erase(filled, open.end());
    }
  }

 private:
  template <class F>
  void for_each_link(std::size_t flow, F&& f) const {
    for (const auto& [link, times] : quotient_.flows[flow].links) f(static_cast<std::size_t>(link), times);
  }

  const Quotient& quotient_;
  std::vector<double> left_;  ///< by link
  std::vector<int> flows_;    ///< by link: that have no rate yet
};

double RoundFlows::followed(double block) const {
  Sharing sharing(quotient_);
  const std::vector<QuotientFlow>& flows = quotient_.flows;
  std::vector<double> rest(flows.size()), rate(flows.size());
  for (std::size_t f = 0; f < flows.size(); ++f) rest[f] = blocks_[f] * block;
  std::vector<std::size_t> running;
  std::size_t next = 0;  // to start
  double now = 0.0;
  const auto start_of = [&](std::size_t f) { return flows[f].delay.si(); };
  while (next < flows.size() || !running.empty()) {
    if (running.empty()) now = start_of(next);
    for (; next < flows.size() && start_of(next) <= now * (1 + kRounding); ++next) running.push_back(next);
    sharing.share(running, rate);
    double until = std::numeric_limits<double>::infinity();
    for (const std::size_t f : running) until = std::min(until, rest[f] / rate[f]);
    if (next < flows.size()) until = std::min(until, start_of(next) - now);
    now += until;
    for (const std::size_t f : running) rest[f] -= rate[f] * until;
    std::erase_if(running, [&](std::size_t f) { return rest[f] <= kRounding * blocks_[f] * block; });
  }
  return now;
}

RoundFlows::Duration RoundFlows::duration(Bytes block) const {
  return {Seconds(latency_), Seconds(is_closed_ ? load_ * block.si() : std::max(0.0, followed(block.si()) - latency_))};
}

Seconds RoundFlows::least(Bytes block) const { return Seconds(std::max(latency_, first_ + load_ * block.si())); }

}  // namespace stepcast
