#include "models/equation/unfolded_graph.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <variant>

#include "models/part/worker_kinds.hpp"

namespace stepcast {
namespace {

std::vector<WorkerClass> worker_classes(const Cluster& cluster) {
  std::vector<WorkerClass> classes;
  for (const WorkerKind& kind : worker_kinds(cluster)) {
    const auto same =
        std::find_if(classes.begin(), classes.end(), [&](const WorkerClass& c) { return c.speed == kind.speed; });
    if (same != classes.end()) same->count += kind.count;
    else classes.push_back({kind.count, kind.speed});
  }
  return classes;
}

std::vector<int> first_vertices(const StepGraph& graph, std::size_t classes) {
  std::vector<int> first{0};
  first.reserve(graph.tasks.size() + 1);
  for (const Task& task : graph.tasks) {
    const bool per_class =
        std::holds_alternative<ComputeWork>(task.work) || std::holds_alternative<NegotiationWork>(task.work);
    first.push_back(first.back() + (per_class ? static_cast<int>(classes) : 1));
  }
  return first;
}

std::vector<std::size_t> first_like_tasks(const StepGraph& graph) {
  std::map<std::tuple<Bytes, Phase, Seconds, int, CallKey>, std::size_t> known;
  std::vector<std::size_t> like;
  like.reserve(graph.tasks.size());
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const auto* work = std::get_if<CollectiveWork>(&graph.tasks[i].work);
    like.push_back(i);
    if (!work) continue;
    const CollectiveCall& call = work->call;
    like.back() = known.try_emplace({call.bytes, graph.tasks[i].phase, call.recode, call.protocol, key_of(call)}, i)
                      .first->second;
  }
  return like;
}

/// Connects the vertices of tasks.
class Connections {
 public:
  Connections(const StepGraph& graph, const std::vector<int>& first) : first_(first) {
    edges.reserve(2 * static_cast<std::size_t>(first.back()) + graph.dependencies.size());
    std::vector<std::vector<TaskId>> tasks(graph.streams.size());
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      const Task& task = graph.tasks[i];
      if (task.worker_stream != kNoStream) tasks[task.worker_stream].push_back(static_cast<TaskId>(i));
      if (task.server_stream != kNoStream && task.server_stream != task.worker_stream)
        tasks[task.server_stream].push_back(static_cast<TaskId>(i));
    }
    for (const std::vector<TaskId>& stream : tasks) {
      for (std::size_t i = 1; i < stream.size(); ++i) connect(stream[i - 1], stream[i], 0);
      if (!stream.empty()) connect(stream.back(), stream.front(), 1);
    }
    // Dependencies for the first steps only do not affect the long run. The first step has no earlier step to wait for.
    for (const Dependency& d : graph.dependencies)
      if (!d.until) connect(d.before, d.after, d.lag);
  }

  std::vector<TimedEventSolver::Edge> edges;

 private:
  void connect(TaskId before, TaskId after, int lag) {
    const int copies_of_before = first_[before + 1] - first_[before],
              copies_of_after = first_[after + 1] - first_[after];
    for (int c = 0; c < std::max(copies_of_before, copies_of_after); ++c)
      edges.push_back(
          {first_[before] + std::min(c, copies_of_before - 1), first_[after] + std::min(c, copies_of_after - 1), lag});
  }

  const std::vector<int>& first_;
};

}  // namespace

UnfoldedGraph::UnfoldedGraph(const StepGraph& graph, const Cluster& cluster)
    : classes_(worker_classes(cluster)),
      first_(first_vertices(graph, classes_.size())),
      like_(first_like_tasks(graph)),
      solver_(vertices(), Connections(graph, first_).edges) {
  own_times_.reserve(vertices());
  for (const Task& task : graph.tasks) own_stack_shares_.push_back(task.stack_share);
  std::vector<std::vector<WorkersTask>> of_stream(graph.streams.size());
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    if (task.worker_stream != kNoStream)
      of_stream[task.worker_stream].push_back(
          {i, task.phase, static_cast<std::size_t>(first_[i]), per_class(i) ? 1U : 0U});
    if (const auto* compute = std::get_if<ComputeWork>(&task.work)) {
      for (const WorkerClass& c : classes_) own_times_.push_back(compute->duration.si() / c.speed);
      continue;
    }
    communication_.push_back(i);
    const auto* negotiation = std::get_if<NegotiationWork>(&task.work);
    own_times_.resize(static_cast<std::size_t>(first_[i + 1]), negotiation ? negotiation->time.si() : 0.0);
  }
  for (const std::vector<WorkersTask>& tasks : of_stream)
    workers_tasks_.insert(workers_tasks_.end(), tasks.begin(), tasks.end());
}

std::size_t UnfoldedGraph::task_of(int vertex) const {
  return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), vertex) - first_.begin()) - 1;
}

}  // namespace stepcast
