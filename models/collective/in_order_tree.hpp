// The in-order binary tree: every subtree is a range of ranks (Sanders, Speck and Träff 2009, section 3).
//
// With ranks counted from 1, the height of rank i is its number of trailing zero bits. Odd ranks are leaves; even ranks
// have children. The root of m ranks is rank 2^floor(lg m), so the depth is floor(lg m). If m is even, only the last
// rank has a single child. If m is a power of two, that rank is the root.
#pragma once

#include "models/collective/schedule.hpp"

namespace stepcast {

/// The depth of the deepest of p ranks.
constexpr int in_order_depth(int p) { return floor_log2(p); }

/// Whether the root has a single child. Then other parents have two.
constexpr bool lone_child_of_root(int p) { return p > 1 && (p & (p - 1)) == 0; }

/// Calls f(child, parent) for every edge between depth d-1 and depth d, d >= 1. The tree has `count` ranks, starting at
/// `first`.
template <class F>
void for_each_edge_in_order(int first, int count, int d, F&& f) {
  if (count < 1) return;
  const int below = (1 << floor_log2(count)) - 1, root = first + below;  // as many ranks are left of the root
  const auto descend = [&](int from, int ranks) {
    if (ranks < 1) return;
    if (d == 1) f(from + (1 << floor_log2(ranks)) - 1, root);
    else for_each_edge_in_order(from, ranks, d - 1, f);
  };
  descend(first, below);
  descend(root + 1, count - below - 1);
}

}  // namespace stepcast
