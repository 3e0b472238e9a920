#include "models/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/equation/exactness.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_prices.hpp"
#include "models/report/hosting_cost.hpp"
#include "models/report/point_notes.hpp"
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

/// Which workers a call is among, where not all.
std::string scope_of(const Communicators& among) {
  if (among.is_one()) return "";
  return among.stride == 1 ? fmt::format(" inside groups of {}", among.members)
                           : fmt::format(" between {} groups", among.members);
}

bool has_segments(const CollectiveCall& call) {
  const Algorithm pipelined =
      call.algorithm->algorithm == Algorithm::hierarchical ? call.parameters.between_groups : call.algorithm->algorithm;
  return pipelined == Algorithm::double_binary_tree || pipelined == Algorithm::nccl_tree;
}

/// Of halving-doubling, where it is not the usual one.
std::string_view order_of(const CollectiveParameters& parameters) {
  return parameters.exchange_order == ExchangeOrder::near_first ? std::string_view{} : name_of(parameters.exchange_order);
}

/// The call's algorithm with its parameters; "{}" stands for the number of segments.
std::string describe(const CollectiveCall& call) {
  const std::string_view name = name_of(call.algorithm->algorithm);
  const std::string scope = scope_of(call.among);
  const CollectiveParameters& parameters = call.parameters;
  switch (call.algorithm->algorithm) {
    case Algorithm::hierarchical:
      return fmt::format("{} (groups of {}, {}{}{} between{}){}", name, parameters.group_size,
                         name_of(parameters.between_groups), order_of(parameters).empty() ? "" : " ",
                         order_of(parameters), has_segments(call) ? ", {}" : "", scope);
    case Algorithm::halving_doubling:
      if (order_of(parameters).empty()) return fmt::format("{}{}", name, scope);
      return fmt::format("{} ({}){}", name, order_of(parameters), scope);
    case Algorithm::double_binary_tree: return fmt::format("{} ({{}}){}", name, scope);
    case Algorithm::nccl_tree:
      return fmt::format("{} ({} pair{} of trees, {{}}){}", name, parameters.rings, parameters.rings == 1 ? "" : "s",
                         scope);
    case Algorithm::multi_ring:
      return fmt::format("{} ({} ring{}){}", name, parameters.rings, parameters.rings == 1 ? "" : "s", scope);
    default: return fmt::format("{}{}", name, scope);
  }
}

/// Calls that differ in their segments and protocols only are one.
void add_algorithm(const CollectiveCall& call, const Cluster& cluster,
                   std::map<std::string, AlgorithmUse>& algorithms) {
  AlgorithmUse& use = algorithms[describe(call)];
  if (has_segments(call)) use.segments.add(call.parameters.segments);
  if (!cluster.protocols.empty() && call.among.size(cluster.workers) > 1)
    use.protocols[call.protocol] = cluster.protocols[static_cast<std::size_t>(call.protocol)].name;
}

/// "ring+double-binary-tree (2 to 7 segments) by LL and Simple"
std::string text_of(const std::map<std::string, AlgorithmUse>& algorithms) {
  std::vector<std::string> all;
  for (const auto& [text, use] : algorithms) {
    all.push_back(text);
    if (use.segments.ends) {
      const auto [least, most] = *use.segments.ends;
      all.back().replace(text.find("{}"), 2,
                         least == most ? fmt::format("{} segment{}", most, most == 1 ? "" : "s")
                                       : fmt::format("{} to {} segments", least, most));
    }
    std::vector<std::string> protocols;
    for (const auto& [number, name] : use.protocols) protocols.push_back(name);
    if (!protocols.empty()) all.back() += fmt::format(" by {}", fmt::join(protocols, " and "));
  }
  return fmt::format("{}", fmt::join(all, "+"));
}

}  // namespace

namespace {

/// A platform file's links are not known here, nor what rounds of too many messages take.
bool can_be_priced(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  if (graph.asynchronous || std::holds_alternative<SimGridXml>(prices.cluster().topology)) return false;
  const auto* collective = std::get_if<CollectiveWork>(&work);
  return !collective || std::isfinite(prices.slack(collective->call).si());
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
  if (scenario.evaluation.evaluator != Evaluator::replay && only_replayed(scenario).empty())
    all.estimate = text_of(exactness_of(scenario, graph, prices));
  for (const Task& task : graph.tasks) {
    if (task.phase != Phase::exchange) continue;
    const CostTerms terms = communication_terms(task.work, graph, prices);
    const auto* shards = std::get_if<ShardWork>(&task.work);
    const bool pull = shards && shards->exchange == ShardExchange::pull;
    if (!pull) all.sent += terms.sent;  // a worker receives what shards send
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      all.size += collective->call.bytes;
      add_algorithm(collective->call, prices.cluster(), all.algorithms);
      all.operations.insert(collective->call.algorithm->operation);
    } else if (const auto* neighbours = std::get_if<NeighbourWork>(&task.work)) {
      all.size += neighbours->bytes;
    } else if (shards && !pull) {
      for (const Bytes bytes : shards->shard_bytes) all.size += bytes;
    } else if (const auto* transfer = std::get_if<ShardTransfer>(&task.work);
               transfer && transfer->exchange == ShardExchange::push) {
      all.size += transfer->bytes;
    }
    if (all.time && can_be_priced(task.work, graph, prices))
      *all.time += communication_price(task.work, graph, prices).total();
    else
      all.time.reset();
  }
  const double share = 1.0 / graph.local_steps;
  all.size *= share;
  all.sent *= share;
  if (all.time) *all.time *= share;
  return all;
}

std::string default_baseline(const std::vector<StudyPoint>& points) {
  bool networks = false, batches = false, accumulations = false, recomputations = false;
  std::set<const WorkloadTable*> seen;
  const WorkloadTable* first = nullptr;
  for (const StudyPoint& point : points) {
    const WorkloadTable* table = point.scenario.workload.get();
    if (!table || !seen.insert(table).second) continue;
    if (!first) first = table;
    WorkloadTable alike = *table;
    alike.batch = first->batch;
    alike.accumulation = first->accumulation;
    alike.global_batch = first->global_batch;
    alike.timed_batch = first->timed_batch;
    alike.recomputation = first->recomputation;
    alike.recomputed_share = first->recomputed_share;
    networks |= alike != *first;
    batches |= table->batch != first->batch;
    accumulations |= table->accumulation != first->accumulation;
    recomputations |= std::pair(table->recomputation, table->recomputed_share) !=
                      std::pair(first->recomputation, first->recomputed_share);
  }
  std::vector<std::string_view> own;
  if (batches) own.emplace_back("batch");
  if (accumulations) own.emplace_back("accumulation");
  if (recomputations) own.emplace_back("recomputation");
  std::string whose;
  if (networks) whose = ", each row's own network";
  else if (!own.empty())
    whose = fmt::format(", at each row's own {}{}{}", fmt::join(own.begin(), own.end() - 1, ", "),
                        own.size() > 1 ? " and " : "", own.back());
  return "one worker computing alone" + whose;
}

std::string baseline_of(const std::vector<StudyPoint>& points) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  };
  const auto gives_one = [](const StudyPoint& point) { return point.scenario.baseline.has_value(); };
  for (const StudyPoint& point : points)
    if (gives_one(point)) add(point.scenario.baseline->name);
  if (!std::all_of(points.begin(), points.end(), gives_one) || points.empty()) add(default_baseline(points));
  return names.size() > 1 ? fmt::format("each row's own of {}", fmt::join(names, "; ")) : names.front();
}

double throughput(const Scenario& scenario, const Workload& workload, Seconds step) {
  if (!trains(scenario) || step <= Seconds{}) return 0.0;
  return static_cast<double>(scenario.cluster.workers) * static_cast<double>(workload.samples()) / step.si();
}

namespace {

/// Bandwidths of the exchange on its own; a benchmark's step is its exchange, whoever evaluated it.
void add_bandwidths(const Scenario& scenario, const Answered& own, PointReport& report) {
  const bool benchmark = std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const std::optional<Seconds> time = benchmark ? own.answers.shown().step : own.exchange.time;
  if (!time || *time <= Seconds{}) return;
  report.algbw = own.exchange.size / *time;
  // A bus factor belongs to one operation.
  if (own.exchange.operations.size() == 1)
    report.busbw = *report.algbw * bus_factor(*own.exchange.operations.begin(), scenario.cluster.workers);
}

/// Throughput and what it is compared with.
/// @param baseline  throughput; empty: that of one worker of speed 1 computing alone
void add_throughput(const Scenario& scenario, const Answered& own, std::optional<double> baseline,
                    PointReport& report) {
  report.samples_per_second = throughput(scenario, own.workload, own.answers.shown().step);
  if (const auto& transformer = scenario.workload->transformer)
    report.tokens_per_worker =
        report.samples_per_second * static_cast<double>(transformer->sequence) / scenario.cluster.workers;
  if (const auto& profile = scenario.workload->profile; profile && own.workload.model_flops)
    if (const PeakRate* peak = find_peak(*profile, compute_dtype_of(*scenario.workload)))
      report.mfu = report.samples_per_second / scenario.cluster.workers * (*own.workload.model_flops / peak->rate).si();
  if (report.samples_per_second > 0)
    report.cost_per_million = cost_of(scenario, Seconds(1e6 / report.samples_per_second));
  const double alone = static_cast<double>(own.workload.samples()) / own.workload.compute().si();
  if (baseline && *baseline > 0) report.speedup = report.samples_per_second / *baseline;
  if (!std::isfinite(alone)) return;
  if (!baseline) report.speedup = report.samples_per_second / alone;
  report.scaling_efficiency = report.samples_per_second / (worker_speeds(scenario.cluster).sum * alone);
}

struct Fullest {
  WorkerMemory memory;
  const DeviceProfile* device = nullptr;  ///< null where no profile is known
  std::string phase;                      ///< of a run; else empty
};

/// Of the scenario, or of the phase of its run that needs most.
Fullest fullest(const StudyPoint& point, const std::vector<Answered>& answered) {
  const auto device_of = [](const Scenario& scenario) {
    return scenario.workload->profile ? &*scenario.workload->profile : nullptr;
  };
  if (point.phases.empty())
    return {worker_memory(point.scenario, answered.front().workload), device_of(point.scenario), ""};
  Fullest most;
  for (std::size_t i = 0; i < point.phases.size(); ++i)
    if (const WorkerMemory memory = worker_memory(point.phases[i], answered[1 + i].workload);
        memory.total() > most.memory.total())
      most = {memory, device_of(point.phases[i]), point.phases.size() > 1 ? point.scenario.run->phases[i].name : ""};
  return most;
}

/// @param answered  the answers to `phases`
RunReport run_of(const Scenario& whole, const std::vector<Scenario>& phases, const Answered* answered) {
  std::vector<PhaseStep> steps;
  for (const Scenario& phase : phases) {
    // A data set in tokens is as long whatever the phase's sequences are.
    const std::int64_t each = whole.run->tokens ? phase.workload->transformer->sequence : 1;
    steps.push_back(
        {answered->answers.shown().step, std::int64_t{phase.cluster.workers} * answered->workload.samples() * each});
    ++answered;
  }
  RunReport report = make_run_report(*whole.run, steps, phases.back());
  report.cost = 0.0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto cost = cost_of(phases[i], report.phases[i].time);
    report.cost = cost && report.cost ? std::optional(*report.cost + *cost) : std::nullopt;
  }
  return report;
}

/// The band of the profile's spread, or a note why there is none.
void add_band(const Scenario& scenario, const Answered& own, PointReport& report) {
  if (!has_spread(scenario)) return;
  if (own.graph.asynchronous)
    return report.notes.push_back(
        {NoteCode::no_error_band, "no error band: it needs the equations, which cannot evaluate asynchronous servers"});
  try {
    const Seconds stated =
        own.answers.equations ? own.answers.equations->step : evaluate(own.graph, scenario.cluster).step;
    // A band without width would read as certainty: nothing that takes time here has a spread.
    if (const Band band = band_of(scenario, stated, own.answers.shown().step); band.low < band.high) report.band = band;
  } catch (const ModelError& error) {
    report.notes.push_back({NoteCode::no_error_band, fmt::format("no error band: {}", error.what())});
  }
}

}  // namespace

PointReport make_point_report(const StudyPoint& point, const std::vector<Answered>& answered) {
  const Scenario& scenario = point.scenario;
  const Answered& own = answered.front();
  const std::size_t baseline_at = 1 + point.phases.size();
  const StepForecast& forecast = own.answers.shown();

  PointReport report;
  report.coordinates = point.coordinates;
  report.evaluator = scenario.evaluation.evaluator;
  report.workers = scenario.cluster.workers;
  std::visit([&](const auto& strategy) { report.strategy = strategy.kind; }, scenario.strategy);
  report.algorithm = text_of(own.exchange.algorithms);
  report.answers = own.answers;
  report.compressor = compressors()[scenario.compressor.index()].kind;
  report.payload = own.graph.payload / static_cast<double>(own.graph.local_steps);
  report.message_size = own.exchange.size;
  report.sent_per_worker = own.exchange.sent;
  add_bandwidths(scenario, own, report);
  if (trains(scenario)) {
    std::optional<double> baseline;
    if (point.baseline)
      baseline =
          throughput(*point.baseline, answered[baseline_at].workload, answered[baseline_at].answers.shown().step);
    add_throughput(scenario, own, baseline, report);
    report.global_batch = scenario.workload->global_batch;
    report.batch = own.workload.batch;
    report.accumulation = own.workload.accumulation;
    report.recomputes = scenario.workload->recomputation != Recomputation::none;
    const auto [memory, device, phase] = fullest(point, answered);
    report.memory = memory;
    if (device && device->memory) report.memory_share = memory.total() / device->memory->value;
    if (report.memory_share.value_or(0) > 1)
      report.lacks_memory =
          fmt::format("{}model state of {}{} is more than the {} of {}",
                      phase.empty() ? "" : fmt::format("in phase {}: ", phase), human_text(memory.model()),
                      memory.activations ? fmt::format(" and activations of {}", human_text(*memory.activations)) : "",
                      human_text(device->memory->value), device->name);
  }
  const std::vector<WorkerKind> kinds = worker_kinds(scenario.cluster);
  for (std::size_t i = 0; i < forecast.kinds.size(); ++i)
    report.kinds.push_back({kinds[i], forecast.kinds[i].breakdown});
  report.bound = lower_bound(scenario, own.workload, own.graph);
  report.gap =
      report.bound.communication && report.bound.step > Seconds{} ? forecast.step / report.bound.step - 1.0 : 0.0;
  if (scenario.run) {
    report.run = run_of(scenario, point.phases, &answered[1]);
    if (point.baseline && point.baseline->run)
      report.run->speedup =
          run_of(*point.baseline, point.baseline_phases, &answered[baseline_at + 1]).time / report.run->time;
  }
  report.tolerance = scenario.evaluation.tolerance;
  if (own.answers.equations) report.estimate = own.exchange.estimate;
  add_band(scenario, own, report);
  add_notes(point, own, report);
  return report;
}

}  // namespace stepcast
