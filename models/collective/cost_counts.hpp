// Closed forms of collectives, as counts that a cluster's prices turn into seconds.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// Which way a round's messages go, because topologies price them differently.
enum class Path {
  neighbour,  ///< every rank to the next one: one flow leaves each machine or rack
  ring,       ///< the same round after round, or so for each of several rings: the mean of the latencies counts
  far,        ///< partners anywhere: every flow may leave its machine or rack
  inner,      ///< inside one machine or rack
  shard,      ///< between workers and parameter-server shards
};
inline constexpr int kPaths = 5;

/// What a collective, or another exchange, costs on any cluster: counts, of which price() makes a time.
struct CostTerms {
  std::array<double, kPaths> messages{};  ///< by path, one after the other
  /// By path: through the busiest host's link in its busier direction, one round after the other.
  std::array<Bytes, kPaths> wire{};
  Bytes copied{};            ///< by the busiest worker's host: all of `wire` unless said otherwise
  Bytes reduced{};           ///< added up by the busiest participant
  Bytes sent{};              ///< by a worker, mean over workers; no part of the time
  double busiest_nic = 1.0;  ///< of what goes by `ring` or `far`, the part that counts for NICs and switches

  CostTerms& add(Path path, double rounds, Bytes bytes) {
    messages[static_cast<int>(path)] += rounds;
    wire[static_cast<int>(path)] += bytes;
    copied += bytes;
    return *this;
  }
  /// What is on one path goes by another.
  CostTerms& reroute(Path from, Path to) {
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    messages[t] += std::exchange(messages[f], 0.0);
    wire[t] += std::exchange(wire[f], Bytes{});
    return *this;
  }
  [[nodiscard]] Bytes total_wire() const { return std::accumulate(wire.begin(), wire.end(), Bytes{}); }
  [[nodiscard]] double total_messages() const { return std::accumulate(messages.begin(), messages.end(), 0.0); }
  [[nodiscard]] bool empty() const { return total_messages() == 0.0; }
};

/// α and β of one path.
struct PathPrice {
  Seconds alpha{};
  SecondsPerByte beta{};
};

/// What a cluster charges: α and β by path, h, γ and S.
struct Prices {
  std::array<PathPrice, kPaths> path{};
  SecondsPerByte host{};
  SecondsPerByte gamma{};
  Seconds setup{};
};

/// The terms of the sum apart, copies counted with bandwidth; they add up to the total.
struct PricedCost {
  Seconds latency{}, bandwidth{}, reduction{}, setup{};
  [[nodiscard]] Seconds total() const { return latency + bandwidth + reduction + setup; }
};

/// T = sum over paths of (messages·α + wire·β) + copied·h + reduced·γ + S, and 0 without any message (p = 1).
/// On the paths that leave machines, of rings and far, β is max(β·busiest_nic, min(β, β inside)): NICs share what leaves
/// a machine, or not all of it leaves one, which is no faster for that than inside.
inline PricedCost price(const CostTerms& terms, const Prices& prices) {
  PricedCost cost;
  if (terms.empty()) return cost;
  const SecondsPerByte inner = prices.path[static_cast<int>(Path::inner)].beta;
  for (int i = 0; i < kPaths; ++i) {
    const auto& [alpha, beta] = prices.path[i];
    const bool leaves = i == static_cast<int>(Path::ring) || i == static_cast<int>(Path::far);
    cost.latency += alpha * terms.messages[i];
    cost.bandwidth += terms.wire[i] * (leaves ? std::max(beta * terms.busiest_nic, std::min(beta, inner)) : beta);
  }
  cost.bandwidth += terms.copied * prices.host;
  cost.reduction = terms.reduced * prices.gamma;
  cost.setup = prices.setup;
  return cost;
}

}  // namespace stepcast
