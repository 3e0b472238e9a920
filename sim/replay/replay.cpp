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
#include "sim/replay/lanes.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/performer.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/scene.hpp"
#include "sim/replay/step_progress.hpp"
#include "sim/replay/timelines.hpp"

namespace stepcast {
namespace {

std::unique_ptr<Scene> make_scene(simgrid::s4u::Engine& engine, const Cluster& cluster, const StepGraph& graph,
                                  FidelityDecision& fidelity) {
  if (!fidelity.folds) return make_full_scene(engine, cluster, graph);
  return make_folded_scene(engine, cluster, fidelity.fold ? std::move(*fidelity.fold) : fold(cluster, graph));
}

std::string describe(const FidelityDecision& fidelity, const Scene& scene) {
  if (fidelity.folds) return fmt::format("folded: {}", scene.summary());
  return fidelity.why_full.empty() ? "full" : fmt::format("full: {}", fidelity.why_full);
}

Progress begin_progress(const std::vector<Participant>& participants, const Scenario& scenario,
                        const StepGraph& graph) {
  std::vector<int> tasks;
  std::size_t lanes = 0;
  for (const Participant& participant : participants) {
    tasks.push_back(0);
    for (const Lane& lane : participant.lanes) tasks.back() += static_cast<int>(lane.tasks.size());
    lanes += participant.lanes.size();
  }
  return Progress(progress_rules(scenario, graph), tasks, lanes);
}

ReplayLog log_of(const std::vector<Participant>& participants, const std::vector<WorkerKind>& kinds,
                 const Progress& progress, Recorder& recorder) {
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
  const std::unique_ptr<Scene> scene = make_scene(engine, cluster, graph, fidelity);

  std::vector<Participant> participants = participants_on(*scene, graph);
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  Performer performer(*scene, scenario, graph, run);
  Progress progress = begin_progress(participants, scenario, graph);
  Recorder recorder(empty_timelines(*scene, cluster, graph, kinds), participants, graph, observer);
  run_lanes(engine, participants, graph, performer, progress, recorder);

  ReplayResult result = result_of(log_of(participants, kinds, progress, recorder), scenario, graph);
  result.forecast.fidelity = describe(fidelity, *scene);
  return result;
}

}  // namespace stepcast
