#include "calibrate/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"

namespace stepcast::calibrate {
namespace {

void stop_if_interrupted(const Surroundings& surroundings) {
  if (surroundings.is_interrupted()) throw Interrupted("interrupted");
}

bool warm_up(Work& work, const SamplingRules& rules, const Surroundings& surroundings) {
  const double begin = surroundings.now();
  for (int i = 0; i < rules.most_windows; ++i) {
    std::vector<double> window;
    for (const Sample& one : work.warm(rules.window)) window.push_back(one.seconds);
    stop_if_interrupted(surroundings);
    if (is_steady(window)) return true;
    if (surroundings.now() - begin > rules.time_limit) return false;
  }
  return false;
}

/// Takes batches until the rule is met or the time is up.
Series collect(const std::function<std::vector<Sample>()>& take, const SamplingRules& rules,
               const Surroundings& surroundings) {
  const double begin = surroundings.now();
  std::vector<Sample> samples;
  Series series;
  const auto most_taken = static_cast<std::size_t>(2 * rules.stop.most);
  for (;;) {
    for (const Sample& one : take()) samples.push_back(one);
    stop_if_interrupted(surroundings);
    Kept kept = keep_at_clock(samples, rules.least_clock_share);
    series = {std::move(kept.seconds), kept.clock, kept.discarded, false};
    if (rules.stop.enough(series.seconds)) {
      series.settled = true;
      break;
    }
    const bool late = surroundings.now() - begin > rules.time_limit && samples.size() >= 3;
    if (late || samples.size() >= most_taken) break;
  }
  if (static_cast<double>(series.discarded) > rules.most_discarded * static_cast<double>(samples.size()))
    throw UnsteadyClock(fmt::format(
        "{} of {} samples were left out because the processor's clock fell below {:.0f} % of its earlier value; "
        "allowed: {:.0f} %. Let the device cool, end other work on it, or hold its clock (nvidia-smi -lgc), and run "
        "again",
        series.discarded, samples.size(), 100 * rules.least_clock_share, 100 * rules.most_discarded));
  return series;
}

constexpr int kMostSeries = 3;

/// Repeats the series if the clock dropped. A load beyond the device's power brings its clock down within a tenth of a
/// second or so. The next series finds it there.
Series collect_at_one_clock(const std::function<std::vector<Sample>()>& take, const SamplingRules& rules,
                            const Surroundings& surroundings) {
  for (int series = 1;; ++series) {
    try {
      return collect(take, rules, surroundings);
    } catch (const UnsteadyClock&) {
      if (series == kMostSeries) throw;
    }
  }
}

}  // namespace

bool is_steady(const std::vector<double>& window) {
  const auto n = static_cast<double>(window.size());
  if (window.size() < 3) return false;
  const double mean = std::accumulate(window.begin(), window.end(), 0.0) / n, middle = (n - 1) / 2;
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < window.size(); ++i) {
    xx += (static_cast<double>(i) - middle) * (static_cast<double>(i) - middle);
    xy += (static_cast<double>(i) - middle) * (window[i] - mean);
  }
  const double slope = xy / xx;
  double squares = 0;
  for (std::size_t i = 0; i < window.size(); ++i)
    squares += std::pow(window[i] - mean - slope * (static_cast<double>(i) - middle), 2);
  const double error = std::sqrt(squares / (n - 2) / xx);
  return std::abs(slope) * (n - 1) <= 0.02 * mean || std::abs(slope) <= 2 * error;
}

Kept keep_at_clock(const std::vector<Sample>& samples, double share) {
  std::vector<double> clocks;
  for (const Sample& one : samples)
    if (one.clock > 0) clocks.push_back(one.clock);
  const double least = clocks.empty() ? 0 : share * quantile(clocks, 0.9);
  Kept kept;
  clocks.clear();
  for (const Sample& one : samples) {
    if (one.clock > 0 && one.clock < least) {
      ++kept.discarded;
      continue;
    }
    kept.seconds.push_back(one.seconds);
    if (one.clock > 0) clocks.push_back(one.clock);
  }
  if (!clocks.empty()) kept.clock = median(clocks);
  return kept;
}

Surroundings surroundings_from_now(std::function<bool()> is_interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  return {[begin] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); },
          std::move(is_interrupted)};
}

SampledWork sample(Work& work, const SamplingRules& rules, const Surroundings& surroundings) {
  SampledWork result;
  result.steady = warm_up(work, rules, surroundings);
  result.cold = collect_at_one_clock([&] { return std::vector<Sample>{work.cold()}; }, rules, surroundings);
  result.warm = collect_at_one_clock([&] { return work.warm(std::max(rules.stop.least, 1)); }, rules, surroundings);
  return result;
}

}  // namespace stepcast::calibrate
