// The table of collective algorithms. Each one appears as rounds of messages and as a closed form.
//
// n is the whole buffer: the vector of an all-reduce, reduce-scatter or broadcast, or the gathered result of an
// all-gather (m = n/p from each participant). For an all-to-all it is a participant's initial data.
#pragma once

#include <compare>
#include <functional>
#include <span>
#include <tuple>

#include "models/collective/communicators.hpp"
#include "models/collective/cost_counts.hpp"
#include "models/collective/schedule.hpp"
#include "models/part/collective_algorithm.hpp"

namespace stepcast {

/// Algorithm parameters with every "auto" decided.
struct CollectiveParameters {
  int group_size = 1;      ///< participants per group; hierarchical: a divisor of p
  int segments = 1;        ///< segments of each tree's part: double-binary-tree (also between groups), nccl-tree
  bool group_fits = true;  ///< hierarchical, nccl-tree: each group lies within one machine or rack
  int rings = 1;           ///< multi-ring: number of rings; nccl-tree: pairs of trees; at most group_size
  int nics = 1;            ///< multi-ring, nccl-tree: NICs of a machine
  NicOfGpu nic_of_gpu = NicOfGpu::in_turn;                   ///< multi-ring, nccl-tree
  Algorithm between_groups = Algorithm::ring;                ///< hierarchical: an algorithm from algorithms_between
  ExchangeOrder exchange_order = ExchangeOrder::near_first;  ///< halving-doubling, also between groups

  auto operator<=>(const CollectiveParameters&) const = default;
};

struct CollectiveAlgorithm {
  Operation operation;
  Algorithm algorithm;
  const char* formula;  ///< the closed form, for `stepcast show`
  const char* source;
  Schedule (*schedule)(int p, const CollectiveParameters&);
  CostTerms (*cost)(Bytes n, int p, const CollectiveParameters&);
};

/// All pairs of an operation and an algorithm that implements it.
std::span<const CollectiveAlgorithm> collective_algorithms();

/// Whether the table has an entry for the pair ("auto" has none).
bool carries_out(Algorithm algorithm, Operation operation);

/// @throws std::invalid_argument when no entry matches ("auto" is never an entry)
const CollectiveAlgorithm& find_algorithm(Operation operation, Algorithm algorithm);

/// Limit on the blocks of a schedule, since block numbers are ints. There are c·p blocks for c rings, and 2s·g for
/// groups of g ranks with trees of s segments between them.
inline constexpr int kMostBlocks = 1 << 30;

/// Limit on the workers in a group of nccl-tree: the chain has a round for each of them.
inline constexpr int kMostChained = 1024;

/// The choices for `between_groups`. At equal price, the earlier one wins. Empty for an operation without a
/// hierarchical algorithm.
std::span<const Algorithm> algorithms_between(Operation operation);

/// The choice where it fits the operation. The other settings become "auto".
CollectiveChoice fitted(CollectiveChoice choice, Operation operation);

/// One collective of `bytes` among p participants, with all parameters decided. With communicators, each of them runs
/// it at the same time.
struct CollectiveCall {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveParameters parameters;
  Bytes bytes{};     ///< buffer of one communicator
  Seconds recode{};  ///< above 0: codec time of each reducing round of an in-collective compressor; it replaces γ
  Communicators among{};
  Placement placement = Placement::machines;
  int protocol = 0;  ///< index among the cluster's protocols; 0 if it has none
};

/// The messages of a call, apart from block size and protocol. On one cluster, calls with the same key differ only in
/// their block size, their protocol and the time of recoding.
using CallKey = std::tuple<const CollectiveAlgorithm*, CollectiveParameters, Communicators>;
inline CallKey key_of(const CollectiveCall& call) { return {call.algorithm, call.parameters, call.among}; }

/// The rounds of a call among p ranks: the rounds of one communicator, in all of them at once.
/// A block stands for the same block of every communicator's buffer.
Schedule schedule_of(const CollectiveCall& call, int p);
/// The call's closed form. All communicators start together, each with its own links. They share only the links out of
/// machines; the path prices include this.
CostTerms cost_of(const CollectiveCall& call, int p);

/// An upper bound on the messages in all distinct rounds (see unlike_rounds).
double unlike_messages(const CollectiveCall& call, int p);

/// The times of calls when they are not the closed forms.
struct CallTimes {
  struct Bounds {
    Seconds low{}, high{};
    [[nodiscard]] Seconds middle() const { return (low + high) / 2.0; }
  };
  /// Fast bounds. For a call that takes longer than `limit`, any lower bound above `limit` is enough.
  std::function<Bounds(const CollectiveCall&, Seconds limit)> bounds;
  std::function<Seconds(const CollectiveCall&)> time;  ///< the exact time, which may take long to compute
};

/// Decides "auto": the fastest algorithm for a communicator of p ranks, and its parameters. The closed forms give the
/// times, or `times` if present. `times` also allows other group sizes from the topology, fewer rings than NICs, and
/// numbers of segments about 2^(1/4) apart.
/// @param n        bytes of one communicator's buffer
/// @param times    null: use the closed forms
/// @param library  algorithms that "auto" may choose; all algorithms if it has none for the operation
/// @throws std::invalid_argument when the choice does not implement the operation, or the group size does not
///         divide the members. Also when a group has fewer participants than rings, a chain has more than
///         kMostChained participants, or a schedule would have more than kMostBlocks blocks
CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes n, int p, const Prices& prices,
                      const Machines& machines, const Communicators& among = {}, const CallTimes* times = nullptr,
                      std::span<const Algorithm> library = {});

/// The algorithms here that NCCL has.
inline constexpr Algorithm kAlgorithmsOfNccl[] = {Algorithm::ring, Algorithm::multi_ring, Algorithm::nccl_tree};

/// Whether "auto" may choose the algorithm for the operation.
bool may_choose(std::span<const Algorithm> library, Algorithm algorithm, Operation operation);

/// The lower bounds of Chan et al. 2007 for an all-reduce of n bytes, each term separately:
/// ceil(lg p) messages, 2(p-1)/p·n bytes, (p-1)/p·n reduced. Other operations have similar bounds.
/// @param in_network  whether switches may add up: then an all-reduce needs 1 message, n bytes, and nothing reduced
CostTerms lower_bound(Operation operation, Bytes n, int p, bool in_network = false);

// The algorithms, one file each.
namespace ring {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
Schedule reduce_scatter(int p, const CollectiveParameters&);
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters&);
Schedule all_gather(int p, const CollectiveParameters&);
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace ring
namespace multi_ring {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
Schedule reduce_scatter(int p, const CollectiveParameters&);
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters&);
Schedule all_gather(int p, const CollectiveParameters&);
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace multi_ring
namespace recursive_doubling {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
Schedule all_gather(int p, const CollectiveParameters&);
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&);
Schedule reduce_scatter(int p, const CollectiveParameters&);
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace recursive_doubling
namespace halving_doubling {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace halving_doubling
namespace binary_tree {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace binary_tree
namespace double_binary_tree {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace double_binary_tree
namespace nccl_tree {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace nccl_tree
namespace in_network {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace in_network
namespace binomial_tree {
Schedule broadcast(int p, const CollectiveParameters&);
CostTerms broadcast_cost(Bytes n, int p, const CollectiveParameters&);
Schedule reduce_broadcast(int p, const CollectiveParameters&);
CostTerms reduce_broadcast_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace binomial_tree
namespace hierarchical {
Schedule all_reduce(int p, const CollectiveParameters&);
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&);
Schedule reduce_scatter(int p, const CollectiveParameters&);
CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters&);
Schedule all_gather(int p, const CollectiveParameters&);
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace hierarchical
namespace bruck {
Schedule all_gather(int p, const CollectiveParameters&);
CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace bruck
namespace pairwise {
Schedule all_to_all(int p, const CollectiveParameters&);
CostTerms all_to_all_cost(Bytes n, int p, const CollectiveParameters&);
}  // namespace pairwise

}  // namespace stepcast
