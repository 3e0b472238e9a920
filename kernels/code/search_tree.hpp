// Binary search in a tree: node i has the children 2i and 2i + 1; node 0 is not used. The 2^levels - 1 edges are in
// order from left to right. A level's nodes lie side by side, and a warp's lanes are all on one level. They therefore
// rarely meet in a bank of shared memory. In a sorted array, the upper levels' edges share one bank.
#pragma once

#include <cstdint>

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

/// The rank of node `node`'s edge in ascending order.
STEPCAST_SHARED int edge_of_node(int node, int levels) {
  int depth = 0;
  while ((node >> depth) > 1) ++depth;
  return ((2 * (node - (1 << depth)) + 1) << (levels - 1 - depth)) - 1;
}

/// The number of edges for which below(edge) holds.
template <class Edge, class Below>
STEPCAST_SHARED int count_below(const Edge* tree, int levels, const Below& below) {
  int node = 1;
  for (int level = 0; level < levels; ++level) node = 2 * node + (below(tree[node]) ? 1 : 0);
  return node - (1 << levels);
}

}  // namespace stepcast::kernels
