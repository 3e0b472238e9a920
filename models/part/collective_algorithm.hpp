// Names of collectives: operations, algorithms and their parameters. models/collective/ has their rounds and costs.
#pragma once

#include "models/describe/describe.hpp"

namespace stepcast {

enum class Algorithm : std::uint8_t {
  automatic,
  ring,
  multi_ring,
  recursive_doubling,
  halving_doubling,
  binary_tree,
  double_binary_tree,
  nccl_tree,
  reduce_broadcast,
  hierarchical,
  in_network,
  bruck,
  pairwise,
  binomial_tree,
};

template <>
struct Choices<Algorithm> {
  static constexpr std::array table = {
      Choice<Algorithm>{"auto", Algorithm::automatic, "the cheapest one by the equations"},
      Choice<Algorithm>{"ring", Algorithm::ring, "p-1 neighbour messages of n/p each way: bandwidth-optimal"},
      Choice<Algorithm>{"multi-ring", Algorithm::multi_ring,
                        "several rings, a part of the buffer on each, one through each NIC of a machine"},
      Choice<Algorithm>{
          "recursive-doubling", Algorithm::recursive_doubling,
          "lg p exchanges with partners at doubling distance (reduce-scatter: at halving distance): latency-optimal"},
      Choice<Algorithm>{"halving-doubling", Algorithm::halving_doubling,
                        "Rabenseifner: recursive halving reduce-scatter, then doubling all-gather"},
      Choice<Algorithm>{"binary-tree", Algorithm::binary_tree, "reduce up and broadcast down one binary tree"},
      Choice<Algorithm>{"double-binary-tree", Algorithm::double_binary_tree,
                        "two complementary trees, pipelined, half the data each"},
      Choice<Algorithm>{"nccl-tree", Algorithm::nccl_tree,
                        "NCCL's Tree: a double binary tree of machines with chains inside them, in one pipeline"},
      Choice<Algorithm>{"reduce-broadcast", Algorithm::reduce_broadcast, "binomial reduce, then binomial broadcast"},
      Choice<Algorithm>{
          "hierarchical", Algorithm::hierarchical,
          "inside groups and between them: reduce-scatter inside each group, all-reduce between groups, all-gather "
          "inside, or the steps of these that the collective needs"},
      Choice<Algorithm>{"in-network", Algorithm::in_network,
                        "the switches add up: each worker sends its n bytes and receives the sum (SHARP, SwitchML)"},
      Choice<Algorithm>{"bruck", Algorithm::bruck, "all-gather in ceil(lg p) rounds for any p"},
      Choice<Algorithm>{"pairwise", Algorithm::pairwise, "all-to-all in p-1 rounds: in round r with the ranks r away"},
      Choice<Algorithm>{"binomial-tree", Algorithm::binomial_tree, "broadcast along a binomial tree"},
  };
};

enum class Operation { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all };

template <>
struct Choices<Operation> {
  static constexpr std::array table = {
      Choice<Operation>{"all-reduce", Operation::all_reduce, "every worker gets the sum of all workers' n bytes"},
      Choice<Operation>{"all-gather", Operation::all_gather, "every worker gets every worker's m bytes"},
      Choice<Operation>{"reduce-scatter", Operation::reduce_scatter, "every worker gets its n/p share of the sum"},
      Choice<Operation>{"broadcast", Operation::broadcast, "every worker gets worker 0's n bytes"},
      Choice<Operation>{"all-to-all", Operation::all_to_all, "every worker gets n/p of every worker's n bytes"},
  };
};

/// Order of the partners of halving-doubling. The first exchange sends half the buffer.
enum class ExchangeOrder : std::uint8_t { near_first, far_first };

template <>
struct Choices<ExchangeOrder> {
  static constexpr std::array table = {
      Choice<ExchangeOrder>{"near-first", ExchangeOrder::near_first,
                            "the largest messages go to the rank beside, the smallest to the farthest (MPICH's order)"},
      Choice<ExchangeOrder>{"far-first", ExchangeOrder::far_first,
                            "the largest messages go to the farthest rank, and each rank ends with its own block"},
  };
};

/// The algorithm of a collective, and its parameters.
struct CollectiveChoice {
  Algorithm algorithm = Algorithm::automatic;
  OrAuto<int> group_size;
  OrAuto<int> pipeline_segments;
  OrAuto<int> rings{};
  Algorithm between_groups = Algorithm::automatic;
  ExchangeOrder exchange_order = ExchangeOrder::near_first;

  template <class V>
  static void describe(V& v, CollectiveChoice& x) {
    v.optional("algorithm", x.algorithm, "how the collective is carried out");
    v.optional("group_size", x.group_size,
               "hierarchical, multi-ring, nccl-tree: workers per group; auto: the topology's machine or rack",
               at_least(1));
    v.optional("pipeline_segments", x.pipeline_segments,
               "double-binary-tree, alone or between groups, and nccl-tree: segments of each tree's part; auto: the "
               "cheapest number, for nccl-tree the cheapest power of two",
               between(1, 65536));
    v.optional("rings", x.rings,
               "multi-ring: how many, nccl-tree: pairs of trees, at most one for each worker of a group; auto: one for "
               "each NIC of a machine, and one inside a single one",
               between(1, 65536));
    v.optional("between", x.between_groups,
               "hierarchical: the algorithm between groups: ring or recursive-doubling, for an all-reduce also "
               "halving-doubling, double-binary-tree or in-network; auto: the cheapest by the equations");
    v.optional("exchange_order", x.exchange_order,
               "halving-doubling, alone or between groups: which partner each rank exchanges with first");
  }
  bool operator==(const CollectiveChoice&) const = default;
};

}  // namespace stepcast
