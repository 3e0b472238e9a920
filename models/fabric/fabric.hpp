// The links of a cluster and the routes over them, as plain values: what the equations price rounds by, and what
// folding needs of a platform before any SimGrid object exists. SimGrid builds a fat tree of 65,536 hosts in 40 s; a
// route here costs a few nanoseconds.
//
// Hosts are numbered by rank, workers before dedicated parameter-server shards. A cable is two links, one for
// each direction. The routes are those of the platform that build_platform makes (tests/sim/fabric_test.cpp asks
// SimGrid for each of them), without the links that are never contended.
//
// A dragonfly of 16,384 routers in a chassis has 268 million links of which 16 workers use a few dozen. So the links of
// fat trees, tori and dragonflies are numbered as routes first take them, and cost nothing before.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/part/cluster.hpp"

namespace stepcast {

class Fabric {
 public:
  struct OneWay {
    BytesPerSecond bandwidth{};
    Seconds latency{};
  };
  using Route = std::vector<int>;  ///< numbers of links, in order

  /// @pre the topology is none of SimGrid's own files
  Fabric(const Cluster& cluster, int dedicated_shards);

  /// All of them; in a fat tree, torus or dragonfly those of the routes appended so far.
  [[nodiscard]] const std::vector<OneWay>& links() const { return links_; }

  /// Hosts of one branch with equal cables can change places without changing any route to or from the hosts of
  /// other branches, or of their own; each has its own cable, first or last in its routes.
  [[nodiscard]] int branch(int host) const { return branch_ ? branch_(host) : host; }

  /// Appends the links from one host to another one. Not for several threads.
  void append_route(int from, int to, Route& route) const {
    const std::size_t before = route.size();
    append_(from, to, route);
    if (link_at_) number(route, before);
  }

  /// Of a route, or a part of one.
  [[nodiscard]] Seconds latency(std::span<const int> hops) const {
    Seconds sum{};
    for (const int hop : hops) sum += links_[static_cast<std::size_t>(hop)].latency;
    return sum;
  }

 private:
  struct Maker;
  void number(Route& route, std::size_t from) const;

  mutable std::vector<OneWay> links_;
  /// By place in the topology where link_at_ tells what is there, by number elsewhere.
  std::function<void(int, int, Route&)> append_;
  std::function<OneWay(int)> link_at_;
  static constexpr int kUnnumbered = -1;
  mutable std::vector<int> number_at_;           ///< by place, where a list of all is small; otherwise empty
  mutable std::unordered_map<int, int> number_;  ///< by place, otherwise
  std::function<int(int)> branch_;               ///< empty: every host is its own
};

}  // namespace stepcast
