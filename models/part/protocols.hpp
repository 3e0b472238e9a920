// The protocols for a collective's messages.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"

namespace stepcast {

/// The cluster's protocols that collectives choose from.
/// Without any, one neutral protocol leaves the links unchanged.
inline std::vector<Protocol> protocols_of(const Cluster& cluster) {
  return cluster.protocols.empty() ? std::vector<Protocol>(1) : cluster.protocols;
}

}  // namespace stepcast
