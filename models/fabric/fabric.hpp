// The links of a cluster and the routes over them, as plain values: what the equations price rounds by, and what
// folding needs of a platform before any SimGrid object exists. SimGrid builds a fat tree of 65,536 hosts in 40 s; a
// route here costs a few nanoseconds.
//
// Hosts are numbered by rank, workers before dedicated parameter-server shards. A cable is two links, one for
// each direction. The routes are those of the platform that build_platform makes (tests/sim/fabric_test.cpp asks
// SimGrid for each of them), without the links that are never contended.
#pragma once

#include <functional>
#include <vector>

#include "models/scenario/cluster.hpp"

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

  [[nodiscard]] const std::vector<OneWay>& links() const { return links_; }

  /// Hosts of one branch with equal cables can change places without changing any route to or from the hosts of
  /// other branches, or of their own; each has its own cable, first or last in its routes.
  [[nodiscard]] int branch(int host) const { return branch_ ? branch_(host) : host; }

  /// Appends the links from one host to another one.
  void append_route(int from, int to, Route& route) const { append_(from, to, route); }

 private:
  struct Maker;
  std::vector<OneWay> links_;
  std::function<void(int, int, Route&)> append_;
  std::function<int(int)> branch_;  ///< empty: every host is its own
};

}  // namespace stepcast
