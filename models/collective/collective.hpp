// The table of collective algorithms: each one once as rounds of messages and once as a closed form.
//
// n is the whole buffer: of an all-reduce, reduce-scatter or broadcast the vector, of an all-gather the
// gathered result (m = n/p from each participant), of an all-to-all what each participant starts with.
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
  int segments = 1;        ///< of each tree's part: double-binary-tree, between groups too, nccl-tree
  bool group_fits = true;  ///< hierarchical, nccl-tree: each group lies within one machine or rack
  int rings = 1;           ///< multi-ring: how many, nccl-tree: pairs of trees; at most group_size
  int nics = 1;            ///< multi-ring, nccl-tree: of a machine
  NicOfGpu nic_of_gpu = NicOfGpu::in_turn;     ///< multi-ring, nccl-tree
  Algorithm between_groups = Algorithm::ring;  ///< hierarchical: one that algorithms_between lists
  ExchangeOrder exchange_order = ExchangeOrder::near_first;  ///< halving-doubling, between groups too

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

/// Every operation with every algorithm that carries it out.
std::span<const CollectiveAlgorithm> collective_algorithms();

/// Whether there is an entry for them ("auto" is never one).
bool carries_out(Algorithm algorithm, Operation operation);

/// @throws std::invalid_argument when no entry matches ("auto" is never an entry)
const CollectiveAlgorithm& find_algorithm(Operation operation, Algorithm algorithm);

/// Blocks of a schedule, whose numbers are ints: c·p of c rings, 2s·g of groups of g with trees of s segments between
/// them.
inline constexpr int kMostBlocks = 1 << 30;

/// Workers of a group of nccl-tree, whose chain has a round for each.
inline constexpr int kMostChained = 1024;

/// What `between_groups` can be, in order of preference where prices are equal; none of an operation that is never
/// hierarchical.
std::span<const Algorithm> algorithms_between(Operation operation);

/// The choice as far as it carries out the operation; what does not is left to us.
CollectiveChoice fitted(CollectiveChoice choice, Operation operation);

/// One collective of `bytes` among p participants, or in each communicator of theirs at once, decided down to its
/// parameters.
struct CollectiveCall {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveParameters parameters;
  Bytes bytes{};     ///< of one communicator's buffer
  Seconds recode{};  ///< if above 0: codec time of each reducing round of an in-collective compressor, which replaces γ
  Communicators among{};
  Placement placement = Placement::machines;
  int protocol = 0;  ///< number among the cluster's; 0 where it has none
};

/// The messages of a call but for their bytes and what carries them: calls of one key, on one cluster, differ in nothing
/// but how large their blocks are, their protocol and what recoding takes.
using CallKey = std::tuple<const CollectiveAlgorithm*, CollectiveParameters, Communicators>;
inline CallKey key_of(const CollectiveCall& call) { return {call.algorithm, call.parameters, call.among}; }

/// The rounds of a call among p ranks: those of one communicator, carried out in all of them. A block is one of each
/// buffer's.
Schedule schedule_of(const CollectiveCall& call, int p);
/// Its closed form. All communicators start together and each has links of its own, but those out of machines, which
/// the paths' prices share out.
CostTerms cost_of(const CollectiveCall& call, int p);

/// Messages in all of its rounds that are unlike, at most.
double unlike_messages(const CollectiveCall& call, int p);

/// What a call takes, where that is not its closed form.
struct CallTimes {
  struct Bounds {
    Seconds low{}, high{};
    [[nodiscard]] Seconds middle() const { return (low + high) / 2.0; }
  };
  /// At once. A call that takes more than `limit` needs no more than a lower bound above it.
  std::function<Bounds(const CollectiveCall&, Seconds limit)> bounds;
  std::function<Seconds(const CollectiveCall&)> time;  ///< exactly, which may take long
};

/// Decides "auto": the algorithm of the lowest time among all that fit a communicator of p ranks, and its parameters: by
/// the closed forms, or the times where they are given, of group sizes that the topology suggests, numbers of rings up
/// to that of NICs, and numbers of segments about 2^(1/4) apart.
/// @param n        bytes of one communicator's buffer
/// @param times    null: the closed forms
/// @param library  algorithms that "auto" chooses among; all where it has none of the operation's
/// @throws std::invalid_argument when the choice does not carry out the operation, the group size does not divide its
/// members, a group has
///         fewer participants than there are rings or more than kMostChained of a chain, or a schedule would have more
///         than kMostBlocks
CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes n, int p, const Prices& prices,
                      const Machines& machines, const Communicators& among = {}, const CallTimes* times = nullptr,
                      std::span<const Algorithm> library = {});

/// NCCL's own, of those here.
inline constexpr Algorithm kAlgorithmsOfNccl[] = {Algorithm::ring, Algorithm::multi_ring, Algorithm::nccl_tree};

/// Whether "auto" may choose the algorithm for the operation.
bool may_choose(std::span<const Algorithm> library, Algorithm algorithm, Operation operation);

/// The lower bounds of Chan et al. 2007 on an all-reduce of n bytes, each term on its own:
/// ceil(lg p) messages, 2(p-1)/p·n bytes, (p-1)/p·n reduced. Other operations likewise.
CostTerms lower_bound(Operation operation, Bytes n, int p);

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
