#include "sim/replay/worker_clock.hpp"

namespace stepcast {

WorkerPlan worker_plan(const StepGraph& graph) {
  std::vector<std::vector<Dependency>> incoming(graph.tasks.size());
  for (const Dependency& d : graph.dependencies) incoming[d.after].push_back(d);
  WorkerPlan plan;
  std::vector<std::vector<WorkerPlan::Item>> streams(graph.streams.size());
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const StreamId stream = graph.tasks[t].worker_stream;
    if (stream == kNoStream) continue;
    streams[stream].push_back({static_cast<TaskId>(t), incoming[t]});
  }
  for (auto& stream : streams)
    if (!stream.empty()) plan.streams.push_back(std::move(stream));
  return plan;
}

}  // namespace stepcast
