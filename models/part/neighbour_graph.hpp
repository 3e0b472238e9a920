// The graphs of decentralized SGD: with whom a worker averages its parameters.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "models/describe/describe.hpp"

namespace stepcast {

/// Ranks r of p workers. Exponential graphs are directed: SGD on them weighs what it receives (push-sum).
enum class NeighbourGraph : std::uint8_t {
  ring,
  torus,
  hypercube,
  exponential,
  complete,
  one_peer_hypercube,
  one_peer_exponential,
  edges
};

template <>
struct Choices<NeighbourGraph> {
  static constexpr std::array table = {
      Choice<NeighbourGraph>{"ring", NeighbourGraph::ring, "ranks r-1 and r+1 (D-PSGD, Lian et al., NeurIPS 2017)"},
      Choice<NeighbourGraph>{"torus", NeighbourGraph::torus, "the nearest on a grid whose ends meet"},
      Choice<NeighbourGraph>{"hypercube", NeighbourGraph::hypercube,
                             "all ranks that differ in one binary digit; a power of two of workers"},
      Choice<NeighbourGraph>{"exponential", NeighbourGraph::exponential,
                             "each sends to ranks r+1, r+2, r+4 and so on (Ying et al., NeurIPS 2021)"},
      Choice<NeighbourGraph>{"complete", NeighbourGraph::complete, "all others"},
      Choice<NeighbourGraph>{"one-peer-hypercube", NeighbourGraph::one_peer_hypercube,
                             "one neighbour of the hypercube a step, in turn"},
      Choice<NeighbourGraph>{"one-peer-exponential", NeighbourGraph::one_peer_exponential,
                             "one of the exponential graph a step, in turn (stochastic gradient push, Assran et al., "
                             "ICML 2019)"},
      Choice<NeighbourGraph>{"edges", NeighbourGraph::edges, "the pairs in `edges`"},
  };
};

/// The workers of asynchronous gossip that choose a neighbour.
enum class PairChoosers : std::uint8_t { half, all };

template <>
struct Choices<PairChoosers> {
  static constexpr std::array table = {
      Choice<PairChoosers>{"half", PairChoosers::half,
                           "those of rank 0's half of a bipartite graph; the others only answer (AD-PSGD, Lian et al., "
                           "ICML 2018)"},
      Choice<PairChoosers>{
          "all", PairChoosers::all,
          "every worker; beside its own pair it answers others, from a copy of its parameters (SwarmSGD, "
          "Nadiradze et al., NeurIPS 2021, recalled)"},
  };
};

/// Two workers that average with each other.
struct NeighbourEdge {
  int a = 0;
  int b = 0;

  template <class V>
  static void describe(V& v, NeighbourEdge& x) {
    v.required("a", x.a, "rank of a worker", at_least(0));
    v.required("b", x.b, "rank of another one", at_least(0));
  }
  auto operator<=>(const NeighbourEdge&) const = default;
};

}  // namespace stepcast
