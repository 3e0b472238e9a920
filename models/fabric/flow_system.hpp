// Flow systems and their quotients.
//
// A flow system is a set of flows over links; they share the links' bandwidth by max-min fairness. Its quotient has one
// flow for every class of flows and one link for every class of links. The classes are those of the coarsest equitable
// partition (partition.hpp). If w flows of class F cross each link of class L, flow F counts w times on link L of the
// quotient. The quotient has the rates of the whole system. Progressive filling saturates equal links at the same time,
// so all flows of a class freeze together.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/fabric.hpp"

namespace stepcast {

/// Flows, and the participants that send and receive them. One participant or flow may represent several that a
/// symmetry of the cluster exchanges: `size` is their number.
struct FlowSystem {
  struct Participant {
    std::vector<double> colour;  ///< the properties that distinguish participants
    int size = 1;
  };
  struct Flow {
    int from = 0, to = 0;                             ///< hosts
    std::array<double, 2> colour{};                   ///< other properties that distinguish flows
    std::optional<std::size_t> sender{}, receiver{};  ///< participants
    int size = 1;                                     ///< number of equal flows, from or to exchangeable hosts
    bool from_changes = false;                        ///< whether the sending ends are the exchangeable ones
  };
  std::vector<Participant> participants;
  std::vector<Flow> flows;
  std::vector<Seconds> latencies{};  ///< latencies before the flows start; empty: those of their routes
};

/// One flow for all flows of a class.
struct QuotientFlow {
  std::vector<std::pair<int, int>> links;  ///< number of a link, and how many flows of the class cross such a link
  Seconds delay{};                         ///< latency of its route
  bool local = false;                      ///< stays inside its host
};

struct Quotient {
  std::vector<BytesPerSecond> links;
  std::vector<QuotientFlow> flows;
};

struct FoldedFlows {
  Quotient quotient;
  std::vector<std::size_t> flow;   ///< by flow of the quotient: the first flow of its class
  std::vector<std::size_t> alike;  ///< by participant: the first participant of its class
  std::vector<int> size;           ///< by participant: how many participants its class represents
};

/// Folds the flows, routed over the fabric, into their quotient.
FoldedFlows fold_flows(const FlowSystem& system, Fabric& fabric);

}  // namespace stepcast
