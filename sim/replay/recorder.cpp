#include "sim/replay/recorder.hpp"

#include <utility>

namespace stepcast {
namespace {

/// Work that follows in the same phase of the same step extends the interval, like the backward passes of many tensors.
void append(const Interval& interval, int step, Timeline& timeline) {
  if (interval.end <= interval.start) return;
  if (!timeline.intervals.empty())
    if (auto& [of_step, latest] = timeline.intervals.back();
        of_step == step && latest.phase == interval.phase && latest.end == interval.start) {
      latest.end = interval.end;
      return;
    }
  timeline.intervals.emplace_back(step, interval);
}

}  // namespace

Recorder::Recorder(std::vector<Timeline> timelines, const std::vector<Participant>& participants,
                   const StepGraph& graph, const TaskObserver& observer)
    : graph_(graph), observer_(observer), timelines_(std::move(timelines)), timeline_of_(participants.size()) {
  for (Timeline& timeline : timelines_) timeline_of_[timeline.worker] = &timeline;
}

void Recorder::add(const Participant& participant, TaskId id, int step, double start, double end) {
  const Task& task = graph_.tasks[id];
  if (Timeline* timeline = timeline_of_[participant.number]) append({task.phase, start, end}, step, *timeline);
  if (!observer_) return;
  const StreamId stream = stream_of(task, participant.role);
  observer_(
      {participant.role, participant.index, graph_.streams[stream].name, task.name, task.phase, step, start, end});
}

}  // namespace stepcast
