#include "models/price/protocol_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/collective/ring_latencies.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/connections.hpp"
#include "models/part/host_costs.hpp"
#include "models/price/best_link.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/round_pace.hpp"

namespace stepcast {
namespace {

Link scaled(const Link& link, const Protocol& protocol) {
  return {link.bandwidth * protocol.bandwidth_factor, link.latency * protocol.latency_factor};
}

/// The cluster without protocols, but with the set-up, latencies and bandwidths that the protocol gives it.
Cluster as_found_by(const Protocol& protocol, Cluster cluster) {
  cluster.protocols.clear();
  cluster.collective_cost += protocol.setup;
  cluster.link = scaled(cluster.link, protocol);
  if (auto& connection = cluster.stack.connection_bandwidth) connection = *connection * protocol.bandwidth_factor;
  for (WorkerGroup& group : cluster.groups) {
    if (group.bandwidth) *group.bandwidth *= protocol.bandwidth_factor;
    if (group.latency) *group.latency *= protocol.latency_factor;
  }
  // Uplinks get their bandwidth from the links that they carry.
  if (auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    nodes->inner = scaled(nodes->inner, protocol);
    if (nodes->racks) nodes->racks->uplink_latency *= protocol.latency_factor;
  } else if (auto* racks = std::get_if<Racks>(&cluster.topology)) {
    racks->uplink_latency *= protocol.latency_factor;
  }
  return cluster;
}

/// Divides a round's blocks by their common number: rounds that differ only in this factor share one result.
int take_blocks(Round& round) {
  const int blocks = round.front().slice.count;
  if (blocks <= 1 || std::any_of(round.begin(), round.end(), [&](const Message& m) { return m.slice.count != blocks; }))
    return 1;
  for (Message& message : round) message.slice.count = 1;
  return blocks;
}

}  // namespace

bool routes_are_known(const Cluster& cluster) {
  return (!is_plain_star(cluster) || rounds_overlap(cluster) || connections_limit(cluster)) &&
         !std::holds_alternative<SimGridXml>(cluster.topology);
}

ProtocolPrices::ProtocolPrices(const Cluster& cluster, const Protocol& protocol, Cache& cache)
    : cluster_(as_found_by(protocol, cluster)),
      paths_(collective_prices(cluster_)),
      best_(paths_),
      is_exact_(prices_are_exact(cluster_)),
      knows_routes_(routes_are_known(cluster_)),
      cache_(cache) {
  best_.path.fill(best_link(cluster_));
  best_.host.fill(cluster_.stack.slice ? SecondsPerByte{} : host_costs(cluster_).least());
  if (cluster_.stack.slice)  // delays hide
    for (PathPrice& path : best_.path) path.alpha = Seconds{};
}

bool ProtocolPrices::is_routed(const CollectiveCall& call) const {
  if (!knows_routes_) return false;
  const auto [known, is_new] = cache_.routed.try_emplace(key_of(call));
  if (is_new) known->second = unlike_messages(call, cluster_.workers) <= kMostRouted;
  return known->second;
}

ProtocolPrices::PricedRound ProtocolPrices::priced(Round round, bool goes_around, bool of_pipeline) const {
  PricedRound found;
  found.blocks = take_blocks(round);
  found.load = load_of(round, host_costs(cluster_));
  std::shared_ptr<RoundFlows> own;  // rounds of pipelines are known by their stages
  auto& flows = of_pipeline ? own : cache_.known[fingerprint_of(round, goes_around)];
  if (!flows) {
    if (!cache_.fabric) cache_.fabric.emplace(cluster_, 0);
    const Delays delays = cluster_.stack.slice ? Delays::beside : Delays::before;
    flows = std::make_shared<RoundFlows>(round, *cache_.fabric, goes_around, delays);
  }
  found.flows = flows;
  return found;
}

PricedCost ProtocolPrices::time_of(const PricedRound& round, Bytes block, Seconds wire) const {
  const Seconds latency = round.flows->latency(), copies = block * round.load.copies;
  const double share = slice_share(cluster_.stack, block * round.load.largest);
  wire *= slowed(round);
  const RoundPace bare = pace_of(latency, wire, {}, share), pace = pace_of(latency, wire, copies, share);
  const auto all = [&](const RoundPace& one) {
    return one.next * round.times + (round.has_last ? one.last - one.next : Seconds{});
  };
  PricedCost cost;
  cost.bandwidth = wire * round.times;
  cost.latency = all(bare) - cost.bandwidth;
  cost.copies = all(pace) - all(bare);
  return cost;
}

ProtocolPrices::PricedRounds& ProtocolPrices::rounds_of(const CollectiveCall& call) const {
  const auto [known, is_new] = cache_.rounds.try_emplace(key_of(call));
  PricedRounds& all = known->second;
  if (is_new) {
    all.schedule = schedule_of(call, cluster_.workers);
    all.unlike = unlike_rounds(all.schedule);
    CollectiveCall pipeline = call;
    pipeline.parameters.segments = 0;
    all.pipeline = key_of(pipeline);
  }
  return all;
}

const ProtocolPrices::PricedRound& ProtocolPrices::round(PricedRounds& all, std::size_t i) const {
  for (std::size_t next = all.rounds.size(); next <= i; ++next) {
    const auto [first, times] = all.unlike[next];
    const bool goes_around = have_mean_latency(all.schedule, first, cluster_.ring_latency);
    if (all.schedule.stages) {
      const auto [known, is_new] = cache_.stages.try_emplace({all.pipeline, all.schedule.stages(first)});
      if (is_new) known->second = priced(all.schedule.round(first), goes_around, true);
      all.rounds.push_back(known->second);
    } else {
      all.rounds.push_back(priced(all.schedule.round(first), goes_around, false));
    }
    all.rounds.back().number = first;
    all.rounds.back().times = times;
    all.rounds.back().has_last = all.schedule.like_round(all.schedule.rounds - 1) == all.schedule.like_round(first);
  }
  return all.rounds[i];
}

/// Returns whether the round is then exact.
bool ProtocolPrices::follow(const PricedRounds& all, const PricedRound& round) const {
  if (round.flows->is_exact()) return true;
  Round messages = all.schedule.round(round.number);
  take_blocks(messages);
  return round.flows->follow(messages, *cache_.fabric);
}

/// Selects the rounds that are exact. The bounds decide, not the rounds that earlier calls followed.
std::vector<bool> ProtocolPrices::followed(PricedRounds& all, Bytes bytes) const {
  struct Open {
    std::size_t round;
    Seconds gap;
  };
  std::vector<bool> exact;
  std::vector<Open> open;
  Seconds left{}, sum{};
  double messages = 0;
  for (std::size_t i = 0; i < all.unlike.size(); ++i) messages += static_cast<double>(round(all, i).flows->messages());
  const bool small = messages <= kAlwaysFollowed;
  for (const PricedRound& round : all.rounds) {
    const Bytes block = all.block(round, bytes);
    const Seconds least = round.flows->least_wire(block);
    sum += (round.flows->latency() + least * slowed(round)) * round.times;
    exact.push_back(round.flows->is_closed() || (small && follow(all, round)));
    if (exact.back()) continue;
    const Seconds gap = (round.flows->most_wire(block) - least) * (slowed(round) * round.times);
    left += gap;
    if (!small) open.push_back({exact.size() - 1, gap});
  }
  std::stable_sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.gap > b.gap; });
  double folded = 0;
  for (const auto& [number, gap] : open) {
    if (left <= sum * kWithin) break;
    folded += static_cast<double>(all.rounds[number].flows->messages());
    if (folded > kMostFolded) break;
    if (!follow(all, all.rounds[number])) continue;
    exact[number] = true;
    left -= gap;
  }
  return exact;
}

ProtocolPrices::Priced ProtocolPrices::by_routes(const CollectiveCall& call, const CostTerms& terms) const {
  PricedRounds& all = rounds_of(call);
  const std::vector<bool> exact = followed(all, call.bytes);
  Priced sum{price(terms, paths_), {}};
  sum.cost.latency = sum.cost.bandwidth = sum.cost.copies = Seconds{};
  for (std::size_t i = 0; i < all.rounds.size(); ++i) {
    const PricedRound& round = all.rounds[i];
    const Bytes block = all.block(round, call.bytes);
    if (exact[i]) {
      sum.cost += time_of(round, block, round.flows->duration(block).bandwidth);
      continue;
    }
    const Seconds least = round.flows->least_wire(block), most = round.flows->most_wire(block);
    sum.cost += time_of(round, block, (least + most) / 2.0);
    // A round's time grows with that on the wire, but no faster.
    sum.slack += (most - least) / 2.0 * (slowed(round) * round.times);
  }
  return sum;
}

ProtocolPrices::Priced ProtocolPrices::priced(const CollectiveCall& call) const {
  const CostTerms terms = cost_of(call, cluster_.workers);
  if (terms.empty() || is_exact_) return {price(terms, paths_), {}};
  const std::pair<CallKey, Bytes> key{key_of(call), call.bytes};
  if (const auto known = cache_.prices.find(key); known != cache_.prices.end()) return known->second;
  Priced found{price(terms, paths_), Seconds(std::numeric_limits<double>::infinity())};
  if (is_routed(call)) found = by_routes(call, terms);
  if (cache_.prices.size() == Cache::kMostPrices) cache_.prices.clear();
  return cache_.prices.emplace(key, found).first->second;
}

/// Computes bounds without following rounds. It routes rounds only as far as needed.
CallTimes::Bounds ProtocolPrices::bounds(const CollectiveCall& call, Seconds limit) const {
  constexpr Seconds kUnknown(std::numeric_limits<double>::infinity());
  const CostTerms terms = cost_of(call, cluster_.workers);
  if (terms.empty()) return {};
  // The closed form counts bytes on a host's links, but for NCCL's trees bytes on a NIC.
  const Seconds alone = price(terms, best_).total();
  if (call.algorithm->algorithm != Algorithm::nccl_tree && alone > limit) return {alone, kUnknown};
  if (!is_routed(call)) return {kUnknown, kUnknown};
  const Seconds fixed = terms.reduced * paths_.gamma + paths_.setup;
  CallTimes::Bounds sum{fixed, fixed};
  PricedRounds& all = rounds_of(call);
  for (std::size_t i = 0; i < all.unlike.size(); ++i) {
    const PricedRound& one = round(all, i);
    const Bytes block = all.block(one, call.bytes);
    sum.low += time_of(one, block, one.flows->least_wire(block)).total();
    sum.high += time_of(one, block, one.flows->most_wire(block)).total();
    if (sum.low > limit) return {sum.low, kUnknown};
  }
  return sum;
}

CollectiveCall ProtocolPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among) const {
  const CallTimes times{[this](const CollectiveCall& call, Seconds limit) { return bounds(call, limit); },
                        [this](const CollectiveCall& call) {
                          const Priced known = priced(call);
                          return known.cost.total() + (std::isfinite(known.slack.si()) ? Seconds{} : known.slack);
                        }};
  return stepcast::decide(operation, choice, bytes, cluster_.workers, paths_, machines(cluster_), among,
                          knows_routes_ ? &times : nullptr, cluster_.algorithms);
}

}  // namespace stepcast
