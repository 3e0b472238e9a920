#include "sim/replay/worker_clock.hpp"

#include <utility>
#include <variant>

namespace stepcast {
namespace {

WorkerPlan::Item item_of(const Task& task, TaskId id) {
  WorkerPlan::Item item{id, WorkerPlan::Kind::meets, 0.0, task.micro_batch, task.micro_batches, {}};
  if (const auto* compute = std::get_if<ComputeWork>(&task.work)) {
    item.kind = WorkerPlan::Kind::computes;
    item.time = compute->duration.si();
  } else if (const auto* negotiation = std::get_if<NegotiationWork>(&task.work)) {
    item.kind = WorkerPlan::Kind::sleeps;
    item.time = negotiation->time.si();
  }
  return item;
}

}  // namespace

WorkerPlan worker_plan(const StepGraph& graph) {
  std::vector<std::vector<Dependency>> incoming(graph.tasks.size());
  for (const Dependency& d : graph.dependencies) incoming[d.after].push_back(d);
  WorkerPlan plan{{}, graph.tasks.size(), graph.draws()};
  std::vector<std::vector<WorkerPlan::Item>> streams(graph.streams.size());
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const StreamId stream = graph.tasks[t].worker_stream;
    if (stream == kNoStream) continue;
    streams[stream].push_back(item_of(graph.tasks[t], static_cast<TaskId>(t)));
    streams[stream].back().waits_for = std::move(incoming[t]);
  }
  for (auto& stream : streams)
    if (!stream.empty()) plan.streams.push_back(std::move(stream));
  return plan;
}

}  // namespace stepcast
