// The links of a cluster and the routes over them, as plain values. The equations price rounds by them, and folding
// uses them before any SimGrid object exists. SimGrid builds a fat tree of 65,536 hosts in 40 s; a route here costs a
// few nanoseconds.
//
// Hosts are numbered by rank, with workers before dedicated parameter-server shards. A cable is two links, one in each
// direction. The routes are those of the platform from build_platform, without links that are never contended.
// tests/sim/fabric_test.cpp compares each of them with SimGrid's.
//
// A dragonfly with 16,384 routers in a chassis has 268 million links, but 16 workers use only a few dozen. So links of
// fat trees, tori and dragonflies get their numbers when a route first uses them. Unused links cost nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/part/cluster.hpp"
#include "models/part/connections.hpp"

namespace stepcast {

class Fabric {
 public:
  struct OneWay {
    BytesPerSecond bandwidth{};
    Seconds latency{};
  };
  using Route = std::vector<int>;  ///< link numbers, in order

  /// @pre the topology is not a SimGrid file
  Fabric(const Cluster& cluster, int dedicated_shards);

  /// All links. For a fat tree, torus or dragonfly: the links of the routes appended so far.
  [[nodiscard]] const std::vector<OneWay>& links() const { return links_; }

  /// Hosts in one branch with equal cables can be exchanged. No route changes, neither to other branches nor inside
  /// their own. Each host has its own cable, which is the first or last link of its routes.
  [[nodiscard]] int branch(int host) const { return branch_ ? branch_(host) : host; }

  /// Appends the links from one host to another. Numbers those that no route had used.
  void append_route(int from, int to, Route& route) {
    const std::size_t before = route.size();
    append_(from, to, route);
    if (link_at_) number(route, before);
  }

  /// The most bandwidth that a message from one host to another can have, whatever its links have; infinity without
  /// limit.
  [[nodiscard]] BytesPerSecond limit(int from, int to) const { return limits_.of(from, to); }
  /// Whether any message has such a limit.
  [[nodiscard]] bool limits_messages() const { return limits_.any(); }

  /// The latency of a route, or of a part of one.
  [[nodiscard]] Seconds latency(std::span<const int> hops) const {
    Seconds sum{};
    for (const int hop : hops) sum += links_[hop].latency;
    return sum;
  }

 private:
  struct Maker;
  void number(Route& route, std::size_t from);

  MessageLimits limits_;
  std::vector<OneWay> links_;
  /// Appends positions in the topology if link_at_ describes them, else link numbers.
  std::function<void(int, int, Route&)> append_;
  std::function<OneWay(int)> link_at_;
  static constexpr int kUnnumbered = -1;
  std::vector<int> number_at_;           ///< by position, if a list of all positions is small; otherwise empty
  std::unordered_map<int, int> number_;  ///< by position, otherwise
  std::function<int(int)> branch_;       ///< empty: every host is a separate branch
};

}  // namespace stepcast
