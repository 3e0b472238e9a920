// The binary tree of consecutive ranks in which a subtree is a range of ranks (Sanders, Speck and Träff 2009, section 3).
//
// Counted from 1, rank i is at the height of its trailing zeros: odd ranks are leaves, even ones have children. The root
// of m ranks is the 2^floor(lg m)-th, so the depth is floor(lg m). Only the last rank, where m is even, has one child;
// where m is a power of two that is the root.
#pragma once

#include "models/collective/schedule.hpp"

namespace stepcast {

/// Depth of the deepest rank of p.
constexpr int in_order_depth(int p) { return floor_log2(p); }

/// Whether a single edge is at the root, where other parents at each depth have two.
constexpr bool lone_child_of_root(int p) { return p > 1 && (p & (p - 1)) == 0; }

/// Calls f(child, parent) for every edge between depth d-1 and depth d, d >= 1, of the tree of `count` ranks from
/// `first` on.
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
