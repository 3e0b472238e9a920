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

void refuse_unpriced(const CollectiveCall& call, const ClusterPrices& prices) {
  if (std::isfinite(prices.slack(call).si()) || !routes_are_known(prices.cluster())) return;
  throw ModelError(fmt::format(
      "{} among {} workers has more than {:.0f} million unlike messages, which are not routed; fewer workers, or an "
      "algorithm with fewer (/strategy/collective/algorithm), can be answered",
      name_of(call.algorithm->algorithm), prices.cluster().workers, kMostRouted / 1e6));
}

/// The share of its slack that a collective adds to its price.
enum class Slack { least = -1, none = 0, most = 1 };

/// The times of a graph's vertices.
struct Times {
  std::vector<double> duration;     ///< by vertex
  std::vector<double> stack_share;  ///< by task, of its time
};

/// The time of a task that is neither a computation nor a negotiation.
Seconds joint_time(const Work& work, const PricedCost& price, const ClusterPrices& prices, Slack slack) {
  if (const auto* serve = std::get_if<ServeWork>(&work)) {
    Seconds longest{};
    for (const Seconds time : serve->time) longest = std::max(longest, time);
    return longest;
  }
  const auto* collective = std::get_if<CollectiveWork>(&work);
  if (!collective || slack == Slack::none) return price.total();
  return price.total() + prices.slack(collective->call) * static_cast<double>(slack);
}

Times times_of(const StepGraph& graph, const UnfoldedGraph& unfolded, const ClusterPrices& prices,
               Slack slack = Slack::none) {
  Times times{unfolded.own_times(), unfolded.own_stack_shares()};
  const bool has_stack = prices.cluster().stack != Stack{};
  for (const std::size_t i : unfolded.communication()) {
    const Task& task = graph.tasks[i];
    const auto vertex = static_cast<std::size_t>(unfolded.vertex(i, 0));
    if (const std::size_t like = unfolded.first_like(i); like != i) {
      times.duration[vertex] = times.duration[unfolded.vertex(like, 0)];
      times.stack_share[i] = times.stack_share[like];
      continue;
    }
    PricedCost price;
    if (!std::holds_alternative<NegotiationWork>(task.work)) {
      price = communication_price(task.work, graph, prices);
      times.duration[vertex] = joint_time(task.work, price, prices, slack).si();
    }
    if (has_stack && task.phase == Phase::exchange)
      times.stack_share[i] = stack_share(task.work, price, prices.cluster());
  }
  return times;
}

/// Names of the tasks in the cycle that take time, in order. Neighbours of one name are one.
std::vector<std::string> names_of(const CriticalCycle& cycle, const UnfoldedGraph& unfolded, const Times& times,
                                  const StepGraph& graph) {
  std::vector<std::string> names;
  for (const int v : cycle.vertices) {
    if (times.duration[v] <= 0.0) continue;
    std::string name = graph.tasks[unfolded.task_of(v)].name.text();
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

/// The end of the first step's last task.
Seconds first_step(const UnfoldedGraph& unfolded, const Times& times) {
  const std::vector<double> start = unfolded.solver().first_step(times.duration);
  double end = 0.0;
  for (std::size_t v = 0; v < start.size(); ++v) end = std::max(end, start[v] + times.duration[v]);
  return Seconds(end);
}

}  // namespace

void refuse_asynchronous(const StepGraph& graph) {
  if (graph.asynchronous)
    throw ModelError(
        "equations cannot tell the step time of workers that do not wait for all others: the order of their messages depends on time; use --evaluator replay");
}

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

StepForecast evaluate(const StepGraph& graph, const ClusterPrices& prices, Details details) {
  refuse_asynchronous(graph);
  return evaluate(graph, UnfoldedGraph(graph, prices.cluster()), prices, details);
}

StepForecast evaluate(const StepGraph& graph, const UnfoldedGraph& unfolded, const ClusterPrices& prices,
                      Details details) {
  refuse_asynchronous(graph);
  const Times times = times_of(graph, unfolded, prices);
  const TimedEventSolver::SteadyState steady(unfolded.solver(), times.duration);

  StepForecast forecast;
  forecast.step = Seconds(steady.period() / graph.local_steps);
  forecast.steady_state = "maximum cycle ratio of the step graph";
  forecast.critical_steps = steady.lag();
  if (details == Details::made) {
    forecast.critical = names_of(steady.critical_cycle(), unfolded, times, graph);
    forecast.first_step = first_step(unfolded, times) / static_cast<double>(graph.local_steps);
  }

  const std::vector<double> start = steady.starts();
  const std::vector<WorkerKind> kinds = worker_kinds(prices.cluster());
  std::vector<Interval> timeline;
  timeline.reserve(unfolded.workers_tasks().size());
  for (std::size_t c = 0; c < unfolded.classes().size(); ++c) {
    timeline.clear();
    for (const UnfoldedGraph::WorkersTask& of : unfolded.workers_tasks()) {
      const std::size_t v = of.vertex + c * of.to_next;
      timeline.push_back({of.phase, start[v], start[v] + times.duration[v], times.stack_share[of.task]});
    }
    const Breakdown one =
        add({}, attribute(wrap(timeline, steady.period()), 0.0, steady.period()), 1.0 / graph.local_steps);
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
  const auto period = [&](const UnfoldedGraph& unfolded, Slack slack) {
    const Times times = times_of(graph, unfolded, prices, slack);
    return Seconds(TimedEventSolver::SteadyState(unfolded.solver(), times.duration).period() / graph.local_steps);
  };
  const bool is_exact = std::all_of(graph.tasks.begin(), graph.tasks.end(), [&](const Task& task) {
    const auto* collective = std::get_if<CollectiveWork>(&task.work);
    if (collective) refuse_unpriced(collective->call, prices);
    return !collective || prices.slack(collective->call) == Seconds{};
  });
  if (is_exact) return {};
  const UnfoldedGraph unfolded(graph, prices.cluster());
  return {period(unfolded, Slack::least), period(unfolded, Slack::none), period(unfolded, Slack::most)};
}

StepForecast evaluate(const StepGraph& graph, const Cluster& cluster) { return evaluate(graph, CachedPrices(cluster)); }

CriticalTasks critical_tasks(const StepGraph& graph, const ClusterPrices& prices) {
  refuse_asynchronous(graph);
  const UnfoldedGraph unfolded(graph, prices.cluster());
  const Times times = times_of(graph, unfolded, prices);
  const CriticalCycle cycle = TimedEventSolver::SteadyState(unfolded.solver(), times.duration).critical_cycle();
  CriticalTasks critical;
  critical.steps = static_cast<double>(cycle.lag) * graph.local_steps;
  for (const int v : cycle.vertices) {
    const Task& task = graph.tasks[unfolded.task_of(v)];
    const Seconds time(times.duration[v]);
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
        longest = std::max(longest, times.duration[unfolded.vertex(i, c)]);
      busy += longest;
    }
    if (busy > 0) critical.loads.push_back({graph.streams[s].name, Seconds(busy / graph.local_steps)});
  }
  return critical;
}

}  // namespace stepcast
