#include "sim/replay/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stepcast {
namespace {

/// Direct messages tell workers apart by their place: by their neighbours, their rack, their host's shard.
bool kinds_are_alike(const Cluster& cluster, const StepGraph& graph) {
  if (cluster.jitter.cv > 0 || graph.asynchronous || graph.shards_co_located) return false;
  const bool star = std::holds_alternative<Star>(cluster.topology);
  return std::none_of(graph.tasks.begin(), graph.tasks.end(), [&](const Task& task) {
    if (const auto* work = std::get_if<NeighbourWork>(&task.work))
      return !star || !cluster.groups.empty() || !is_regular(work->neighbours, cluster.workers);
    return std::holds_alternative<ShardWork>(task.work) && !star;
  });
}

std::vector<Timeline> one_of_each_class(const SimulatedCluster& simulated, const Cluster& cluster,
                                        const std::vector<WorkerKind>& kinds) {
  std::vector<Timeline> all;
  for (std::size_t i = 0; i < simulated.participants().size(); ++i) {
    const SimulatedCluster::Participant& workers = simulated.participants()[i];
    if (workers.role != Role::worker) continue;
    Timeline one{i, static_cast<double>(workers.count) / cluster.workers, {}, {}};
    for (std::size_t k = 0; k < kinds.size(); ++k)
      one.of_kind.push_back(static_cast<double>(workers.of_kind[k]) / kinds[k].count);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<Timeline> empty_timelines(const SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph,
                                      const std::vector<WorkerKind>& kinds) {
  if (simulated.is_folded()) return one_of_each_class(simulated, cluster, kinds);
  std::vector<Timeline> all;
  const bool alike = kinds_are_alike(cluster, graph);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const int kept = alike ? 1 : kinds[k].count;
    for (int i = 0; i < kept; ++i) {
      const double weight = static_cast<double>(kinds[k].count) / kept / cluster.workers;
      Timeline one{static_cast<std::size_t>(kinds[k].first + i), weight, std::vector<double>(kinds.size()), {}};
      one.of_kind[k] = 1.0 / kept;
      all.push_back(std::move(one));
    }
  }
  return all;
}

Recorder::Recorder(std::vector<Timeline> timelines, const std::vector<Participant>& participants,
                   const StepGraph& graph, const TaskObserver& observer)
    : graph_(graph), observer_(observer), timelines_(std::move(timelines)), timeline_of_(participants.size()) {
  for (Timeline& timeline : timelines_) timeline_of_[timeline.worker] = &timeline;
}

void Recorder::add(const Participant& participant, TaskId id, int step, double start, double end) {
  const Task& task = graph_.tasks[id];
  if (Timeline* timeline = timeline_of_[participant.number])
    append({task.phase, start, end, task.stack_share}, step, *timeline);
  if (!observer_) return;
  const StreamId stream = stream_of(task, participant.role);
  observer_({participant.role, participant.index, id, stream, graph_.streams[stream].name, task.name, task.phase, step,
             start, end});
}

}  // namespace stepcast
