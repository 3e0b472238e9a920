#include "models/report/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepcast {
namespace {

Cell number(std::optional<double> value) { return value ? Cell(*value) : Cell(); }
template <class Q>
Cell si(const Q& value) {
  return Cell(value.si());
}
template <class Q>
Cell si(const std::optional<Q>& value) {
  return value ? Cell(value->si()) : Cell();
}

template <class F>
Cell spread(const PointReport& p, F&& f) {
  const auto& d = p.answers.shown().distribution;
  return d ? Cell(f(*d).si()) : Cell();
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string describe(const RunReport& run) {
  std::string text;
  for (const PhaseReport& phase : run.phases) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {} x {} x {} s", phase.name, phase.epochs, phase.steps_per_epoch, phase.step.si());
    if (phase.before > Seconds{}) text += fmt::format(" + {} s", phase.before.si());
  }
  return text;
}

}  // namespace

bool Column::holds(const Cell& value) const {
  if (std::holds_alternative<std::monostate>(value)) return true;
  switch (kind) {
    case CellKind::truth: return std::holds_alternative<bool>(value);
    case CellKind::count: return std::holds_alternative<std::int64_t>(value);
    case CellKind::number: return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    case CellKind::text: return std::holds_alternative<std::string>(value);
    case CellKind::texts: return std::holds_alternative<std::vector<std::string>>(value);
  }
  return false;
}

std::vector<Column> report_columns(const Report& report) {
  std::vector<Column> columns;
  for (const std::string& axis : report.axes)
    columns.push_back({axis, "axis of the study",
                       [axis](const PointReport& p) -> Cell {
                         for (const Coordinate& c : p.coordinates)
                           if (c.axis == axis) return c.value;
                         return {};
                       },
                       CellKind::text});
  const auto add = [&](std::string name, std::string meaning, std::function<Cell(const PointReport&)> cell,
                       CellKind kind = CellKind::number) {
    for (const std::string& axis : report.axes)
      if (axis == name) return;  // an axis already says it
    columns.push_back({std::move(name), std::move(meaning), std::move(cell), kind});
  };
  using P = const PointReport&;
  add("workers", "number of workers", [](P p) { return Cell(std::int64_t{p.workers}); }, CellKind::count);
  add("strategy", "how gradients are exchanged", [](P p) { return Cell(p.strategy); }, CellKind::text);
  add("collective_algorithm", "algorithm of its collectives, with parameters that were decided",
      [](P p) { return p.algorithm.empty() ? Cell() : Cell(p.algorithm); }, CellKind::text);
  add("compressor", "how gradients are compressed", [](P p) { return Cell(p.compressor); }, CellKind::text);
  add("batch", "samples of a worker's pass", [](P p) { return p.batch > 0 ? Cell(p.batch) : Cell(); }, CellKind::count);
  add("accumulation", "passes of a worker in a step",
      [](P p) { return p.accumulation > 0 ? Cell(std::int64_t{p.accumulation}) : Cell(); }, CellKind::count);
  add("step_time_s", "steady-state time per step", [](P p) { return si(p.answers.shown().step); });
  add("step_time_low_s", "step time with all the profile's times at the fast end of their spread",
      [](P p) { return p.band ? si(p.band->low) : Cell(); });
  add("step_time_high_s", "step time with all the profile's times at the slow end of their spread",
      [](P p) { return p.band ? si(p.band->high) : Cell(); });
  add("first_step_time_s", "from a standing start to the end of the first step",
      [](P p) { return si(p.answers.shown().first_step); });
  add("throughput_samples_per_s", "samples of all workers per second",
      [](P p) { return p.samples_per_second > 0 ? Cell(p.samples_per_second) : Cell(); });
  add("tokens_per_s_per_worker", "tokens of a transformer per second and worker",
      [](P p) { return number(p.tokens_per_worker); });
  add("mfu",
      "model FLOPs utilization: two operations for each multiply-accumulate of forward, four of backward, over peaks",
      [](P p) { return number(p.mfu); });
  add("speedup", "throughput over the baseline's", [](P p) { return number(p.speedup); });
  add("scaling_efficiency",
      "throughput(p) / (p · throughput(1)); of workers of several speeds, over the sum of what each does alone",
      [](P p) { return number(p.scaling_efficiency); });
  add("cost_per_million_samples", "in the currency of the cluster's prices",
      [](P p) { return number(p.cost_per_million); });
  add("payload_per_worker_B", "a worker's messages of a step, as the compressor makes them",
      [](P p) { return p.payload > Bytes{} ? si(p.payload) : Cell(); });
  add("message_size_B", "n: bytes exchanged in a step", [](P p) { return si(p.message_size); });
  add("sent_per_worker_B", "bytes a worker puts on the wire in a step, mean",
      [](P p) { return si(p.sent_per_worker); });
  add("model_state_per_worker_B",
      "memory of a worker for parameters, gradients, the optimizer's state and error feedback",
      [](P p) { return p.memory ? si(p.memory->model()) : Cell(); });
  add("activations_per_worker_B", "memory of a worker for a pass's activations, where layers have shapes",
      [](P p) { return p.memory ? si(p.memory->activations) : Cell(); });
  add("memory_per_worker_B",
      "both, where both are known; workspaces and a communication library's buffers are not counted",
      [](P p) { return p.memory && p.memory->activations ? si(p.memory->total()) : Cell(); });
  add("lacks_memory", "whether what is known of that is more than the device has",
      [](P p) { return p.memory_share ? Cell(*p.memory_share > 1) : Cell(); }, CellKind::truth);
  add("algbw_B_per_s", "n over the time the exchange takes alone (by the equations, unless the step is nothing else)",
      [](P p) { return si(p.algbw); });
  add("busbw_B_per_s", "algbw times nccl-tests' bus factor", [](P p) { return si(p.busbw); });
  for (const BreakdownPart& part : kBreakdownParts)
    add(fmt::format("{}_s", part.name), fmt::format("breakdown, the mean of all workers: {}", part.meaning),
        [time = part.time](P p) { return si(p.answers.shown().breakdown.*time); });
  add("bound_s", "lower bound: step time that no schedule can beat", [](P p) { return si(p.bound.step); });
  add("bound_compute_s", "lower bound: compute alone", [](P p) { return si(p.bound.compute); });
  add("bound_latency_s", "lower bound: latency alone", [](P p) { return si(p.bound.latency); });
  add("bound_bandwidth_s", "lower bound: bandwidth alone", [](P p) { return si(p.bound.bandwidth); });
  add("bound_reduction_s", "lower bound: reduction alone; of servers all that the busiest shard does",
      [](P p) { return si(p.bound.reduction); });
  add("bound_gap", "step time over its lower bound, minus 1", [](P p) { return Cell(p.gap); });
  add("bound_gap_is_large", "whether the step takes more than twice its lower bound: is the scenario as meant?",
      [](P p) { return Cell(p.gap > kLargeGap - 1.0); }, CellKind::truth);
  add("answered_by", "equations, replay, or both",
      [](P p) { return Cell(std::string(evaluators_of(p.answers))); }, CellKind::text);
  add("equations_step_time_s", "the equations' answer",
      [](P p) { return p.answers.equations ? si(p.answers.equations->step) : Cell(); });
  add("replay_step_time_s", "the replay's answer",
      [](P p) { return p.answers.replay ? si(p.answers.replay->step) : Cell(); });
  add("difference", "replay over equations, minus 1", [](P p) { return number(p.answers.difference()); });
  add("run_time_s", "run: all phases with their one-off costs", [](P p) { return p.run ? si(p.run->time) : Cell(); });
  add("run_cost", "run: in the currency of the clusters' prices",
      [](P p) { return p.run ? number(p.run->cost) : Cell(); });
  add("run_speedup", "run: the baseline's run time over this one's",
      [](P p) { return p.run ? number(p.run->speedup) : Cell(); });
  add("run_phases", "run: its phases, epochs x steps x step time",
      [](P p) { return p.run ? Cell(describe(*p.run)) : Cell(); }, CellKind::text);
  add("time_to_target_s", "run: until the epochs have passed that the method was seen to need",
      [](P p) { return p.run ? si(p.run->to_target) : Cell(); });
  add("run_target", "run: what is reached then, and by what evidence",
      [](P p) { return p.run && !p.run->target.empty() ? Cell(p.run->target) : Cell(); }, CellKind::text);
  add("step_time_p5_s", "jitter: 5th percentile of the step time",
      [](P p) { return spread(p, [](const Distribution& d) { return d.p5; }); });
  add("step_time_p50_s", "jitter: median of the step time",
      [](P p) { return spread(p, [](const Distribution& d) { return d.p50; }); });
  add("step_time_p95_s", "jitter: 95th percentile of the step time",
      [](P p) { return spread(p, [](const Distribution& d) { return d.p95; }); });
  add("step_time_p99_s", "jitter: 99th percentile of the step time",
      [](P p) { return spread(p, [](const Distribution& d) { return d.p99; }); });
  add("replay_fidelity", "replay: folded to what, or full and why",
      [](P p) { return p.answers.replay ? Cell(p.answers.replay->fidelity) : Cell(); }, CellKind::text);
  add("steady_state", "how the evaluator knows that the state is steady",
      [](P p) { return Cell(p.answers.shown().steady_state); }, CellKind::text);
  add("critical_cycle", "equations: tasks that determine the step time",
      [](P p) { return p.answers.equations ? Cell(join(p.answers.equations->critical, " > ")) : Cell(); }, CellKind::text);
  add("notes", "what to know before trusting the number", [](P p) { return p.notes.empty() ? Cell() : Cell(p.notes); }, CellKind::texts);
  return columns;
}

}  // namespace stepcast
