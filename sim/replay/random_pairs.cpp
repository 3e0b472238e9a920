#include "sim/replay/random_pairs.hpp"

#include <cstddef>

#include "models/collective/neighbours.hpp"
#include "models/fabric/fingerprint.hpp"
#include "models/part/host_costs.hpp"
#include "sim/replay/messages.hpp"

namespace stepcast {
RandomPairs::RandomPairs(SimulatedCluster& simulated, const Scenario& scenario, const StepGraph& graph, int run)
    : simulated_(simulated), scenario_(scenario), run_(run) {
  for (const Task& task : graph.tasks) {
    const auto* work = std::get_if<PairWork>(&task.work);
    if (!work) continue;
    const int p = scenario.cluster.workers;
    island_ = work->neighbours.island;
    neighbours_.resize(static_cast<std::size_t>(p));
    const std::vector<bool> chooses = choosing_ranks(work->neighbours, work->choosers, p).value();
    for (const Message& message : messages_of(work->neighbours, p))
      if (chooses[message.from]) neighbours_[message.from].push_back(message.to);
    for (int rank = 0; rank < p; ++rank) answers_.push_back(simgrid::s4u::Mutex::create());
  }
}

double RandomPairs::execute(const PairWork& work, const Track& track, int step) {
  const int self = track.participant->index;
  const std::vector<int>& all = neighbours_[self];
  if (all.empty()) return now();
  // By chance, which depends on these numbers alone and not on the order of events. The workers of an island choose alike.
  const int other = all[mix_all({scenario_.evaluation.seed, run_, self / island_, step}) % all.size()];
  answers_[other]->lock();
  const double start = now();
  std::vector<Posted> both{{simulated_.between(self, other, work.bytes)},
                           {simulated_.between(other, self, work.bytes)}};
  await(start_messages(both, 1.0, simulated_.meter), simulated_.meter);
  // Both hosts copy and add at the same time.
  sleep((work.bytes * host_costs(scenario_.cluster).of(self, other) + work.added * scenario_.cluster.reduction_cost)
            .si());
  answers_[other]->unlock();
  return start;
}

}  // namespace stepcast
