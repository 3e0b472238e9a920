#include "models/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/report/hosting_cost.hpp"
#include "models/report/point_notes.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/island_steps.hpp"
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

}  // namespace

std::optional<double> Answers::difference() const {
  if (!equations || !replay) return {};
  if (replay->step == equations->step) return 0.0;  // also where both are 0
  return (replay->step - equations->step) / equations->step;
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
  else if (!own.empty()) whose = fmt::format(", at each row's own {}", enumerated(own));
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
  const int workers = workers_of_update(scenario.strategy, scenario.cluster.workers);
  return static_cast<double>(workers) * static_cast<double>(workload.samples()) / step.si();
}

namespace {

/// Bandwidths of the exchange alone. A benchmark's step is its exchange, by either evaluator.
void add_bandwidths(const Scenario& scenario, const ExchangeSummary& exchange, PointReport& report) {
  const bool benchmark = std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const std::optional<Seconds> time = benchmark ? report.answers.shown().step : exchange.time;
  if (!time || *time <= Seconds{}) return;
  report.algbw = exchange.size / *time;
  // A bus factor belongs to one operation.
  if (exchange.operations.size() == 1)
    report.busbw = *report.algbw * bus_factor(*exchange.operations.begin(), scenario.cluster.workers);
}

/// Throughput and its ratios to others.
/// @param baseline  throughput; empty: that of one worker of speed 1 computing alone
void add_throughput(const Scenario& scenario, const Answered& own, std::optional<double> baseline,
                    PointReport& report) {
  report.samples_per_second = throughput(scenario, own.workload, own.answers.shown().step);
  if (const auto& transformer = scenario.workload->transformer)
    report.tokens_per_worker =
        report.samples_per_second * static_cast<double>(transformer->sequence) / scenario.cluster.workers;
  if (const auto& profile = scenario.workload->profile; profile && own.workload.model_flops)
    if (const PeakRate* peak = find_peak(*profile, compute_dtype_of(*scenario.workload)))
      report.mfu = report.samples_per_second / scenario.cluster.workers / scenario.cluster.gpus_per_worker *
                   (*own.workload.model_flops / peak->rate).si();
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
  const DeviceProfile* device = nullptr;  ///< null without a known profile
  std::string phase;                      ///< of a run with several; else empty
};

/// The memory of the scenario, or of the phase of its run that needs most.
Fullest fullest(const StudyPoint& point, const AnsweredPoint& answered) {
  const auto device_of = [](const Scenario& scenario) {
    return scenario.workload->profile ? &*scenario.workload->profile : nullptr;
  };
  if (point.phases.empty())
    return {answered.memory ? *answered.memory : worker_memory(point.scenario, answered.own.workload),
            device_of(point.scenario), ""};
  Fullest most;
  for (std::size_t i = 0; i < point.phases.size(); ++i)
    if (const WorkerMemory memory = worker_memory(point.phases[i], answered.phases[i].workload);
        memory.total() > most.memory.total())
      most = {memory, device_of(point.phases[i]), point.phases.size() > 1 ? point.scenario.run->phases[i].name : ""};
  return most;
}

/// @param answered  the answers to `phases`
RunReport run_of(const Scenario& whole, std::span<const Scenario> phases, const std::vector<Answered>& answered) {
  std::vector<PhaseStep> steps;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Scenario& phase = phases[i];
    // The length of a data set in tokens does not depend on a phase's sequences.
    const std::int64_t each = whole.run->tokens ? phase.workload->transformer->sequence : 1;
    steps.push_back({answered[i].answers.shown().step,
                     workers_of_update(phase.strategy, phase.cluster.workers) * answered[i].workload.samples() * each});
  }
  RunReport report = make_run_report(*whole.run, steps, phases.back());
  report.cost = 0.0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto cost = cost_of(phases[i], report.phases[i].time);
    report.cost = cost && report.cost ? std::optional(*report.cost + *cost) : std::nullopt;
  }
  return report;
}

}  // namespace

PointReport make_point_report(const StudyPoint& point, const AnsweredPoint& answered) {
  const Scenario& scenario = point.scenario;
  const Answered& own = answered.own;
  const StepForecast& forecast = own.answers.shown();

  PointReport report;
  report.coordinates = point.coordinates;
  report.evaluator = scenario.evaluation.evaluator;
  report.workers = scenario.cluster.workers;
  report.strategy = kind_of(scenario.strategy);
  report.algorithm = text_of(answered.exchange.algorithms);
  report.answers = own.answers;
  report.compressor = compressor_text(scenario);
  report.payload = answered.graph.payload / static_cast<double>(answered.graph.local_steps);
  report.message_size = answered.exchange.size;
  report.sent_per_worker = answered.exchange.sent;
  add_bandwidths(scenario, answered.exchange, report);
  if (trains(scenario)) {
    std::optional<double> baseline;
    if (point.baseline())
      baseline = throughput(*point.baseline(), answered.baseline->workload, answered.baseline->answers.shown().step);
    add_throughput(scenario, own, baseline, report);
    report.global_batch = scenario.workload->global_batch;
    report.batch = own.workload.batch;
    report.accumulation = own.workload.accumulation;
    report.shares_state = sharded_step(scenario.strategy).has_value();
    report.recomputes = scenario.workload->recomputation != Recomputation::none;
    const auto [memory, device, phase] = fullest(point, answered);
    report.memory = memory;
    const int gpus = scenario.cluster.gpus_per_worker;
    if (device && device->memory) report.memory_share = memory.total() / (device->memory->value * gpus);
    if (report.memory_share.value_or(0) > 1)
      report.lacks_memory =
          fmt::format("{}model state of {}{} is more than the {} of {}",
                      phase.empty() ? "" : fmt::format("in phase {}: ", phase), human_text(memory.model()),
                      memory.activations ? fmt::format(" and activations of {}", human_text(*memory.activations)) : "",
                      human_text(device->memory->value * gpus),
                      gpus == 1 ? device->name : fmt::format("{} of {}", gpus, device->name));
  }
  const std::vector<WorkerKind> kinds = worker_kinds(scenario.cluster);
  for (std::size_t i = 0; i < forecast.kinds.size(); ++i)
    report.kinds.push_back({kinds[i], forecast.kinds[i].breakdown});
  // A note on jitter tells whether there is one.
  if (answered.details == Details::made || forecast.distribution)
    report.bound = lower_bound(scenario, own.workload, answered.graph);
  report.gap =
      report.bound.communication && report.bound.step > Seconds{} ? forecast.step / report.bound.step - 1.0 : 0.0;
  if (scenario.run) {
    report.run = run_of(scenario, point.phases, answered.phases);
    if (point.baseline() && point.baseline()->run)
      report.run->speedup =
          run_of(*point.baseline(), point.phases_of_baseline(), answered.baseline_phases).time / report.run->time;
  }
  report.tolerance = scenario.evaluation.tolerance;
  if (own.answers.equations) report.estimate = answered.exchange.estimate;
  report.band = answered.band.band;
  if (!answered.band.why_none.empty())
    report.notes.push_back({NoteCode::no_error_band, fmt::format("no error band: {}", answered.band.why_none)});
  add_notes(point, answered, report);
  return report;
}

}  // namespace stepcast
