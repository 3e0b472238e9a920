// Closed forms of collectives, as counts. A cluster's prices turn them into seconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The route of a round's messages. Topologies have a different price for each route.
enum class Path {
  neighbour,  ///< each rank to the next rank: one flow leaves each machine or rack
  ring,       ///< the same round repeated, also for several rings: the mean latency of the links counts
  far,        ///< any partners: every flow may leave its machine or rack
  inner,      ///< inside one machine or rack
  shard,      ///< between workers and parameter-server shards
};
inline constexpr int kPaths = 5;

/// The cost of a collective or another exchange on any cluster, as counts. price() turns them into a time.
struct CostTerms {
  std::array<double, kPaths> messages{};  ///< sequential messages, by path
  /// By path: bytes through the busiest host's link in its busier direction, summed over the rounds.
  std::array<Bytes, kPaths> wire{};
  std::array<Bytes, kPaths> copied{};      ///< by the busiest worker's host: all of `wire` by default
  std::array<Bytes, kPaths> in_network{};  ///< the part of `wire` that switches add up
  Bytes reduced{};                         ///< added by the busiest participant
  Bytes sent{};                            ///< by a worker, as the mean over workers; not part of the time
  double busiest_nic = 1.0;                ///< share of the `ring` and `far` bytes that counts for NICs and switches

  CostTerms& add(Path path, double rounds, Bytes bytes) {
    messages[static_cast<int>(path)] += rounds;
    wire[static_cast<int>(path)] += bytes;
    copied[static_cast<int>(path)] += bytes;
    return *this;
  }
  /// Moves the messages and bytes of one path to another path.
  CostTerms& reroute(Path from, Path to) {
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    messages[t] += std::exchange(messages[f], 0.0);
    wire[t] += std::exchange(wire[f], Bytes{});
    copied[t] += std::exchange(copied[f], Bytes{});
    in_network[t] += std::exchange(in_network[f], Bytes{});
    return *this;
  }
  [[nodiscard]] Bytes total_wire() const { return std::accumulate(wire.begin(), wire.end(), Bytes{}); }
  [[nodiscard]] Bytes total_copied() const { return std::accumulate(copied.begin(), copied.end(), Bytes{}); }
  [[nodiscard]] double total_messages() const { return std::accumulate(messages.begin(), messages.end(), 0.0); }
  [[nodiscard]] bool empty() const { return total_messages() == 0.0; }
  [[nodiscard]] bool uses(std::size_t path) const {
    return messages[path] != 0.0 || wire[path] != Bytes{} || copied[path] != Bytes{} || in_network[path] != Bytes{};
  }
};

/// α and β of one path.
struct PathPrice {
  Seconds alpha{};
  SecondsPerByte beta{};
};

/// A cluster's prices: α, β and h by path, γ and S.
struct Prices {
  std::array<PathPrice, kPaths> path{};
  std::array<SecondsPerByte, kPaths> host{};
  SecondsPerByte gamma{};
  Seconds setup{};
  std::optional<double> in_network_factor{};  ///< of the cluster
  int workers_of_machine = 1;                 ///< whose inner links lead to no switch that adds up
};

/// The terms of the total, separately. Set-up is S + κ·n (part/cluster.hpp). A stack adds four of them (part/stack.hpp): copies, the time that hosts add to
/// latency and bandwidth; operation, o; negotiation, ν; and gathering, G and g.
struct PricedCost {
  Seconds latency{}, bandwidth{}, copies{}, reduction{}, setup{}, operation{}, negotiation{}, gathering{};
  [[nodiscard]] Seconds of_stack() const { return copies + operation + negotiation + gathering; }
  [[nodiscard]] Seconds total() const { return latency + bandwidth + reduction + setup + of_stack(); }
  PricedCost& operator+=(const PricedCost& other) {
    latency += other.latency;
    bandwidth += other.bandwidth;
    copies += other.copies;
    reduction += other.reduction;
    setup += other.setup;
    operation += other.operation;
    negotiation += other.negotiation;
    gathering += other.gathering;
    return *this;
  }
};

/// T = sum over paths of (messages·α + wire·β + copied·h) + reduced·γ + S, and 0 without any message (p = 1). On the
/// paths that leave machines (ring and far), β is max(β·busiest_nic, min(β, β inside)). The NICs share the bytes that
/// leave a machine, but the bytes inside it are no faster than its inner links. Bytes that switches add up take
/// β/in_network_factor.
inline PricedCost price(const CostTerms& terms, const Prices& prices) {
  PricedCost cost;
  if (terms.empty()) return cost;
  const SecondsPerByte inner = prices.path[static_cast<int>(Path::inner)].beta;
  const double slowed = 1.0 / prices.in_network_factor.value_or(1.0) - 1.0;
  for (int i = 0; i < kPaths; ++i) {
    if (!terms.uses(i)) continue;
    const auto& [alpha, beta] = prices.path[i];
    const bool leaves = i == static_cast<int>(Path::ring) || i == static_cast<int>(Path::far);
    cost.latency += alpha * terms.messages[i];
    cost.bandwidth += (terms.wire[i] + terms.in_network[i] * slowed) *
                      (leaves ? std::max(beta * terms.busiest_nic, std::min(beta, inner)) : beta);
    cost.copies += terms.copied[i] * prices.host[i];
  }
  cost.reduction = terms.reduced * prices.gamma;
  cost.setup = prices.setup;
  return cost;
}

}  // namespace stepcast
