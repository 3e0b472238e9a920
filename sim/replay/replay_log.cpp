#include "sim/replay/replay_log.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace stepcast {
namespace {

/// @param parts_of  a timeline's parts of one pass
template <class PartsOf>
void break_down(const ReplayLog& log, StepForecast& forecast, PartsOf&& parts_of) {
  if (log.kinds.size() > 1)
    for (const WorkerKind& kind : log.kinds) forecast.kinds.push_back({kind.first, kind.count, {}});
  log.each_timeline([&](const Timeline& timeline) {
    const Breakdown parts = parts_of(timeline);
    forecast.breakdown = add(forecast.breakdown, parts, timeline.weight);
    for (std::size_t k = 0; k < forecast.kinds.size(); ++k)
      forecast.kinds[k].breakdown = add(forecast.kinds[k].breakdown, parts, timeline.of_kind[k]);
  });
}

void periodic(const ReplayLog& log, StepForecast& forecast) {
  const Period& period = *log.period;
  forecast.step = Seconds(period.seconds / period.steps);
  const std::string every = period.steps == 1 ? "1 step" : fmt::format("{} steps", period.steps);
  forecast.steady_state =
      period.apart       ? "each step ends on all workers before the next one begins"
      : period.converges ? fmt::format("all streams come nearer to repeating every {}, whose limit is within {:.0e}",
                                       every, SteadyState::kConverged)
                         : fmt::format("all streams repeat every {} to 1e-10", every);
  // Timelines of the passes that show the period, folded into one period.
  break_down(log, forecast, [&](const Timeline& timeline) {
    std::vector<Interval> intervals;
    for (const auto& [pass, interval] : timeline.intervals)
      if (pass > log.proven - period.steps && pass <= log.proven) intervals.push_back(interval);
    return add({}, attribute(wrap(intervals, period.seconds), 0.0, period.seconds), 1.0 / period.steps);
  });
}

/// Passes done by `time`, given their ends. The current pass counts by its share of the time.
double passes_done(const std::vector<double>& ends, double time) {
  const auto next = std::upper_bound(ends.begin(), ends.end(), time);
  const auto ended = static_cast<double>(next - ends.begin());
  if (next == ends.end()) return ended;
  const double start = next == ends.begin() ? 0.0 : *(next - 1);
  return ended + (time - start) / (*next - start);
}

double mean_passes_done(const ReplayLog& log, double time) {
  double sum = 0.0;
  for (const std::vector<double>& ends : log.worker_pass_ends) sum += passes_done(ends, time);
  return sum / static_cast<double>(log.worker_pass_ends.size());
}

/// Whether fast workers' passes count as much as slow ones'.
bool counts_all_passes(const StepGraph& graph) { return graph.asynchronous && !graph.staleness && !graph.first_pushes; }

/// Passes done by `time`. Synchronous workers take the slowest worker's count. Asynchronous workers take the mean,
/// since fast ones do more. With bounded staleness, all do equally many in the long run, so the slowest worker's count
/// is taken. An early lead of fast workers is no faster step. With backup workers, updates count.
double passes_done(const ReplayLog& log, const StepGraph& graph, double time) {
  return counts_all_passes(graph) ? mean_passes_done(log, time) : passes_done(log.pass_ends, time);
}

std::string how_averaged(const Scenario& scenario, const StepGraph& graph, double passes, std::size_t first,
                         std::size_t last) {
  if (counts_all_passes(graph))
    return fmt::format("mean over workers of {:.1f} steps each, while the slowest did steps {} to {}", passes, first,
                       last);
  if (!may_repeat(scenario, graph))
    return fmt::format("mean of {} {} to {}", graph.first_pushes ? "updates" : "steps", first, last);
  return fmt::format("no period found in {} steps: mean of steps {} to {}", last, first, last);
}

/// Passes at the start that a mean leaves out: a tenth. Asynchronous workers leave out a third, because
/// their queues take long to settle.
std::size_t passes_to_skip(const Scenario& scenario, const StepGraph& graph, std::size_t last) {
  const std::size_t least = static_cast<std::size_t>(warmup_passes(scenario)) + 1;
  return std::min(last > 0 ? last - 1 : 0, std::max(least, last / (graph.asynchronous ? 3 : 10)));
}

/// For random, asynchronous or aperiodic passes: the mean over the passes after those skipped. At both ends of the
/// window, the slowest worker has just ended a pass, and every other worker is within one.
void averaged(const ReplayLog& log, const Scenario& scenario, const StepGraph& graph, ReplayResult& result) {
  StepForecast& forecast = result.forecast;
  const auto last =
      static_cast<std::size_t>(std::min<int>(scenario.evaluation.max_steps, static_cast<int>(log.pass_ends.size()))) -
      1;
  const std::size_t skipped = passes_to_skip(scenario, graph, last);
  const double begin = log.pass_ends[skipped], end = log.pass_ends[last], window = end - begin;
  const double before = passes_done(log, graph, begin), half = passes_done(log, graph, begin + window / 2),
               after = passes_done(log, graph, end);
  const double passes = after - before;
  if (window > 0) {  // passes may take no time at all
    forecast.step = Seconds(window / passes);
    forecast.drift = (half - before) / (after - half) - 1;
    if (graph.staleness) forecast.lead = (mean_passes_done(log, end) - mean_passes_done(log, begin)) / passes - 1;
  }
  forecast.no_period = may_repeat(scenario, graph);
  forecast.steady_state = how_averaged(scenario, graph, passes, skipped + 2, last + 1);
  const auto sample = [&](const std::vector<double>& ends) {
    for (std::size_t i = 1; i < ends.size(); ++i)
      if (ends[i - 1] >= begin && ends[i] <= end) result.samples.push_back(ends[i] - ends[i - 1]);
  };
  if (graph.first_pushes) sample(log.pass_ends);
  else std::for_each(log.worker_pass_ends.begin(), log.worker_pass_ends.end(), sample);
  // Tasks of these passes may have run long before the passes ended, like the computing of a wide pipeline. Counting
  // them with their pass puts each into the window as often as its pass. Asynchronous workers do different numbers of
  // passes in the window.
  break_down(log, forecast, [&](const Timeline& timeline) {
    std::vector<Interval> intervals;
    for (const auto& [pass, interval] : timeline.intervals)
      if (graph.asynchronous || (pass > static_cast<int>(skipped) && pass <= static_cast<int>(last)))
        intervals.push_back(interval);
    const Breakdown parts =
        graph.asynchronous ? attribute(intervals, begin, window) : attribute(wrap(intervals, window), 0.0, window);
    return add({}, parts, window > 0 ? forecast.step.si() / window : 0.0);  // passes may take no time at all
  });
}

/// Converts passes to the training steps in them.
void per_training_step(int steps, ReplayResult& result) {
  const double share = 1.0 / steps;
  StepForecast& forecast = result.forecast;
  forecast.first_step *= share;
  forecast.step *= share;
  forecast.breakdown = add({}, forecast.breakdown, share);
  for (KindBreakdown& kind : forecast.kinds) kind.breakdown = add({}, kind.breakdown, share);
  for (double& sample : result.samples) sample *= share;
}

}  // namespace

void append(const Interval& interval, int pass, Timeline& timeline) {
  if (interval.end <= interval.start) return;
  if (!timeline.intervals.empty())
    if (auto& [of_pass, latest] = timeline.intervals.back(); of_pass == pass && latest.phase == interval.phase &&
                                                             latest.end == interval.start &&
                                                             latest.stack_share == interval.stack_share) {
      latest.end = interval.end;
      return;
    }
  timeline.intervals.emplace_back(pass, interval);
}

bool may_repeat(const Scenario& scenario, const StepGraph& graph) {
  return scenario.cluster.jitter.cv == 0 && !graph.asynchronous;
}

int warmup_passes(const Scenario& scenario) {
  const auto* pipelined = std::get_if<PipelinedStrategy>(&scenario.strategy);
  return pipelined ? pipelined->warmup_steps : 0;
}

ReplayResult result_of(const ReplayLog& log, const Scenario& scenario, const StepGraph& graph) {
  ReplayResult result;
  result.forecast.steps = static_cast<int>(log.pass_ends.size());
  result.forecast.first_step = Seconds(log.pass_ends.empty() ? 0.0 : log.pass_ends.front());
  if (log.period) periodic(log, result.forecast);
  else averaged(log, scenario, graph, result);
  per_training_step(graph.local_steps, result);
  return result;
}

}  // namespace stepcast
