// The exchange of a step: bytes, algorithms, and its time alone.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

class UnfoldedGraph;

/// The least and the most of some numbers; nothing of none.
struct IntRange {
  std::optional<std::pair<int, int>> ends{};
  void add(int number) {
    ends = ends ? std::pair{std::min(ends->first, number), std::max(ends->second, number)} : std::pair{number, number};
  }
};

/// Differences between a step's calls of one algorithm.
struct AlgorithmUse {
  IntRange segments;
  std::map<int, std::string> protocols;  ///< names, by number; none of a cluster without
};

/// The sum of all communication tasks of a step, without other work.
struct ExchangeSummary {
  Bytes size{};                             ///< n: bytes that its collectives (or pushes) exchange
  Bytes sent{};                             ///< by a worker, mean over workers
  std::optional<Seconds> time = Seconds{};  ///< empty where equations cannot tell
  /// With parameters that were decided; "{}" stands for numbers of segments.
  std::map<std::string, AlgorithmUse> algorithms;
  std::set<Operation> operations;
  std::string estimate;  ///< why the equations' answer may not be the replay's; empty where it is
};
/// @param unfolded  the graph, if it is unfolded already: it knows which collectives are equal
/// @throws ModelError as exactness_of does
ExchangeSummary summarise(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices,
                          const UnfoldedGraph* unfolded = nullptr);

/// "ring+double-binary-tree (2 to 7 segments) by LL and Simple"
std::string text_of(const std::map<std::string, AlgorithmUse>& algorithms);

}  // namespace stepcast
