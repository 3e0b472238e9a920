// The complete binary tree in heap order: node v has children 2v+1 and 2v+2, depth(v) = floor(lg(v+1)). The deepest
// level has a single node if and only if the number of nodes is a power of two.
#pragma once

#include "models/collective/schedule.hpp"

namespace stepcast {

/// Depth of the deepest node of a heap of p nodes.
constexpr int heap_depth(int p) { return floor_log2(p); }

/// Whether the deepest level has a single node. Its parent then has one child; others on that level have two.
constexpr bool lone_deepest(int p) { return p > 1 && (p & (p - 1)) == 0; }

/// Calls f(child, parent) for every edge between depth d-1 and depth d of a heap of p nodes.
template <class F>
void for_each_edge_at(int p, int d, F&& f) {
  for (int v = (1 << d) - 1; v < p && v < (2 << d) - 1; ++v) f(v, (v - 1) / 2);
}

}  // namespace stepcast
