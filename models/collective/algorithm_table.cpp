// The rows of the table, and questions about them.
#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "models/collective/collective.hpp"

namespace stepcast {
namespace {

using enum Operation;

constexpr CollectiveAlgorithm kAlgorithms[] = {
    {all_reduce, Algorithm::ring, "2(p-1)ᾱ + 2(p-1)/p·nβ + (p-1)/p·nγ + S, ᾱ the mean over the ring's hops",
     "Patarasu and Yuan 2009", ring::all_reduce, ring::all_reduce_cost},
    {all_reduce, Algorithm::multi_ring,
     "2(p-1)ᾱ + 2(p-1)/p·nβ* + (p-1)/p·nγ + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::all_reduce, multi_ring::all_reduce_cost},
    {all_reduce, Algorithm::recursive_doubling, "lg q·(α + nβ + nγ) + S, q = 2^floor(lg p); p ≠ q: 2α + 2nβ + nγ more",
     "Thakur 2005", recursive_doubling::all_reduce, recursive_doubling::all_reduce_cost},
    {all_reduce, Algorithm::halving_doubling,
     "2 lg q·α + 2(q-1)/q·nβ + (q-1)/q·nγ + S, q = 2^floor(lg p); p ≠ q: 2α + 2nβ + nγ more", "Thakur 2005",
     halving_doubling::all_reduce, halving_doubling::all_reduce_cost},
    {all_reduce, Algorithm::binary_tree, "2Dα + 2Lnβ + Lnγ + S, D = floor(lg p), L = 2D - [p a power of two]",
     "textbook; derived in binary_tree.cpp", binary_tree::all_reduce, binary_tree::all_reduce_cost},
    {all_reduce, Algorithm::double_binary_tree,
     "2Rα + 2Lσβ + Lσγ + S, σ = n/2s, R = floor(lg p) + s - 1, L = 2R - [p a power of two], for p = 2 L = R",
     "Sanders et al. 2009; derived in double_binary_tree.cpp", double_binary_tree::all_reduce,
     double_binary_tree::all_reduce_cost},
    {all_reduce, Algorithm::nccl_tree,
     "2(g-1)α' + (2D + s - 1)α + Wβ' + max(Nβ, Mβ') + Rγ + S, D = floor(lg ceil(p/g)), p ≤ g: (2(g-1) + s - 1)α' + Wβ' + Rγ + S; "
     "over the busiest worker's link W in rounds inside machines alone and M in others, added by it R, over the busiest NIC N, of a "
     "long pipeline 2n/k of k NICs, of two machines n/k: counted in nccl_tree.cpp",
     "Jeaugey 2019 (NCCL 2.4); counted in nccl_tree.cpp", nccl_tree::all_reduce, nccl_tree::all_reduce_cost},
    {all_reduce, Algorithm::reduce_broadcast, "2ceil(lg p)(α + nβ) + ceil(lg p)·nγ + S", "textbook",
     binomial_tree::reduce_broadcast, binomial_tree::reduce_broadcast_cost},
    {all_reduce, Algorithm::hierarchical,
     "2(g-1)(α' + n/g·β') + (g-1)/g·nγ + T(n/g) of the all-reduce between p/g groups, for ring 2(p/g-1)(α + n/p·β + n/2p·γ), + S",
     "derived in hierarchical.cpp; Thakur 2005 and Sanders et al. 2009 between groups", hierarchical::all_reduce,
     hierarchical::all_reduce_cost},
    {all_reduce, Algorithm::in_network,
     "α + nβ/f + S, α the way to the root of the switches and back, f in_network_factor",
     "Sapio et al. 2021 (SwitchML), Graham et al. 2016 (SHARP); derived in in_network.cpp", in_network::all_reduce,
     in_network::all_reduce_cost},
    {all_gather, Algorithm::ring, "(p-1)ᾱ + (p-1)/p·nβ + S, ᾱ the mean over the ring's hops", "Thakur 2005",
     ring::all_gather, ring::all_gather_cost},
    {all_gather, Algorithm::multi_ring,
     "(p-1)ᾱ + (p-1)/p·nβ* + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::all_gather, multi_ring::all_gather_cost},
    {all_gather, Algorithm::recursive_doubling,
     "lg p·α + (p-1)/p·nβ + S, p a power of two; otherwise see recursive_doubling.cpp", "Thakur 2005",
     recursive_doubling::all_gather, recursive_doubling::all_gather_cost},
    {all_gather, Algorithm::bruck, "ceil(lg p)·α + (p-1)/p·nβ + S", "Bruck et al. 1997", bruck::all_gather,
     bruck::all_gather_cost},
    {all_gather, Algorithm::hierarchical,
     "(g-1)(α' + n/g·β') + T(n/g) of the all-gather between p/g groups, for ring (p/g-1)(α + n/p·β), + S",
     "derived in hierarchical.cpp; Thakur 2005 between groups", hierarchical::all_gather,
     hierarchical::all_gather_cost},
    {reduce_scatter, Algorithm::ring, "(p-1)ᾱ + (p-1)/p·nβ + (p-1)/p·nγ + S, ᾱ the mean over the ring's hops",
     "Thakur 2005", ring::reduce_scatter, ring::reduce_scatter_cost},
    {reduce_scatter, Algorithm::multi_ring,
     "(p-1)ᾱ + (p-1)/p·nβ* + (p-1)/p·nγ + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::reduce_scatter, multi_ring::reduce_scatter_cost},
    {reduce_scatter, Algorithm::recursive_doubling,
     "lg p·α + (p-1)/p·n(β + γ) + S, p a power of two; otherwise see recursive_doubling.cpp",
     "Thakur 2005 (recursive halving)", recursive_doubling::reduce_scatter, recursive_doubling::reduce_scatter_cost},
    {reduce_scatter, Algorithm::hierarchical,
     "(g-1)(α' + n/g·β') + (g-1)/g·nγ + T(n/g) of the reduce-scatter between p/g groups, for ring (p/g-1)(α + n/p·β + n/p·γ), + S",
     "derived in hierarchical.cpp; Thakur 2005 between groups", hierarchical::reduce_scatter,
     hierarchical::reduce_scatter_cost},
    {broadcast, Algorithm::binomial_tree, "ceil(lg p)(α + nβ) + S", "Thakur 2005", binomial_tree::broadcast,
     binomial_tree::broadcast_cost},
    {all_to_all, Algorithm::pairwise, "(p-1)α + (p-1)/p·nβ + S", "Thakur 2005", pairwise::all_to_all,
     pairwise::all_to_all_cost},
};

constexpr Algorithm kAllReducesBetween[] = {Algorithm::ring, Algorithm::halving_doubling, Algorithm::recursive_doubling,
                                            Algorithm::double_binary_tree, Algorithm::in_network};
constexpr Algorithm kGathersBetween[] = {Algorithm::ring, Algorithm::recursive_doubling};

}  // namespace

std::span<const CollectiveAlgorithm> collective_algorithms() { return kAlgorithms; }

std::span<const Algorithm> algorithms_between(Operation operation) {
  switch (operation) {
    case all_reduce: return kAllReducesBetween;
    case all_gather:
    case reduce_scatter: return kGathersBetween;
    case broadcast:
    case all_to_all: break;
  }
  return {};
}

bool carries_out(Algorithm algorithm, Operation operation) {
  return std::any_of(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const CollectiveAlgorithm& entry) {
    return entry.operation == operation && entry.algorithm == algorithm;
  });
}

bool may_choose(std::span<const Algorithm> library, Algorithm algorithm, Operation operation) {
  const auto carries_it_out = [operation](Algorithm one) { return carries_out(one, operation); };
  return carries_it_out(algorithm) && (std::find(library.begin(), library.end(), algorithm) != library.end() ||
                                       std::none_of(library.begin(), library.end(), carries_it_out));
}

CollectiveChoice fitted(CollectiveChoice choice, Operation operation) {
  const auto between = algorithms_between(operation);
  if (!carries_out(choice.algorithm, operation)) choice.algorithm = Algorithm::automatic;
  if (std::find(between.begin(), between.end(), choice.between_groups) == between.end())
    choice.between_groups = Algorithm::automatic;
  return choice;
}

const CollectiveAlgorithm& find_algorithm(Operation operation, Algorithm algorithm) {
  for (const CollectiveAlgorithm& entry : kAlgorithms)
    if (entry.operation == operation && entry.algorithm == algorithm) return entry;
  throw std::invalid_argument(fmt::format("{} has no algorithm {}", name_of(operation), name_of(algorithm)));
}

}  // namespace stepcast
