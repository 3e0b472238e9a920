#include "models/price/cluster_prices.hpp"

#include <algorithm>
#include <limits>

#include "models/collective/direct.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {

bool routes_are_priced(const Cluster& cluster, Operation operation) {
  const int most = operation == Operation::all_to_all ? 512 : 4096;
  return !is_plain_star(cluster) && !std::holds_alternative<SimGridXml>(cluster.topology) && cluster.workers <= most;
}

ClusterPrices::PricedRound ClusterPrices::priced(const Round& round) const {
  PricedRound found;
  // Rounds that differ in how much all their messages carry are one, scaled.
  if (std::all_of(round.begin(), round.end(),
                  [&](const Message& m) { return m.slice.count == round.front().slice.count; }))
    found.blocks = round.front().slice.count;
  if (found.blocks == 0) found.blocks = 1;
  Round scaled = round;
  std::vector<std::array<int, 3>> messages;
  messages.reserve(round.size());
  for (Message& message : scaled) {
    message.slice.count /= found.blocks;
    messages.push_back({message.from, message.to, message.slice.count});
  }
  auto& flows = known_[std::move(messages)];
  if (!flows) {
    if (!fabric_) fabric_.emplace(cluster_, 0);
    flows = std::make_shared<const RoundFlows>(scaled, *fabric_);
  }
  found.flows = flows;
  return found;
}

const ClusterPrices::PricedRounds& ClusterPrices::rounds_of(const CollectiveCall& call) const {
  const CallKey key = key_of(call);
  if (const auto known = rounds_.find(key); known != rounds_.end()) return known->second;
  const Schedule schedule = schedule_of(call, cluster_.workers);
  PricedRounds all{schedule.blocks, {}};
  std::map<int, std::size_t> number;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [like, is_first] = number.try_emplace(schedule.like_round(r), all.rounds.size());
    if (is_first) all.rounds.push_back(priced(schedule.round(r)));
    else ++all.rounds[like->second].times;
  }
  return rounds_.emplace(key, std::move(all)).first->second;
}

PricedCost ClusterPrices::operator()(const CollectiveCall& call) const {
  const CostTerms terms = cost_of(call, cluster_.workers);
  PricedCost cost = price(terms, paths_);
  if (terms.empty() || !routes_are_priced(cluster_, call.algorithm->operation)) return cost;
  const std::pair<CallKey, Bytes> key{key_of(call), call.bytes};
  if (const auto known = prices_.find(key); known != prices_.end()) return known->second;
  const PricedRounds& all = rounds_of(call);
  cost.latency = Seconds{};
  cost.bandwidth = terms.copied * paths_.host;
  for (const PricedRound& round : all.rounds) {
    const RoundFlows::Duration one =
        round.flows->duration(call.bytes * (static_cast<double>(round.blocks) / all.blocks));
    cost.latency += one.latency * round.times;
    cost.bandwidth += one.bandwidth * round.times;
  }
  if (prices_.size() == kMostPrices) prices_.clear();
  return prices_.emplace(key, cost).first->second;
}

bool ClusterPrices::is_exact(const CollectiveCall& call) const {
  if (cost_of(call, cluster_.workers).empty()) return true;
  const PricedRounds& all = rounds_of(call);
  return std::all_of(all.rounds.begin(), all.rounds.end(),
                     [](const PricedRound& round) { return round.flows->is_exact(); });
}

bool ClusterPrices::neighbours_are_routed() const {
  constexpr int kMost = 65536;  // workers, for whose messages RoundFlows takes 10 MB
  return !is_plain_star(cluster_) && !std::holds_alternative<SimGridXml>(cluster_.topology) && cluster_.workers > 1 &&
         cluster_.workers <= kMost;
}

const RoundFlows& ClusterPrices::neighbour_flows() const {
  if (!neighbours_) {
    const int p = cluster_.workers;
    Round round;
    for (int rank = 0; rank < p; ++rank) {
      round.push_back({rank, (rank + 1) % p, {0, 1}});
      if (p > 2) round.push_back({rank, (rank + p - 1) % p, {0, 1}});
    }
    neighbours_ = priced(round).flows;
  }
  return *neighbours_;
}

PricedCost ClusterPrices::neighbours(Bytes bytes) const {
  const CostTerms terms = neighbour_exchange_cost(bytes, cluster_.workers);
  PricedCost cost = price(terms, paths_);
  cost.setup = Seconds{};
  if (!neighbours_are_routed()) return cost;
  const RoundFlows::Duration time = neighbour_flows().duration(bytes);
  cost.latency = time.latency;
  cost.bandwidth = time.bandwidth + terms.copied * paths_.host;
  return cost;
}

bool ClusterPrices::neighbours_are_exact() const {
  if (cluster_.workers == 1 || prices_are_exact(cluster_)) return true;
  return workers_are_alike(cluster_) && neighbours_are_routed() && neighbour_flows().formula_is_exact();
}

/// What the call cannot take less than, without following its rounds.
Seconds ClusterPrices::least(const CollectiveCall& call) const {
  const CostTerms terms = cost_of(call, cluster_.workers);
  if (terms.empty()) return {};
  Seconds sum = terms.copied * paths_.host + terms.reduced * paths_.gamma + paths_.setup;
  const PricedRounds& all = rounds_of(call);
  for (const PricedRound& round : all.rounds)
    sum += round.flows->least(call.bytes * (static_cast<double>(round.blocks) / all.blocks)) * round.times;
  return sum;
}

CollectiveCall ClusterPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                     const Communicators& among) const {
  const bool by_routes = routes_are_priced(cluster_, operation);
  Seconds best(std::numeric_limits<double>::infinity());
  return stepcast::decide(operation, choice, bytes, cluster_.workers, paths_, machines(cluster_), among,
                          [&](const CollectiveCall& call) {
                            // Following rounds takes long; those of a call that cannot be the best are not worth it.
                            if (by_routes)
                              if (const Seconds at_least = least(call); at_least >= best) return at_least;
                            const Seconds time = (*this)(call).total();
                            best = std::min(best, time);
                            return time;
                          });
}

}  // namespace stepcast
