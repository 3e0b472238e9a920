// What a collective's messages may go by.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"

namespace stepcast {

/// The protocols that collectives choose from: the cluster's, or where it has none, one that leaves the links as they
/// are.
inline std::vector<Protocol> protocols_of(const Cluster& cluster) {
  return cluster.protocols.empty() ? std::vector<Protocol>(1) : cluster.protocols;
}

}  // namespace stepcast
