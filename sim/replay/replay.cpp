#include "sim/replay/replay.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/part/worker_kinds.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/fidelity.hpp"
#include "sim/replay/tracks.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/executor.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/simulated_cluster.hpp"
#include "sim/replay/step_progress.hpp"
#include "sim/replay/timelines.hpp"

namespace stepcast {
namespace {

std::unique_ptr<SimulatedCluster> make_cluster(simgrid::s4u::Engine& engine, const Cluster& cluster,
                                               const StepGraph& graph, FidelityDecision& fidelity) {
  if (!fidelity.folds) return make_full_cluster(engine, cluster, graph);
  return make_folded_cluster(engine, cluster, fidelity.fold ? std::move(*fidelity.fold) : fold(cluster, graph));
}

std::string describe(const FidelityDecision& fidelity, const SimulatedCluster& simulated) {
  if (fidelity.folds) return fmt::format("folded: {}", simulated.summary());
  return fidelity.why_full.empty() ? "full" : fmt::format("full: {}", fidelity.why_full);
}

StepProgress begin_progress(const std::vector<Participant>& participants, const Scenario& scenario,
                            const StepGraph& graph) {
  std::vector<int> tasks;
  std::size_t tracks = 0;
  for (const Participant& participant : participants) {
    tasks.push_back(0);
    for (const Track& track : participant.tracks) tasks.back() += static_cast<int>(track.tasks.size());
    tracks += participant.tracks.size();
  }
  return StepProgress(progress_rules(scenario, graph), tasks, tracks);
}

ReplayLog log_of(const std::vector<Participant>& participants, const std::vector<WorkerKind>& kinds,
                 const StepProgress& progress, Recorder& recorder) {
  ReplayLog log{kinds, recorder.take_timelines(), progress.step_ends(), {}, progress.period(), progress.last()};
  for (const Participant& participant : participants)
    if (participant.role == Role::worker) log.worker_pass_ends.push_back(progress.step_ends(participant.number));
  return log;
}

}  // namespace

ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run, const TaskObserver& observer) {
  const Cluster& cluster = scenario.cluster;
  FidelityDecision fidelity = decide_fidelity(scenario, graph);
  simgrid::s4u::Engine engine = start_engine(fidelity.folds ? 0 : most_lanes(scenario, graph));
  configure_network(cluster.transport);
  const std::unique_ptr<SimulatedCluster> simulated = make_cluster(engine, cluster, graph, fidelity);

  std::vector<Participant> participants = participants_on(*simulated, graph);
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  Executor executor(*simulated, scenario, graph, run);
  StepProgress progress = begin_progress(participants, scenario, graph);
  Recorder recorder(empty_timelines(*simulated, cluster, graph, kinds), participants, graph, observer);
  run_tracks(engine, participants, graph, executor, progress, recorder);

  ReplayResult result = result_of(log_of(participants, kinds, progress, recorder), scenario, graph);
  result.forecast.fidelity = describe(fidelity, *simulated);
  return result;
}

}  // namespace stepcast
