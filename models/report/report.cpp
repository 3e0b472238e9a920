#include "models/report/report.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/equation/evaluate.hpp"
#include "models/strategy/prices.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// What all communication tasks of a step amount to, were they alone.
struct ExchangeSummary {
  Bytes size{};
  Bytes sent{};
  std::optional<Seconds> time = Seconds{};  ///< empty where equations cannot tell
  std::set<std::string> algorithms;
  double bus_factor = 0.0;
};

double bus_factor(Operation operation, int p) {
  const double rest = static_cast<double>(p - 1) / p;
  switch (operation) {
    case Operation::all_reduce: return 2 * rest;
    case Operation::all_gather:
    case Operation::reduce_scatter: return rest;
    case Operation::broadcast: return 1.0;
  }
  return 1.0;
}

ExchangeSummary summarise(const StepGraph& graph, const Cluster& cluster) {
  ExchangeSummary all;
  for (const Task& task : graph.tasks) {
    if (task.phase != Phase::exchange) continue;
    const CostTerms terms = communication_terms(task.work, graph, cluster.workers);
    const auto* direct = std::get_if<DirectWork>(&task.work);
    const bool pull = direct && direct->pattern == DirectWork::Pattern::pull;
    if (!pull) all.sent += terms.sent;  // a worker receives what shards send
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      all.size += collective->call.bytes;
      all.algorithms.emplace(name_of(collective->call.algorithm->algorithm));
      all.bus_factor = bus_factor(collective->call.algorithm->operation, cluster.workers);
    } else if (direct && !pull) {
      for (const Bytes bytes : direct->shard_bytes) all.size += bytes;
    } else if (const auto* transfer = std::get_if<ShardTransfer>(&task.work); transfer && transfer->push) {
      all.size += transfer->bytes;
    }
    if (graph.asynchronous) all.time.reset();
    else *all.time += communication_price(task.work, graph, cluster).total();
  }
  return all;
}

}  // namespace

std::optional<double> Answers::difference() const {
  if (!equations || !replay) return {};
  return (replay->step - equations->step) / equations->step;
}

double throughput(const Scenario& scenario, const Workload& workload, Seconds step) {
  if (!scenario.workload || step <= Seconds{}) return 0.0;
  return static_cast<double>(scenario.cluster.workers) * workload.batch / step.si();
}

PointReport make_point_report(const StudyPoint& point, const Workload& workload, const StepGraph& graph, const Answers& answers, std::optional<double> baseline) {
  const Scenario& scenario = point.scenario;
  const StepForecast& forecast = answers.shown();
  const ExchangeSummary exchange = summarise(graph, scenario.cluster);

  PointReport report;
  report.coordinates = point.coordinates;
  report.workers = scenario.cluster.workers;
  std::visit([&](const auto& strategy) { report.strategy = strategy.kind; }, scenario.strategy);
  report.algorithm = fmt::format("{}", fmt::join(exchange.algorithms, "+"));
  report.answers = answers;
  report.message_size = exchange.size;
  report.sent_per_worker = exchange.sent;
  // A collective benchmark's step is its exchange, whoever evaluated it.
  const bool benchmark = std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const std::optional<Seconds> time = benchmark ? forecast.step : exchange.time;
  if (time && *time > Seconds{}) {
    report.algbw = exchange.size / *time;
    if (exchange.bus_factor > 0) report.busbw = *report.algbw * exchange.bus_factor;
  }
  if (scenario.workload) {
    report.samples_per_second = throughput(scenario, workload, forecast.step);
    const double alone = workload.batch / workload.compute().si();
    if (std::isfinite(alone)) {
      report.speedup = report.samples_per_second / baseline.value_or(alone);
      report.scaling_efficiency = report.samples_per_second / (report.workers * alone);
    }
  }
  report.bound = lower_bound(scenario, workload);
  report.gap = report.bound.step > Seconds{} ? forecast.step / report.bound.step - 1.0 : 0.0;

  if (answers.equations && !answers.replay && !prices_are_exact(scenario.cluster))
    report.notes.emplace_back("equations estimate this cluster from its slowest links and longest routes; replay simulates it");
  if (answers.replay && answers.replay->steady_state.starts_with("no period")) report.notes.push_back(answers.replay->steady_state);
  return report;
}

}  // namespace stepcast
