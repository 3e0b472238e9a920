#include "models/equation/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/collective/direct.hpp"
#include "models/describe/fault.hpp"
#include "models/equation/timed_event_graph.hpp"
#include "models/forecast/breakdown.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/exchange_price.hpp"

namespace stepcast {
namespace {

struct WorkerClass {
  int count = 0;
  double speed = 1.0;
};

/// Workers with equal compute speed, in order of first appearance.
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

void refuse_unpriced(const CollectiveCall& call, const ClusterPrices& prices) {
  if (std::isfinite(prices.slack(call).si()) || !routes_are_known(prices.cluster())) return;
  throw ModelError(fmt::format(
      "{} among {} workers has more than {:.0f} million unlike messages, which are not routed; fewer workers, or an "
      "algorithm with fewer (/strategy/collective/algorithm), can be answered",
      name_of(call.algorithm->algorithm), prices.cluster().workers, kMostRouted / 1e6));
}

/// The share of its slack that a collective adds to its price.
enum class Slack { least = -1, none = 0, most = 1 };

/// The step graph expanded by worker classes: a computation or negotiation is one vertex per class, any other task is one
/// vertex.
class Unfolded {
 public:
  Unfolded(const StepGraph& graph, const ClusterPrices& prices, Slack slack = Slack::none)
      : graph_(graph), classes_(worker_classes(prices.cluster())), first_(graph.tasks.size()) {
    timed.duration.reserve(classes_.size() * graph.tasks.size());
    timed.edges.reserve(classes_.size() * (2 * graph.tasks.size() + graph.dependencies.size()));
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      first_[i] = static_cast<int>(timed.duration.size());
      const Work& work = graph.tasks[i].work;
      if (const auto* compute = std::get_if<ComputeWork>(&work)) {
        for (const WorkerClass& c : classes_) timed.duration.push_back(compute->duration.si() / c.speed);
      } else if (const auto* negotiation = std::get_if<NegotiationWork>(&work)) {
        timed.duration.insert(timed.duration.end(), classes_.size(), negotiation->time.si());
      } else if (const auto* serve = std::get_if<ServeWork>(&work)) {
        Seconds longest{};
        for (const Seconds time : serve->time) longest = std::max(longest, time);
        timed.duration.push_back(longest.si());
      } else {
        Seconds time = communication_price(work, graph, prices).total();
        if (const auto* collective = std::get_if<CollectiveWork>(&work); collective && slack != Slack::none)
          time += prices.slack(collective->call) * static_cast<double>(slack);
        timed.duration.push_back(time.si());
      }
    }
    for (std::size_t s = 0; s < graph.streams.size(); ++s) connect_stream(static_cast<StreamId>(s));
    // Dependencies for the first steps only do not affect the long run. The first step has no earlier step to wait for.
    for (const Dependency& d : graph.dependencies)
      if (!d.until) connect(d.before, d.after, d.lag);
  }

  [[nodiscard]] const std::vector<WorkerClass>& classes() const { return classes_; }
  [[nodiscard]] int vertex(std::size_t task, std::size_t cls) const {
    return first_[task] + (per_class(task) ? static_cast<int>(cls) : 0);
  }
  [[nodiscard]] std::size_t task_of(int vertex) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), vertex) - first_.begin()) - 1;
  }

  TimedEventGraph timed;

 private:
  [[nodiscard]] bool per_class(std::size_t task) const {
    if (classes_.size() == 1) return false;  // one vertex in any case
    const Work& work = graph_.tasks[task].work;
    return std::holds_alternative<ComputeWork>(work) || std::holds_alternative<NegotiationWork>(work);
  }

  void connect(TaskId before, TaskId after, int lag) {
    const auto b = static_cast<std::size_t>(before), a = static_cast<std::size_t>(after);
    const std::size_t copies = per_class(b) || per_class(a) ? classes_.size() : 1;
    for (std::size_t c = 0; c < copies; ++c) timed.edges.push_back({vertex(b, c), vertex(a, c), lag});
  }

  void connect_stream(StreamId stream) {
    TaskId first = -1, last = -1;
    for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
      if (graph_.tasks[i].worker_stream != stream && graph_.tasks[i].server_stream != stream) continue;
      if (first < 0) first = static_cast<TaskId>(i);
      else connect(last, static_cast<TaskId>(i), 0);
      last = static_cast<TaskId>(i);
    }
    if (first >= 0) connect(last, first, 1);
  }

  const StepGraph& graph_;
  std::vector<WorkerClass> classes_;
  std::vector<int> first_;
};

void refuse_asynchronous(const StepGraph& graph) {
  if (graph.asynchronous)
    throw ModelError(
        "equations cannot tell the step time of workers that do not wait for all others: the order of their messages depends on time; use --evaluator replay");
}

/// Names of the tasks in the cycle that take time, in order. Neighbours of one name are one.
std::vector<std::string> names_of(const CriticalCycle& cycle, const Unfolded& unfolded, const StepGraph& graph) {
  std::vector<std::string> names;
  for (const int v : cycle.vertices) {
    if (unfolded.timed.duration[v] <= 0.0) continue;
    std::string name = graph.tasks[unfolded.task_of(v)].name.text();
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

CostTerms communication_terms(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  const int workers = prices.cluster().workers;
  if (const auto* collective = std::get_if<CollectiveWork>(&work)) return cost_of(collective->call, workers);
  if (const auto* shards = std::get_if<ShardWork>(&work))
    return prices.shard_terms(shards->shard_bytes, graph.shards_co_located);
  if (const auto* neighbours = std::get_if<NeighbourWork>(&work))
    return neighbour_exchange_cost(neighbours->neighbours, neighbours->bytes, neighbours->added, workers);
  if (const auto* pair = std::get_if<PairWork>(&work)) {
    CostTerms terms;
    if (workers == 1) return terms;
    terms.add(Path::neighbour, 1, pair->bytes);
    terms.reduced = pair->added;
    // If all do equally many steps: two messages for each worker that chooses.
    const std::vector<bool> choose = choosing_ranks(pair->neighbours, pair->choosers, workers).value();
    terms.sent = pair->bytes * (2.0 * static_cast<double>(std::count(choose.begin(), choose.end(), true)) / workers);
    return terms;
  }
  if (const auto* transfer = std::get_if<ShardTransfer>(&work)) {  // the message of a single worker
    CostTerms terms;
    terms.add(Path::shard, 1, transfer->bytes);
    // The worker on a shard's own host sends nothing.
    if (transfer->exchange == ShardExchange::push)
      terms.sent = transfer->bytes * (graph.shards_co_located ? (workers - 1.0) / workers : 1.0);
    return terms;
  }
  return {};
}

PricedCost communication_price(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  if (std::holds_alternative<ShardTransfer>(work) || std::holds_alternative<ShardServe>(work) ||
      std::holds_alternative<ShardCopy>(work) || std::holds_alternative<PairWork>(work))
    refuse_asynchronous(graph);
  if (const auto* collective = std::get_if<CollectiveWork>(&work)) refuse_unpriced(collective->call, prices);
  return exchange_price(work, graph, prices);
}

StepForecast evaluate(const StepGraph& graph, const ClusterPrices& prices, CriticalNames names) {
  refuse_asynchronous(graph);
  const Unfolded unfolded(graph, prices);
  const TimedEventSolver solver(unfolded.timed);
  const CriticalCycle cycle = solver.critical_cycle();

  StepForecast forecast;
  forecast.step = Seconds(cycle.period / graph.local_steps);
  forecast.steady_state = "maximum cycle ratio of the step graph";
  forecast.critical_steps = cycle.lag;
  if (names == CriticalNames::listed) forecast.critical = names_of(cycle, unfolded, graph);
  const std::vector<double> first = solver.first_step();
  for (std::size_t v = 0; v < first.size(); ++v)
    forecast.first_step = std::max(
        forecast.first_step, Seconds(first[v] + unfolded.timed.duration[v]) / static_cast<double>(graph.local_steps));

  const auto start = solver.periodic_starts(cycle);
  const std::vector<WorkerKind> kinds = worker_kinds(prices.cluster());
  std::vector<Interval> timeline;
  timeline.reserve(graph.tasks.size());
  for (std::size_t c = 0; c < unfolded.classes().size(); ++c) {
    timeline.clear();
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      if (graph.tasks[i].worker_stream == kNoStream) continue;
      const auto v = static_cast<std::size_t>(unfolded.vertex(i, c));
      timeline.push_back(
          {graph.tasks[i].phase, start[v], start[v] + unfolded.timed.duration[v], graph.tasks[i].stack_share});
    }
    const Breakdown one = add({}, attribute(wrap(timeline, cycle.period), 0.0, cycle.period), 1.0 / graph.local_steps);
    const auto& [count, speed] = unfolded.classes()[c];
    forecast.breakdown = add(forecast.breakdown, one, static_cast<double>(count) / prices.cluster().workers);
    for (const WorkerKind& kind : kinds)
      if (kinds.size() > 1 && kind.speed == speed) forecast.kinds.push_back({kind.first, kind.count, one});
  }
  std::sort(forecast.kinds.begin(), forecast.kinds.end(),
            [](const KindBreakdown& a, const KindBreakdown& b) { return a.first < b.first; });
  return forecast;
}

StepRange step_range(const StepGraph& graph, const ClusterPrices& prices) {
  refuse_asynchronous(graph);
  const auto period = [&](Slack slack) {
    const Unfolded unfolded(graph, prices, slack);
    return Seconds(TimedEventSolver(unfolded.timed).critical_cycle().period / graph.local_steps);
  };
  const bool is_exact = std::all_of(graph.tasks.begin(), graph.tasks.end(), [&](const Task& task) {
    const auto* collective = std::get_if<CollectiveWork>(&task.work);
    if (collective) refuse_unpriced(collective->call, prices);
    return !collective || prices.slack(collective->call) == Seconds{};
  });
  if (is_exact) return {};
  return {period(Slack::least), period(Slack::none), period(Slack::most)};
}

StepForecast evaluate(const StepGraph& graph, const Cluster& cluster) { return evaluate(graph, CachedPrices(cluster)); }

CriticalTasks critical_tasks(const StepGraph& graph, const ClusterPrices& prices) {
  refuse_asynchronous(graph);
  const Unfolded unfolded(graph, prices);
  const CriticalCycle cycle = TimedEventSolver(unfolded.timed).critical_cycle();
  CriticalTasks critical;
  critical.steps = static_cast<double>(cycle.lag) * graph.local_steps;
  for (const int v : cycle.vertices) {
    const Task& task = graph.tasks[unfolded.task_of(v)];
    const Seconds time(unfolded.timed.duration[v]);
    if (time == Seconds{}) continue;
    const Seconds slowdown = std::holds_alternative<ComputeWork>(task.work) ? time * task.stack_share : Seconds{};
    critical.tasks.push_back({task.name.text(), task.phase, time, exchange_price(task.work, graph, prices), slowdown});
  }
  for (std::size_t s = 0; s < graph.streams.size(); ++s) {
    double busy = 0.0;
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      const Task& task = graph.tasks[i];
      // A push has a stream at each end. The worker's stream represents both.
      if (task.worker_stream != static_cast<StreamId>(s) &&
          (task.worker_stream != kNoStream || task.server_stream != static_cast<StreamId>(s)))
        continue;
      double longest = 0.0;
      for (std::size_t c = 0; c < unfolded.classes().size(); ++c)
        longest = std::max(longest, unfolded.timed.duration[unfolded.vertex(i, c)]);
      busy += longest;
    }
    if (busy > 0) critical.loads.push_back({graph.streams[s].name, Seconds(busy / graph.local_steps)});
  }
  return critical;
}

}  // namespace stepcast
