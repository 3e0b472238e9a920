// SimGrid platforms of a scenario's cluster. Only .cpp files in sim/ include SimGrid.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/part/cluster.hpp"
#include "sim/platform/compat.hpp"
#include "sim/platform/settings.hpp"

namespace stepcast {

/// SimGrid counts whole bytes, but a chunk n/p is rarely whole. This factor multiplies sizes and bandwidths, so
/// rounding a payload errs by less than a millionth of a byte. A message may have 2^43 bytes.
inline constexpr double kUnitsPerByte = 1048576.0;
inline constexpr double kMostMessageBytes = 8796093022208.0;

/// Links that never slow a flow: the prefix of their names, and their bandwidth.
inline constexpr const char* kFreeLink = "free-";
inline constexpr double kFreeRate = kFreeBandwidth * kUnitsPerByte;
/// The prefix of links that limit each message by itself.
inline constexpr const char* kConnections = "connections-";

/// Limit on the links that SimGrid creates, used or not.
inline constexpr long kMostSimulatedLinks = 1L << 22;

/// Work units per second of a worker with speed 1. The value is large, so SimGrid's absolute precision on work amounts
/// (1e-5) is far below a nanosecond.
inline constexpr double kWorkPerSecond = 1e12;

/// The hosts of a cluster, and the original latencies of its links.
///
/// SimGrid shares a link inversely proportional to its flows' route latencies, like TCP. The ideal transport shares
/// equally, so its links have no latency. Instead, the sender waits delay(from, to) before a message's flow starts; the
/// total latency is still α. With TCP, the links keep their latency and delay is 0.
class Platform {
 public:
  std::vector<simgrid::s4u::Host*> workers;  ///< by rank
  std::vector<simgrid::s4u::Host*> shards;   ///< dedicated parameter-server hosts
  /// Work units per second of a worker with speed 1: kWorkPerSecond, or worker 0's speed in a platform file.
  double work_per_second = kWorkPerSecond;

  [[nodiscard]] double delay(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

  /// Stores the latencies of all links and removes them from the links. @pre the platform is built
  void take_latencies(simgrid::s4u::Engine& engine);

 private:
  std::unordered_map<const simgrid::s4u::Link*, double> latency_;
  mutable std::unordered_map<std::uint64_t, double> delay_;  ///< by pair of host ids, filled on demand
  std::unordered_map<const simgrid::s4u::Host*, std::uint64_t> id_;
};

/// Applies transport_settings to the process's Engine. @pre an Engine exists
void configure_network(const Transport& transport);

/// Builds hosts and links. A link has half of the end-to-end latency in the scenario.
/// @throws ModelError when a SimGrid XML platform has too few hosts or cannot be loaded
Platform build_platform(simgrid::s4u::Engine& engine, const Cluster& cluster, int dedicated_shards);

}  // namespace stepcast
