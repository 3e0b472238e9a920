// Pipelined double binary tree (Sanders, Speck and Träff 2009; NCCL's tree algorithm).
//
// Two in-order trees span the same ranks (in_order_tree.hpp). For even p, the second tree is mirrored, with rank p-1-v
// at node v. For odd p, it is shifted by one, with rank v+1 at node v. Both change the parity of the ranks with
// children, so no rank has children in both trees. A subtree is a range of ranks, so most edges stay inside a machine
// or rack.
//
// Each tree takes half of the buffer, in s segments. In round t of the reduction, the edges into depth d-1 pass segment
// t - (D - d). The deepest level starts, and segments follow each other up. The broadcast runs down in the same way. A
// rank receives from two children in one tree, and sends once in each tree. Each direction of its link carries two
// segments in each round.
#include <algorithm>
#include <cstdint>

#include "models/collective/collective.hpp"
#include "models/collective/in_order_tree.hpp"

namespace stepcast::double_binary_tree {
namespace {

/// The rank at a node of the second tree.
int in_second(int p, int node) { return p % 2 == 0 ? p - 1 - node : (node + 1) % p; }

/// The levels that pass a segment in a round; level d has the edges between depths d - 1 and d.
struct Busy {
  bool up;          ///< in the reduction
  int first, last;  ///< levels
  int of_first;     ///< the segment of level 1

  [[nodiscard]] int segment(int d) const { return up ? of_first + d - 1 : of_first - d + 1; }
};
Busy busy_in(int r, int depth, int segments) {
  const int phase = depth + segments - 1;
  if (r < phase) return {true, std::max(1, depth - r), std::min(depth, depth - r + segments - 1), r - depth + 1};
  const int t = r - phase;
  return {false, std::max(1, t + 2 - segments), std::min(depth, t + 1), t};
}

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const int depth = in_order_depth(p), s = parameters.segments;
  if (p == 1) return {1, 2, 0, [](int) { return Round{}; }};
  const int phase = depth + s - 1;
  return {.participants = p,
          .blocks = 2 * s,
          .rounds = 2 * phase,
          .round =
              [=](int r) {
                Round round;
                const Busy busy = busy_in(r, depth, s);
                for (int d = busy.first; d <= busy.last; ++d)
                  for_each_edge_in_order(0, p, d, [&](int child, int parent) {
                    const auto pass = [&](int lower, int upper, int block) {
                      if (busy.up) round.push_back({lower, upper, {block, 1}, true});
                      else round.push_back({upper, lower, {block, 1}, false});
                    };
                    pass(child, parent, busy.segment(d));
                    pass(in_second(p, child), in_second(p, parent), s + busy.segment(d));
                  });
                return round;
              },
          // While the pipeline is full, every level passes one segment.
          .like =
              [=](int r) {
                const int start = r < phase ? 0 : phase;
                return start + (r - start >= depth && r - start < s ? depth - 1 : r - start);
              },
          .stages =
              [=](int r) {
                const Busy busy = busy_in(r, depth, s);
                return (std::int64_t{busy.first} * (depth + 1) + busy.last) * 2 + (busy.up ? 1 : 0);
              }};
}

/// With σ = n/2s, each direction has D + s - 1 rounds of two segments on the busiest link (siblings share their
/// parent's). At each depth some rank has two children, except at the root if p is a power of two. A round with only
/// that root edge (lone) has one segment: the last up and the first down, and every round for p = 2.
///   2(D+s-1)α + 2(2(D+s-1) - lone)σβ + (2(D+s-1) - lone)σγ
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  CostTerms terms;
  if (p == 1) return terms;
  const int depth = in_order_depth(p), s = parameters.segments;
  const int rounds = depth + s - 1;
  const int lone = !lone_child_of_root(p) ? 0 : p == 2 ? rounds : 1;
  const Bytes loads = n / (2.0 * s) * (2 * rounds - lone);
  terms.add(Path::far, 2 * rounds, 2.0 * loads);
  terms.reduced = loads;
  terms.sent = 2.0 * n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::double_binary_tree
