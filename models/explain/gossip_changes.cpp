// Changes of gossip: other graphs, pairs, rarer exchanges, islands.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/explain/change_list.hpp"
#include "models/fabric/machines.hpp"
#include "models/scenario/gossip_rounds.hpp"
#include "models/scenario/neighbour_rules.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

class GossipChanges {
 public:
  GossipChanges(const Scenario& scenario, ChangeList& changes) : s_(scenario), changes_(changes) {}

  void add(const GossipStrategy& x) {
    const auto here = strategy_of(x);
    if (!x.overlap)
      changes_.add(kExecution, "overlap with the gradient's computation", here, &GossipStrategy::overlap, true);
    changes_.add_others(
        kTraining, here, &GossipStrategy::graph,
        [](const auto& choice) { return fmt::format("graph {}", choice.name); },
        [&](NeighbourGraph graph) {
          GossipStrategy other = x;
          other.graph = graph;
          return may_exchange(other);
        });
    const bool codes = class_of(s_.compressor) == CompressorClass::quantization;
    const bool may_pair = (codes || !compresses_tensors(s_.compressor)) && !s_.other_compressors && !x.average;
    if (x.asynchronous) {
      Settings set{setting(here, &GossipStrategy::asynchronous, false)};
      if (x.choosers != PairChoosers::half) set.push_back(setting(here, &GossipStrategy::choosers, PairChoosers::half));
      changes_.add(kTraining, "workers wait for their neighbours", std::move(set));
    }
    for (const auto& [choosers, what] : {std::pair(PairChoosers::half, "pairs that wait for no one else"),
                                         std::pair(PairChoosers::all, "pairs of all workers, who also answer")}) {
      if (!may_pair || (x.asynchronous && x.choosers == choosers)) continue;
      GossipStrategy other = x;
      other.asynchronous = true;
      other.choosers = choosers;
      if (!may_exchange(other)) continue;
      Settings set;
      if (!x.asynchronous) set.push_back(setting(here, &GossipStrategy::asynchronous, true));
      if (x.choosers != choosers) set.push_back(setting(here, &GossipStrategy::choosers, choosers));
      changes_.add(kTraining, what, std::move(set));
    }
    add_rarer_or_larger(x);
  }

 private:
  /// Fewer exchanges with neighbours, or fewer replicas.
  void add_rarer_or_larger(const GossipStrategy& x) {
    const auto here = strategy_of(x);
    changes_.add(kTraining, fmt::format("neighbours every {} steps", 2 * x.steps), here, &GossipStrategy::steps,
                 2 * x.steps);
    const auto machine = machine_group(s_);
    if (x.islands || !machine || *machine == s_.cluster.workers) return;
    GossipStrategy machines = x;
    machines.islands = Islands{.size = *machine};
    if (may_exchange(machines))
      changes_.add_strategy(kTraining, fmt::format("neighbours of whole {}s", group_name(s_.cluster)), machines);
  }

  /// Whether the workers or islands can have the graph.
  [[nodiscard]] bool may_exchange(const GossipStrategy& x) const {
    const Neighbours neighbours = neighbours_of(x);
    std::vector<Fault> faults;
    check_neighbours(neighbours, s_.cluster.workers, faults);
    return faults.empty() && (!x.asynchronous || allows_pairs(neighbours, x.choosers, s_.cluster.workers));
  }

  const Scenario& s_;
  ChangeList& changes_;
};

}  // namespace

void add_gossip_changes(const Scenario& s, ChangeList& changes) {
  GossipChanges(s, changes).add(std::get<GossipStrategy>(s.strategy));
}

}  // namespace stepcast
