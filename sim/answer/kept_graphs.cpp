#include "sim/answer/kept_graphs.hpp"

#include <algorithm>
#include <utility>

#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

/// Whether a builder gets the same input for both scenarios, except for prices.
/// @param cluster  b's without its link; a's has none
bool have_same_input(const Scenario& a, const Scenario& b, const Cluster& cluster) {
  // Names all members, so that the compiler asks about a new one.
  const auto& [name, description, workload, written, cluster_of_a, gpu, strategy, compressor, others, inner, codec, run,
               baseline, evaluation, output] = a;
  return workload == b.workload && cluster_of_a.workers == cluster.workers && compressor == b.compressor &&
         strategy == b.strategy && others == b.other_compressors && inner == b.inner_compressor && codec == b.codec &&
         cluster_of_a == cluster;
}

}  // namespace

std::shared_ptr<KeptGraph> KeptGraphs::of(const Scenario& scenario, const Workload& workload,
                                          const ClusterPrices& prices) {
  Cluster unlinked = without_link(scenario.cluster);
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return have_same_input(kept.scenario, scenario, unlinked); });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    if (known->questions.have_same_answers(prices)) return known->graph;
    tasks_ -= known->graph->graph.tasks.size();
    kept_.pop_front();
  }
  AskedPrices asked(prices);
  auto graph = std::make_shared<KeptGraph>(build_without_shares(scenario, workload, asked));
  ++built_;
  if (asked.questions().may_recur()) {
    Kept one{scenario, asked.questions(), graph};
    one.scenario.cluster = std::move(unlinked);
    keep(std::move(one));
  }
  return graph;
}

void KeptGraphs::keep(Kept one) {
  tasks_ += one.graph->graph.tasks.size();
  kept_.push_front(std::move(one));
  while (kept_.size() > kMost || tasks_ > kMostTasks) {
    tasks_ -= kept_.back().graph->graph.tasks.size();
    kept_.pop_back();
  }
}

}  // namespace stepcast
