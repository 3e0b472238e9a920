#include "models/price/protocol_prices.hpp"

#include <algorithm>
#include <limits>

#include "models/collective/ring_latencies.hpp"
#include "models/fabric/machines.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {
namespace {

Link scaled(const Link& link, const Protocol& protocol) {
  return {link.bandwidth * protocol.bandwidth_factor, link.latency * protocol.latency_factor};
}

/// The cluster as its messages would be without protocols, had its links the protocol's latencies and bandwidths.
Cluster as_found_by(const Protocol& protocol, Cluster cluster) {
  cluster.protocols.clear();
  cluster.link = scaled(cluster.link, protocol);
  for (WorkerGroup& group : cluster.groups) {
    if (group.bandwidth) *group.bandwidth *= protocol.bandwidth_factor;
    if (group.latency) *group.latency *= protocol.latency_factor;
  }
  // Uplinks have their bandwidth from the links that they carry.
  if (auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    nodes->inner = scaled(nodes->inner, protocol);
    if (nodes->racks) nodes->racks->uplink_latency *= protocol.latency_factor;
  } else if (auto* racks = std::get_if<Racks>(&cluster.topology)) {
    racks->uplink_latency *= protocol.latency_factor;
  }
  return cluster;
}

}  // namespace

ProtocolPrices::ProtocolPrices(const Cluster& cluster, const Protocol& protocol)
    : cluster_(as_found_by(protocol, cluster)), paths_(collective_prices(cluster_)) {}

bool routes_are_priced(const Cluster& cluster, const CollectiveCall& call) {
  const int most = call.algorithm->operation == Operation::all_to_all  ? 512
                   : call.algorithm->algorithm == Algorithm::nccl_tree ? std::min(4096, 32768 / call.parameters.rings)
                                                                       : 4096;
  return !is_plain_star(cluster) && !std::holds_alternative<SimGridXml>(cluster.topology) && cluster.workers <= most;
}

ProtocolPrices::PricedRound ProtocolPrices::priced(const Round& round, bool goes_around) const {
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
  auto& flows = known_[{goes_around, std::move(messages)}];
  if (!flows) {
    if (!fabric_) fabric_.emplace(cluster_, 0);
    flows = std::make_shared<const RoundFlows>(scaled, *fabric_, goes_around);
  }
  found.flows = flows;
  return found;
}

const ProtocolPrices::PricedRounds& ProtocolPrices::rounds_of(const CollectiveCall& call) const {
  const CallKey key = key_of(call);
  if (const auto known = rounds_.find(key); known != rounds_.end()) return known->second;
  const Schedule schedule = schedule_of(call, cluster_.workers);
  PricedRounds all{schedule.blocks, {}};
  std::map<int, std::size_t> number;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [like, is_first] = number.try_emplace(schedule.like_round(r), all.rounds.size());
    if (is_first)
      all.rounds.push_back(priced(schedule.round(r), have_mean_latency(schedule, r, cluster_.ring_latency)));
    else ++all.rounds[like->second].times;
  }
  return rounds_.emplace(key, std::move(all)).first->second;
}

PricedCost ProtocolPrices::operator()(const CollectiveCall& call) const {
  const CostTerms terms = cost_of(call, cluster_.workers);
  PricedCost cost = price(terms, paths_);
  if (terms.empty() || !routes_are_priced(cluster_, call)) return cost;
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

bool ProtocolPrices::is_exact(const CollectiveCall& call) const {
  if (cost_of(call, cluster_.workers).empty()) return true;
  const PricedRounds& all = rounds_of(call);
  return std::all_of(all.rounds.begin(), all.rounds.end(),
                     [](const PricedRound& round) { return round.flows->is_exact(); });
}

/// What the call cannot take less than, without following its rounds.
Seconds ProtocolPrices::least(const CollectiveCall& call) const {
  const CostTerms terms = cost_of(call, cluster_.workers);
  if (terms.empty()) return {};
  Seconds sum = terms.copied * paths_.host + terms.reduced * paths_.gamma + paths_.setup;
  const PricedRounds& all = rounds_of(call);
  for (const PricedRound& round : all.rounds)
    sum += round.flows->least(call.bytes * (static_cast<double>(round.blocks) / all.blocks)) * round.times;
  return sum;
}

CollectiveCall ProtocolPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among) const {
  Seconds best(std::numeric_limits<double>::infinity());
  return stepcast::decide(
      operation, choice, bytes, cluster_.workers, paths_, machines(cluster_), among,
      [&](const CollectiveCall& call) {
        // Following rounds takes long; those of a call that cannot be the best are not worth it.
        if (routes_are_priced(cluster_, call))
          if (const Seconds at_least = least(call); at_least >= best) return at_least;
        const Seconds time = (*this)(call).total();
        best = std::min(best, time);
        return time;
      },
      cluster_.algorithms);
}

}  // namespace stepcast
