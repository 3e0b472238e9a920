// The coarsest equitable partition of a graph, by colour refinement.
//
// A partition is equitable if any two nodes of one class have, for each label, equally many arcs to each other class.
// Max-min fair rates are constant on the classes of the coarsest equitable partition of flows and links. So one flow
// per class is enough (flow_system.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace stepcast {

/// An undirected graph with coloured nodes. Each edge has a label at each end. Parallel edges count as often as they
/// appear.
class LabelledGraph {
 public:
  struct Edge {
    std::uint32_t a, b;
    std::uint32_t seen_from_a, seen_from_b;
  };

  std::size_t add_node(int colour) {
    colours_.push_back(colour);
    return colours_.size() - 1;
  }
  void add_edge(std::size_t a, std::size_t b, std::uint32_t seen_from_a, std::uint32_t seen_from_b) {
    edges_.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), seen_from_a, seen_from_b});
  }

  [[nodiscard]] std::size_t nodes() const { return colours_.size(); }
  [[nodiscard]] const std::vector<int>& colours() const { return colours_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

 private:
  std::vector<int> colours_;
  std::vector<Edge> edges_;
};

struct Partition {
  std::vector<int> class_of;       ///< by node, classes numbered from 0 in order of their first node
  std::vector<int> size;           ///< by class: number of nodes
  std::vector<std::size_t> first;  ///< by class: its first node, which represents it
};

/// The coarsest equitable partition that never joins two colours. When a
/// class splits, the largest part keeps its name, so every node is renamed
/// at most lg n times: O(m log n) for m edges and n nodes. Memory: 16 bytes
/// for each edge beside the graph's own 16, and about 50 for each node.
Partition refine(const LabelledGraph& graph);

}  // namespace stepcast
