// Flow systems and their quotients.
//
// A flow system is a set of flows, each over some links, that share the links' bandwidth by max-min fairness.
// Its quotient has one flow for every class of the coarsest equitable partition of flows and links
// (partition.hpp) and one link for every class of links. Where each link of class L is crossed by w flows of
// class F, the quotient's flow F counts w times on the quotient's link L. Its rates are those of the whole
// system: progressive filling saturates alike links at the same time, so all flows of a class freeze together.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/fabric.hpp"

namespace stepcast {

/// Flows, and the participants that send and receive them. A participant or a flow may stand for several that a
/// symmetry of the cluster exchanges: its size.
struct FlowSystem {
  struct Participant {
    std::vector<double> colour;  ///< what tells participants apart
    int size = 1;
  };
  struct Flow {
    int from = 0, to = 0;                             ///< hosts
    std::array<double, 2> colour{};                   ///< what else tells flows apart
    std::optional<std::size_t> sender{}, receiver{};  ///< participants
    int size = 1;               ///< flows like this one, from or to the hosts that can change places
    bool from_changes = false;  ///< whether it is the sending ends that do
  };
  std::vector<Participant> participants;
  std::vector<Flow> flows;
  std::vector<Seconds> latencies{};  ///< that the flows wait for; empty: their routes'
};

/// One flow for all of a class.
struct QuotientFlow {
  std::vector<std::pair<int, int>> links;  ///< number of a link, and how many flows of the class cross one such link
  Seconds delay{};                         ///< latency of its route
  bool local = false;                      ///< never leaves its host
};

struct Quotient {
  std::vector<BytesPerSecond> links;
  std::vector<QuotientFlow> flows;
};

struct FoldedFlows {
  Quotient quotient;
  std::vector<std::size_t> flow;   ///< by flow of the quotient: the first one of its class
  std::vector<std::size_t> alike;  ///< by participant: the first one of its class
  std::vector<int> size;           ///< by participant: how many its class stands for
};

/// The quotient of flows by the fabric's routes.
FoldedFlows fold_flows(const FlowSystem& system, const Fabric& fabric);

}  // namespace stepcast
