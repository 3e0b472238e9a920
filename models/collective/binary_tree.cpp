// Reduce up one binary tree and broadcast down it, one level per round. The two children of a node share its link.
#include "models/collective/collective.hpp"
#include "models/collective/heap_tree.hpp"

namespace stepcast::binary_tree {

Schedule all_reduce(int p, const CollectiveParameters&) {
  const int depth = heap_depth(p);
  return {p, 1, 2 * depth, [p, depth](int r) {
            Round round;
            if (r < depth)
              for_each_edge_at(p, depth - r, [&](int child, int parent) {
                round.push_back({child, parent, {0, 1}, true});
              });
            else
              for_each_edge_at(p, r - depth + 1, [&](int child, int parent) {
                round.push_back({parent, child, {0, 1}, false});
              });
            return round;
          }};
}

/// Each of the D = floor(lg p) levels, up and down, carries two messages over a parent's link. A deepest level with a
/// single node (lone) carries one: 2(Dα + (2D - lone)nβ) + (2D - lone)nγ.
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&) {
  const int depth = heap_depth(p);
  const int loads = 2 * depth - (lone_deepest(p) ? 1 : 0);
  CostTerms terms;
  terms.add(Path::far, 2 * depth, n * (2 * loads));
  terms.reduced = n * loads;
  terms.sent = 2.0 * n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::binary_tree
