#include "models/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/equation/evaluate.hpp"
#include "models/scenario/fault.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

double bus_factor(Operation operation, int p) {
  const double rest = static_cast<double>(p - 1) / p;
  switch (operation) {
    case Operation::all_reduce: return 2 * rest;
    case Operation::all_gather:
    case Operation::all_to_all:
    case Operation::reduce_scatter: return rest;
    case Operation::broadcast: return 1.0;
  }
  return 1.0;
}

std::string describe(const CollectiveCall& call) {
  const auto counted = [](int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); };
  const std::string_view name = name_of(call.algorithm->algorithm);
  const CollectiveParameters& parameters = call.parameters;
  if (call.algorithm->algorithm == Algorithm::hierarchical) {
    const std::string tree = parameters.between_groups == Algorithm::double_binary_tree ? ", " + counted(parameters.segments, "segment") : "";
    return fmt::format("{} (groups of {}, {} between{})", name, parameters.group_size, name_of(parameters.between_groups), tree);
  }
  if (call.algorithm->algorithm == Algorithm::multi_ring) return fmt::format("{} ({})", name, counted(parameters.rings, "ring"));
  if (call.algorithm->algorithm == Algorithm::double_binary_tree) return fmt::format("{} ({})", name, counted(parameters.segments, "segment"));
  return std::string(name);
}

/// Why the equations' answer may not be the replay's; empty where it is.
std::string why_estimate(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices) {
  const Cluster& cluster = scenario.cluster;
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  if (server && server->balance == ShardBalance::greedy && server->shards > 1) return "as if all shards were as late as the largest";
  const bool unlike_speeds = std::any_of(cluster.groups.begin(), cluster.groups.end(), [](const WorkerGroup& g) { return g.speed != 1.0; });
  if (server && unlike_speeds) return "as if all workers pushed at once";
  const auto pushes = std::count_if(graph.tasks.begin(), graph.tasks.end(), [](const Task& task) {
    const auto* direct = std::get_if<DirectWork>(&task.work);
    return direct && direct->pattern == DirectWork::Pattern::push;
  });
  if (server && shard_terms_are_exact(cluster, graph.shards, graph.shards_co_located, static_cast<int>(pushes))) return "";
  if (std::holds_alternative<GossipStrategy>(scenario.strategy)) return prices.neighbours_are_exact() ? "" : "as if all workers exchanged at once";
  if (prices_are_exact(cluster)) return "";

  bool by_paths = false, by_rounds = false;
  for (const Task& task : graph.tasks) {
    const auto* collective = std::get_if<CollectiveWork>(&task.work);
    if (collective && routes_are_priced(cluster, collective->call.algorithm->operation)) by_rounds |= !prices.is_exact(collective->call);
    else by_paths |= collective || std::holds_alternative<DirectWork>(task.work);
  }
  if (by_paths && has_inner_hops(cluster)) return "without the contention of messages on its inner links, and can be several times too fast";
  if (by_paths) return server ? "from its busiest links and longest routes" : "from its slowest links and longest routes";
  return by_rounds ? "as if all messages of a round had its longest route's latency" : "";
}

/// Whether nothing but queues tells some workers of asynchronous servers apart.
bool may_stay_in_step(const StepGraph& graph, const Cluster& cluster) {
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  return graph.asynchronous && cluster.jitter.cv == 0 && std::any_of(kinds.begin(), kinds.end(), [](const WorkerKind& kind) { return kind.count > 1; });
}

/// Notes where batch or dtype are not those that a table's times are for.
void add_given_times(const StudyPoint& point, std::vector<std::string>& notes) {
  const auto axis = [&](std::string_view name) {
    return std::any_of(point.coordinates.begin(), point.coordinates.end(), [&](const Coordinate& c) { return c.axis == name || c.axis.ends_with(fmt::format("/{}", name)); });
  };
  const auto add = [&](std::string note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  };
  for (const Scenario* scenario : questions_of(point)) {
    const auto& w = scenario->workload;
    if (!w || gives_shapes(*w) || std::holds_alternative<CollectiveBenchmark>(scenario->strategy)) continue;
    constexpr std::string_view kFollows = "only layer shapes with a profile follow it";
    if (w->timed_batch && *w->timed_batch != w->batch) add(fmt::format("the times of {} are those of batch {}, whatever the batch; {}", w->name, *w->timed_batch, kFollows));
    else if (!w->timed_batch && axis("batch")) add(fmt::format("the times of {} are as given, whatever the batch; {}", w->name, kFollows));
    if (w->timed_dtype && *w->timed_dtype != w->dtype) add(fmt::format("the compute times of {} are those of {}, whatever the dtype, which changes the gradients' bytes alone; {}", w->name, name_of(*w->timed_dtype), kFollows));
    else if (!w->timed_dtype && axis("dtype")) add(fmt::format("the compute times of {} are as given, whatever the dtype, which changes the gradients' bytes alone; {}", w->name, kFollows));
  }
}

}  // namespace

std::optional<double> Answers::difference() const {
  if (!equations || !replay) return {};
  if (replay->step == equations->step) return 0.0;  // also where both are 0
  return (replay->step - equations->step) / equations->step;
}

ExchangeSummary summarise(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices) {
  ExchangeSummary all;
  // Nobody asks of a replay how good the equations were.
  if (scenario.evaluation.evaluator != Evaluator::replay) all.estimate = why_estimate(scenario, graph, prices);
  for (const Task& task : graph.tasks) {
    if (task.phase != Phase::exchange) continue;
    const CostTerms terms = communication_terms(task.work, graph, prices);
    const auto* direct = std::get_if<DirectWork>(&task.work);
    const bool pull = direct && direct->pattern == DirectWork::Pattern::pull;
    if (!pull) all.sent += terms.sent;  // a worker receives what shards send
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      all.size += collective->call.bytes;
      all.algorithms.insert(describe(collective->call));
      all.operations.insert(collective->call.algorithm->operation);
    } else if (direct && !pull) {
      for (const Bytes bytes : direct->shard_bytes) all.size += bytes;
    } else if (const auto* transfer = std::get_if<ShardTransfer>(&task.work); transfer && transfer->push) {
      all.size += transfer->bytes;
    }
    // Of a platform file's links nothing is known here.
    if (graph.asynchronous || std::holds_alternative<SimGridXml>(prices.cluster().topology)) all.time.reset();
    else *all.time += communication_price(task.work, graph, prices).total();
  }
  const double share = 1.0 / graph.local_steps;
  all.size *= share;
  all.sent *= share;
  if (all.time) *all.time *= share;
  return all;
}

std::string default_baseline(const std::vector<StudyPoint>& points) {
  bool networks = false, batches = false, accumulations = false;
  std::set<const WorkloadTable*> seen;
  const WorkloadTable* first = nullptr;
  for (const StudyPoint& point : points) {
    const WorkloadTable* table = point.scenario.workload.get();
    if (!table || !seen.insert(table).second) continue;
    if (!first) first = table;
    WorkloadTable alike = *table;
    alike.batch = first->batch;
    alike.accumulation = first->accumulation;
    alike.timed_batch = first->timed_batch;
    networks |= alike != *first;
    batches |= table->batch != first->batch;
    accumulations |= table->accumulation != first->accumulation;
  }
  std::string whose;
  if (networks) whose = ", each row's own network";
  else if (batches || accumulations) whose = fmt::format(", at each row's own {}{}{}", batches ? "batch" : "", batches && accumulations ? " and " : "", accumulations ? "accumulation" : "");
  return "one worker computing alone" + whose;
}

double throughput(const Scenario& scenario, const Workload& workload, Seconds step) {
  const bool trains = scenario.workload && !std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  if (!trains || step <= Seconds{}) return 0.0;
  return static_cast<double>(scenario.cluster.workers) * static_cast<double>(workload.samples()) / step.si();
}

PointReport make_point_report(const StudyPoint& point, const std::vector<Answered>& answered) {
  const Scenario& scenario = point.scenario;
  const auto& [workload, graph, answers, exchange, timing_notes] = answered.front();
  const std::size_t baseline_at = 1 + point.phases.size();
  std::optional<double> baseline;
  if (point.baseline) baseline = throughput(*point.baseline, answered[baseline_at].workload, answered[baseline_at].answers.shown().step);
  const StepForecast& forecast = answers.shown();

  PointReport report;
  report.coordinates = point.coordinates;
  report.workers = scenario.cluster.workers;
  std::visit([&](const auto& strategy) { report.strategy = strategy.kind; }, scenario.strategy);
  report.algorithm = fmt::format("{}", fmt::join(exchange.algorithms, "+"));
  report.answers = answers;
  report.compressor = compressors()[scenario.compressor.index()].kind;
  report.payload = graph.payload / static_cast<double>(graph.local_steps);
  report.message_size = exchange.size;
  report.sent_per_worker = exchange.sent;
  // A collective benchmark's step is its exchange, whoever evaluated it.
  const bool benchmark = std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const std::optional<Seconds> time = benchmark ? forecast.step : exchange.time;
  if (time && *time > Seconds{}) {
    report.algbw = exchange.size / *time;
    // A bus factor belongs to one operation.
    if (exchange.operations.size() == 1) report.busbw = *report.algbw * bus_factor(*exchange.operations.begin(), scenario.cluster.workers);
  }
  const bool trains = scenario.workload && !benchmark;
  if (trains) {
    report.samples_per_second = throughput(scenario, workload, forecast.step);
    const double alone = static_cast<double>(workload.samples()) / workload.compute().si();
    if (baseline && *baseline > 0) report.speedup = report.samples_per_second / *baseline;
    if (std::isfinite(alone)) {
      if (!baseline) report.speedup = report.samples_per_second / alone;
      report.scaling_efficiency = report.samples_per_second / (worker_speeds(scenario.cluster).sum * alone);
    }
  }
  const std::vector<WorkerKind> kinds = worker_kinds(scenario.cluster);
  for (std::size_t i = 0; i < forecast.kinds.size(); ++i) report.kinds.push_back({kinds[i], forecast.kinds[i].breakdown});
  report.bound = lower_bound(scenario, workload, graph);
  report.gap = report.bound.communication && report.bound.step > Seconds{} ? forecast.step / report.bound.step - 1.0 : 0.0;

  if (scenario.run) {
    const auto run_of = [&](const Scenario& whole, const std::vector<Scenario>& phases, std::size_t first) {
      std::vector<PhaseStep> steps;
      for (std::size_t i = 0; i < phases.size(); ++i)
        steps.push_back({answered[first + i].answers.shown().step, std::int64_t{phases[i].cluster.workers} * answered[first + i].workload.samples()});
      return make_run_report(*whole.run, steps, phases.back());
    };
    report.run = run_of(scenario, point.phases, 1);
    if (point.baseline && point.baseline->run) report.run->speedup = run_of(*point.baseline, point.baseline_phases, baseline_at + 1).time / report.run->time;
  }

  if (has_spread(scenario) && graph.asynchronous) {
    report.notes.push_back("no error band: it needs the equations, which cannot evaluate asynchronous servers");
  } else if (has_spread(scenario)) {
    try {
      // A band without width would read as certainty: nothing that takes time here has a spread.
      const Seconds stated = answers.equations ? answers.equations->step : evaluate(graph, scenario.cluster).step;
      if (const Band band = band_of(scenario, stated, forecast.step); band.low < band.high) report.band = band;
    } catch (const ModelError& error) {
      report.notes.push_back(fmt::format("no error band: {}", error.what()));
    }
  }

  report.tolerance = scenario.evaluation.tolerance;
  if (answers.equations) report.estimate = exchange.estimate;
  if (!report.estimate.empty()) report.notes.push_back(fmt::format("the equations are an estimate here, {}; the replay is not", report.estimate));
  add_given_times(point, report.notes);
  if (scenario.cluster.jitter.cv > 0 && forecast.distribution && report.bound.step > Seconds{}) {
    // Factors are independent with coefficient of variation cv, one for each micro-batch, so the mean of N has cv/sqrt(N).
    const double steps = static_cast<double>(forecast.distribution->samples) / scenario.cluster.workers * graph.draws();
    report.notes.push_back(fmt::format("with jitter, bound, speedup and efficiency are for mean compute times; the sampled mean of a worker's lies beside it by a standard error of {:.1g} %, so a step may take less than its bound",
                                       100 * scenario.cluster.jitter.cv / std::sqrt(steps)));
  }
  if (trains && workload.accumulation > 1)
    report.notes.push_back(fmt::format("with accumulation {} a step is {} passes of batch {}: {} samples a worker", workload.accumulation, workload.accumulation, workload.batch, workload.samples()));
  if (graph.local_steps > 1) report.notes.push_back("with local SGD, times and bytes of a step are means over the steps from one exchange to the next");
  if (!graph.assumed.empty()) report.notes.push_back(fmt::format("payload of {} assumed: {}", report.compressor, graph.assumed));
  if (answers.replay && answers.replay->steady_state.starts_with("no period")) report.notes.push_back(answers.replay->steady_state);
  if (may_stay_in_step(graph, scenario.cluster))
    report.notes.push_back("workers that are alike and without jitter may stay in step, all pushing at once; with /cluster/jitter, of a cv of 0.01 even, they spread as real ones do");
  if (trains)
    report.notes.insert(report.notes.end(), timing_notes.begin(), timing_notes.end());
  return report;
}

}  // namespace stepcast
