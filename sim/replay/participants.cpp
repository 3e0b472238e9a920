#include "sim/replay/participants.hpp"

#include <algorithm>
#include <utility>

namespace stepcast {
namespace {

std::vector<TaskId> tasks_on(StreamId stream, Role role, const StepGraph& graph, const SimulatedCluster& simulated) {
  std::vector<TaskId> tasks;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    if (stream_of(graph.tasks[t], role) == stream && simulated.includes(graph.tasks[t]))
      tasks.push_back(static_cast<TaskId>(t));
  return tasks;
}

std::size_t streams_of(Role role, const StepGraph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.streams.begin(), graph.streams.end(), [&](const Stream& s) { return s.role == role; }));
}

}  // namespace

std::vector<Participant> participants_on(const SimulatedCluster& simulated, const StepGraph& graph) {
  std::vector<Participant> participants(simulated.participants().size());
  std::size_t tracks = 0;
  for (std::size_t i = 0; i < participants.size(); ++i) {
    Participant& participant = participants[i];
    const SimulatedCluster::Participant& seen = simulated.participants()[i];
    participant.host = seen.host;
    participant.role = seen.role;
    participant.index = seen.index;
    participant.number = i;
    participant.done.assign(graph.tasks.size(), 0);
    for (std::size_t s = 0; s < graph.streams.size(); ++s) {
      if (graph.streams[s].role != seen.role) continue;
      std::vector<TaskId> tasks = tasks_on(static_cast<StreamId>(s), seen.role, graph, simulated);
      if (tasks.empty()) continue;
      Track& track = participant.tracks.emplace_back();
      track.participant = &participant;
      track.number = tracks++;
      track.tasks = std::move(tasks);
    }
  }
  return participants;
}

std::size_t most_lanes(const Scenario& scenario, const StepGraph& graph) {
  return static_cast<std::size_t>(scenario.cluster.workers) * streams_of(Role::worker, graph) +
         static_cast<std::size_t>(graph.shards) * streams_of(Role::server, graph);
}

}  // namespace stepcast
