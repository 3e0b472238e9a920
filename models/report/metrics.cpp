#include "models/report/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/describe.hpp"
#include "models/report/axis_columns.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

using P = const PointReport&;

template <class T>
Cell cell_of(const T& value) {
  if constexpr (IsOptional<T>::value) return value ? cell_of(*value) : Cell();
  else if constexpr (IsQuantity<T>::value) return value.si();
  else return value;
}
/// Empty for a value of zero.
template <class T>
Cell if_any(const T& value) {
  return value > T{} ? cell_of(value) : Cell();
}
Cell if_any(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

/// A member of the whole run's report.
template <class T>
Cell of_run(P p, T RunReport::*member) {
  return p.run ? cell_of((*p.run).*member) : Cell();
}

const std::optional<Distribution>& jitter_of(P p) { return p.answers.shown().distribution; }
Cell of_jitter(P p, Seconds Distribution::*member) { return jitter_of(p) ? cell_of((*jitter_of(p)).*member) : Cell(); }

std::vector<PhaseCell> phases_of(const RunReport& run) {
  std::vector<PhaseCell> phases;
  for (const PhaseReport& phase : run.phases)
    phases.push_back(
        {phase.name, phase.epochs, phase.steps_per_epoch, phase.step.si(), phase.before.si(), phase.time.si()});
  return phases;
}

std::string between(Seconds low, Seconds high) { return fmt::format("{} .. {}", human_text(low), human_text(high)); }

std::string memory_cell(P p) {
  if (!p.memory) return "-";
  return fmt::format("{}{}{}", p.memory->activations ? "" : "over ", human_text(p.memory->total()),
                     p.lacks_memory.empty() ? "" : " !");
}

/// As a share of the step.
std::string share_of_step(P p, Seconds part) { return share(part, p.answers.shown().step); }
const Breakdown& breakdown_of(P p) { return p.answers.shown().breakdown; }

bool only_moves_bytes(P p) { return !is_trained(p) && p.algbw.has_value(); }
/// An algorithm axis shows it already, unless it says "auto" or leaves parameters open.
bool is_algorithm_news(P p) { return !p.algorithm.empty() && p.algorithm != value_on(p.coordinates, "algorithm"); }
/// Shown for points that shard or recompute to save memory, and for devices that are more than half full.
bool is_memory_news(P p) { return p.shares_state || p.recomputes || p.memory_share.value_or(0) > 0.5; }

/// Rounding is none: only a difference above its tolerance is shown.
bool is_difference_news(P p) {
  const std::optional<double> difference = p.answers.difference();
  return difference && std::abs(*difference) > p.tolerance;
}

constexpr Better kLess = Better::less;

// clang-format off
/// {name, meaning, unit, value, {goal, title, better, score, may_lack_memory}, {head, asked, cell, weight, mark}, measured}
std::vector<Metric> before_breakdown() {
  return {
      {"workers", "number of workers", &kCount, [](P p) { return Cell(std::int64_t{p.workers}); }, {}, {"workers", nullptr, nullptr, 9}},
      {"strategy", "how gradients are exchanged", &kText, [](P p) { return Cell(p.strategy); }},
      {"collective_algorithm", "algorithm of its collectives, with parameters that were decided", &kText,
       [](P p) { return if_any(p.algorithm); }, {}, {"algorithm", is_algorithm_news}},
      {"compressor", "how gradients are compressed", &kText, [](P p) { return Cell(p.compressor); }},
      {"batch", "samples of a worker's pass", &kCount, [](P p) { return if_any(p.batch); }},
      {"accumulation", "passes of a worker in a step", &kCount, [](P p) { return if_any(std::int64_t{p.accumulation}); }},
      {"", "accumulation and batch: a worker's part of a global batch", {}, {}, {},
       {"passes", [](P p) { return p.global_batch.has_value(); }, [](P p) { return fmt::format("{} x {}", p.accumulation, p.batch); }, 2}},
      {"step_time_s", "steady-state time per step", &kTime, [](P p) { return cell_of(p.answers.shown().step); },
       {"step", "step time", kLess, "steps_per_s"}, {"step", nullptr, nullptr, 9}, "step_time"},
      {"step_time_low_s", "step time with all the profile's times at the fast end of their spread, below that by a stack's 90 % interval", &kTime,
       [](P p) { return p.band ? cell_of(p.band->low) : Cell(); }},
      {"step_time_high_s", "step time with all the profile's times at the slow end of their spread, above that by a stack's 90 % interval", &kTime,
       [](P p) { return p.band ? cell_of(p.band->high) : Cell(); }},
      {"", "both ends of the step time's band", {}, {}, {},
       {"error band", [](P p) { return p.band.has_value(); }, [](P p) { return p.band ? between(p.band->low, p.band->high) : "-"; }, 6}},
      {"", "jitter: percentiles of the step time", {}, {}, {},
       {"p5 .. p95", [](P p) { return jitter_of(p).has_value(); }, [](P p) { return jitter_of(p) ? between(jitter_of(p)->p5, jitter_of(p)->p95) : "-"; }, 6}},
      {"first_step_time_s", "from a standing start to the end of the first step", &kTime,
       [](P p) { return cell_of(p.answers.shown().first_step); }},
      {"throughput_samples_per_s", "samples per second that updates use, of all workers", &kSampleRate, [](P p) { return if_any(p.samples_per_second); },
       {"throughput", "throughput", Better::more, "throughput_samples_per_s"},
       {"samples/s", is_trained, nullptr, 5}, "throughput"},
      {"tokens_per_s_per_worker", "tokens of a transformer per second and worker", &kTokenRate,
       [](P p) { return cell_of(p.tokens_per_worker); }, {}, {"tokens/s each", nullptr, nullptr, 5}},
      {"mfu", "model FLOPs utilization: two operations for each multiply-accumulate of forward, four of backward, over peaks", &kShare,
       [](P p) { return cell_of(p.mfu); }, {"mfu", "model FLOPs utilization"}, {"MFU", [](P p) { return p.tokens_per_worker && p.mfu; }, nullptr, 6}},
      {"speedup", "throughput over the baseline's", &kRatio, [](P p) { return cell_of(p.speedup); },
       {"speedup", "speedup"}, {"speedup", is_trained, nullptr, 8}, "speedup"},
      {"scaling_efficiency", "throughput(p) / (p · throughput(1)); for workers of several speeds, over the sum of "
                             "their throughputs alone", &kShare,
       [](P p) { return cell_of(p.scaling_efficiency); }, {"efficiency", "efficiency"}, {"efficiency", is_trained, nullptr, 4}, "scaling_efficiency"},
      {"cost_per_million_samples", "in the currency of the cluster's prices", &kPrice, [](P p) { return cell_of(p.cost_per_million); },
       {"cost", "cost of a million samples", kLess, "million_samples_per_cost"}, {"cost/1M", nullptr, nullptr, 5}},
      {"payload_per_worker_B", "a worker's messages of a step, as the compressor makes them", &kBytes, [](P p) { return if_any(p.payload); }},
      {"message_size_B", "n: bytes exchanged in a step", &kBytes, [](P p) { return cell_of(p.message_size); }},
      {"sent_per_worker_B", "bytes a worker puts on the wire in a step, mean", &kBytes, [](P p) { return cell_of(p.sent_per_worker); }},
      {"model_state_per_worker_B", "memory of a worker for parameters, gradients, the optimizer's state and error feedback", &kBytes,
       [](P p) { return p.memory ? cell_of(p.memory->model()) : Cell(); }, {"state", "model state of a worker", kLess, "", true}},
      {"activations_per_worker_B", "memory of a worker for a pass's activations, if layers have shapes", &kBytes,
       [](P p) { return p.memory ? cell_of(p.memory->activations) : Cell(); }},
      {"memory_per_worker_B", "the sum of both, as far as known; workspaces and a communication library's buffers are "
                              "not counted", &kBytes,
       [](P p) { return p.memory && p.memory->activations ? cell_of(p.memory->total()) : Cell(); },
       {"memory", "memory of a worker", kLess, "", true}, {"memory", is_memory_news, memory_cell, 6}},
      {"lacks_memory", "whether the known memory exceeds the device's", &kTruth,
       [](P p) { return p.memory_share ? Cell(*p.memory_share > 1) : Cell(); }},
      {"algbw_B_per_s", "n over the time the exchange takes alone (by the equations, unless the step is nothing else)", &kBandwidth,
       [](P p) { return cell_of(p.algbw); }, {"algbw", "algbw"}, {"algbw", only_moves_bytes, nullptr, 7}, "algbw"},
      {"busbw_B_per_s", "algbw times nccl-tests' bus factor", &kBandwidth, [](P p) { return cell_of(p.busbw); },
       {"busbw", "busbw"}, {"busbw", only_moves_bytes, nullptr, 8}, "busbw"},
      {"", "forward, backward and update as a share of the step", {}, {}, {},
       {"compute", is_trained, [](P p) { return share_of_step(p, breakdown_of(p).compute()); }, 2}},
      {"", "encode and decode as a share of the step", {}, {}, {},
       {"codec", [](P p) { return breakdown_of(p).codec() > Seconds{}; }, [](P p) { return share_of_step(p, breakdown_of(p).codec()); }, 3}},
      {"", "exposed communication as a share of the step", {}, {}, {},
       {"exposed comm", [](P) { return true; }, [](P p) { return share_of_step(p, breakdown_of(p).exposed_communication); }, 6}},
      {"", "the stack's part as a share of the step", {}, {}, {},
       {"stack", [](P p) { return breakdown_of(p).stack > Seconds{}; }, [](P p) { return share_of_step(p, breakdown_of(p).stack); }, 5}},
      {"", "waiting as a share of the step", {}, {}, {},
       {"waiting", [](P p) { return breakdown_of(p).waiting > Seconds{}; }, [](P p) { return share_of_step(p, breakdown_of(p).waiting); }, 2}},
  };
}

std::vector<Metric> after_breakdown() {
  return {
      {"bound_s", "lower bound: step time that no schedule can beat", &kTime, [](P p) { return cell_of(p.bound.step); }, {},
       {"lower bound", nullptr, nullptr, 3, [](P p) { return std::string_view(has_large_gap(p) ? "!" : ""); }}},
      {"bound_compute_s", "lower bound: compute alone", &kTime, [](P p) { return cell_of(p.bound.compute); }},
      {"bound_latency_s", "lower bound: latency alone", &kTime, [](P p) { return cell_of(p.bound.latency); }},
      {"bound_bandwidth_s", "lower bound: bandwidth alone", &kTime, [](P p) { return cell_of(p.bound.bandwidth); }},
      {"bound_reduction_s", "lower bound: reduction alone; of servers all that the busiest shard does", &kTime,
       [](P p) { return cell_of(p.bound.reduction); }},
      {"bound_gap", "step time over its lower bound, minus 1", &kDifference, [](P p) { return Cell(p.gap); }},
      {"bound_gap_is_large", "whether the step takes more than twice its lower bound: is the scenario as meant?", &kTruth,
       [](P p) { return Cell(has_large_gap(p)); }},
      {"answered_by", "equations, replay, or both", &kText, [](P p) { return Cell(std::string(evaluators_of(p.answers))); }},
      {"equations_step_time_s", "the equations' answer", &kTime,
       [](P p) { return p.answers.equations ? cell_of(p.answers.equations->step) : Cell(); }},
      {"replay_step_time_s", "the replay's answer", &kTime, [](P p) { return p.answers.replay ? cell_of(p.answers.replay->step) : Cell(); }},
      {"difference", "replay over equations, minus 1", &kDifference, [](P p) { return cell_of(p.answers.difference()); }, {}, {"replay-eq.", is_difference_news, nullptr, 7}},
      {"run_time_s", "run: all phases with their one-off costs", &kRunTime, [](P p) { return of_run(p, &RunReport::time); },
       {"run", "time of the whole run", kLess, "runs_per_s"}, {"run", nullptr, nullptr, 8}},
      {"run_cost", "run: in the currency of the clusters' prices", &kPrice, [](P p) { return of_run(p, &RunReport::cost); },
       {"run-cost", "cost of the whole run", kLess, "runs_per_cost"}, {"run cost", nullptr, nullptr, 7}},
      {"run_speedup", "run: the baseline's run time over this one's", &kRatio, [](P p) { return of_run(p, &RunReport::speedup); }, {}, {"run speedup", nullptr, nullptr, 8}},
      {"run_phases", "run: its phases, epochs x steps x step time", &kPhases, [](P p) { return p.run ? Cell(phases_of(*p.run)) : Cell(); }},
      {"time_to_target_s", "run: until the epochs have passed that the method was seen to need", &kRunTime,
       [](P p) { return of_run(p, &RunReport::to_target); }, {"target", "time to the run's target", kLess, "runs_to_target_per_s"}, {"to target", nullptr, nullptr, 8}},
      {"run_target", "run: the target, and its evidence", &kText, [](P p) { return p.run ? if_any(p.run->target) : Cell(); }},
      {"step_time_p5_s", "jitter: 5th percentile of the step time", &kTime, [](P p) { return of_jitter(p, &Distribution::p5); }},
      {"step_time_p50_s", "jitter: median of the step time", &kTime, [](P p) { return of_jitter(p, &Distribution::p50); }},
      {"step_time_p95_s", "jitter: 95th percentile of the step time", &kTime, [](P p) { return of_jitter(p, &Distribution::p95); }},
      {"step_time_p99_s", "jitter: 99th percentile of the step time", &kTime, [](P p) { return of_jitter(p, &Distribution::p99); }},
      {"replay_fidelity", "replay: the extent of folding, or the reason for a full one", &kText, [](P p) { return p.answers.replay ? Cell(p.answers.replay->fidelity) : Cell(); }},
      {"steady_state", "how the evaluator knows that the state is steady", &kText, [](P p) { return Cell(p.answers.shown().steady_state); }},
      {"critical_cycle", "equations: tasks that determine the step time", &kText,
       [](P p) { return p.answers.equations ? Cell(fmt::format("{}", fmt::join(p.answers.equations->critical, " > "))) : Cell(); }},
      {"notes", "codes of facts to know before trusting the number; `stepcast list notes` has their meaning", &kTexts,
       [](P p) { return p.notes.empty() ? Cell() : Cell(codes_of(p.notes)); }},
  };
}
// clang-format on

std::vector<Metric> table() {
  std::vector<Metric> all = before_breakdown();
  for (const BreakdownPart& part : kBreakdownParts) {
    all.push_back({fmt::format("{}_s", part.name), fmt::format("breakdown, the mean of all workers: {}", part.meaning),
                   &kTime, [time = part.time](P p) { return cell_of(breakdown_of(p).*time); }});
    if (part.time == &Breakdown::exposed_communication)
      all.back().compared = {"exposed", "exposed communication", kLess};
    if (part.time == &Breakdown::forward || part.time == &Breakdown::backward) all.back().measured = part.name;
  }
  std::vector<Metric> rest = after_breakdown();
  std::move(rest.begin(), rest.end(), std::back_inserter(all));
  return all;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = table();
  return all;
}

std::optional<double> number_of(const Metric& metric, const PointReport& point) {
  const Cell value = metric.value(point);
  const auto* number = std::get_if<double>(&value);
  return number ? std::optional(*number) : std::nullopt;
}

std::string table_cell(const Metric& metric, const PointReport& point) {
  if (metric.shown.cell) return metric.shown.cell(point);
  const Cell value = metric.value(point);
  if (const auto* number = std::get_if<double>(&value)) return metric.unit->cell(*number);
  if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "yes" : "no";
  return "-";
}

bool is_shown(const Metric& metric, const PointReport& point) {
  if (metric.shown.asked) return metric.shown.asked(point);
  return !metric.shown.head.empty() && !std::holds_alternative<std::monostate>(metric.value(point));
}

std::vector<Metric> report_columns(const Report& report) {
  std::vector<Metric> columns = axis_columns(report.axes, report.axis_units);
  for (const Metric& metric : metrics())
    if (!metric.name.empty() && std::find(report.axes.begin(), report.axes.end(), metric.name) == report.axes.end())
      columns.push_back(metric);
  return columns;
}

}  // namespace stepcast
