#include "models/fabric/round_flows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "models/fabric/fair_shares.hpp"
#include "models/fabric/last_route.hpp"

namespace stepcast {
namespace {

constexpr double kRounding = FairShares::kRounding;

}  // namespace

RoundFlows::RoundFlows(const Round& round, Fabric& fabric, bool goes_around, Delays delays)
    : fullest_(fullest_link(round, fabric, goes_around, delays)), messages_(round.size()) {
  if (!fullest_.is_closed) fair_ = fair_flows(round, fabric, fullest_.latencies);
}

std::vector<RoundFlows::FairFlow> RoundFlows::fair_flows(const Round& round, Fabric& fabric,
                                                         std::vector<double> latencies) {
  if (latencies.empty()) latencies = route_latencies(round, fabric);
  // Longer latencies than so many kinds count as the longest of them; their later end is not used then.
  constexpr std::size_t kMostLatencies = 8;
  std::vector<double> kinds = latencies;
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end(), [](double a, double b) { return b <= a * (1 + kRounding); }),
              kinds.end());
  if (kinds.size() > kMostLatencies) kinds.resize(kMostLatencies);
  const auto number_of = [&](std::size_t i) {
    const auto above = std::upper_bound(kinds.begin(), kinds.end(), latencies[i] * (1 + kRounding));
    return static_cast<std::size_t>(above - kinds.begin()) - 1;
  };
  LastRoute last(fabric);
  std::vector<int> flows;  // by link: of latency 0 or longer, 1 or longer...
  const auto first_of = [&](int hop) { return static_cast<std::size_t>(hop) * kinds.size(); };
  for (std::size_t i = 0; i < round.size(); ++i) {
    const std::size_t number = number_of(i);
    for (const int hop : last.of(round[i])) {
      flows.resize(std::max(flows.size(), first_of(hop + 1)));
      for (std::size_t k = 0; k <= number; ++k) ++flows[first_of(hop) + k];
    }
  }
  std::set<FairFlow> found;
  for (std::size_t i = 0; i < round.size(); ++i) {
    const double alone = round[i].slice.count / fabric.limit(round[i].from, round[i].to).si();
    FairFlow flow{std::vector<double>(number_of(i) + 1, alone), latencies[i]};
    for (const int hop : last.of(round[i]))
      for (std::size_t k = 0; k < flow.slowness.size(); ++k)
        flow.slowness[k] = std::max(
            flow.slowness[k], round[i].slice.count * flows[first_of(hop) + k] / fabric.links()[hop].bandwidth.si());
    found.insert(std::move(flow));
  }
  std::vector<FairFlow> all(found.begin(), found.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const FairFlow& a, const FairFlow& b) { return a.slowness.size() < b.slowness.size(); });
  return all;
}

bool RoundFlows::follow(const Round& round, Fabric& fabric) {
  if (is_exact() || is_too_large_) return is_exact();
  FlowSystem system;
  for (std::size_t i = 0; i < round.size(); ++i) {
    FlowSystem::Flow flow;
    flow.from = round[i].from;
    flow.to = round[i].to;
    flow.colour[0] = round[i].slice.count;
    system.flows.push_back(flow);
    if (!fullest_.latencies.empty()) system.latencies.emplace_back(fullest_.latencies[i]);
  }
  FoldedFlows folded = fold_flows(system, fabric);
  is_too_large_ = folded.flow.size() > kMostFollowed;
  if (is_too_large_) return false;
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
  return is_followed_ = true;
}

double RoundFlows::followed(double block) const {
  FairShares shares(quotient_);
  const std::vector<QuotientFlow>& flows = quotient_.flows;
  std::vector<double> rest(flows.size()), rate;
  for (std::size_t f = 0; f < flows.size(); ++f) rest[f] = blocks_[f] * block;
  std::vector<std::size_t> running;
  std::size_t next = 0;  // the next flow to start
  double now = 0.0;
  const auto start_of = [&](std::size_t f) { return flows[f].delay.si(); };
  while (next < flows.size() || !running.empty()) {
    if (running.empty()) now = start_of(next);
    for (; next < flows.size() && start_of(next) <= now * (1 + kRounding); ++next) running.push_back(next);
    shares.share(running, rate);
    double until = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < running.size(); ++i) until = std::min(until, rest[running[i]] / rate[i]);
    if (next < flows.size()) until = std::min(until, start_of(next) - now);
    now += until;
    for (std::size_t i = 0; i < running.size(); ++i) rest[running[i]] -= rate[i] * until;
    std::erase_if(running, [&](std::size_t f) { return rest[f] <= kRounding * blocks_[f] * block; });
  }
  return now;
}

RoundFlows::Duration RoundFlows::duration(Bytes block) const {
  const Seconds all = is_followed_ ? Seconds(followed(block.si())) : (least(block) + most(block)) / 2.0;
  const Seconds wire = all - Seconds(fullest_.start);
  return {latency(), is_closed() ? Seconds(fullest_.load * block.si()) : std::max(Seconds{}, wire)};
}

Seconds RoundFlows::least(Bytes block) const {
  return Seconds(std::max(fullest_.start, fullest_.first + fullest_.load * block.si()));
}

Seconds RoundFlows::most(Bytes block) const {
  if (is_closed()) return least(block);
  std::vector<double> ended;  // when all flows have, of latency 0, of 0 and 1...
  const auto end_of = [&](const FairFlow& flow) {
    double now = flow.latency, left = 1.0;
    for (std::size_t k = 0; k + 1 < flow.slowness.size(); ++k) {
      const double all = flow.slowness[k] * block.si();
      if (now >= ended[k]) continue;
      if (now + left * all <= ended[k]) return now + left * all;
      left -= (ended[k] - now) / all;
      now = ended[k];
    }
    return now + left * flow.slowness.back() * block.si();
  };
  for (const FairFlow& flow : fair_) {
    const double end = end_of(flow);
    if (flow.slowness.size() > ended.size()) ended.push_back(ended.empty() ? end : std::max(ended.back(), end));
    else ended.back() = std::max(ended.back(), end);
  }
  return Seconds(ended.back());
}

RoundFlows followed_flows(const Round& round, Fabric& fabric, bool goes_around) {
  RoundFlows flows(round, fabric, goes_around);
  flows.follow(round, fabric);
  return flows;
}

}  // namespace stepcast
