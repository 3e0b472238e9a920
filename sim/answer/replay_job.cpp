#include "sim/answer/replay_job.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "models/describe/json.hpp"
#include "models/forecast/breakdown.hpp"
#include "sim/answer/forecast_json.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

/// Nearest-rank percentile of sorted values.
Seconds percentile(const std::vector<double>& sorted, double fraction) {
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return Seconds(sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]);
}

/// Samples as bytes: there may be millions. Only processes of this machine's kind read them.
Json pack(const std::vector<double>& samples) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(samples.data());
  return Json::binary({bytes, bytes + samples.size() * sizeof(double)});
}

}  // namespace

Json answer(const ReplayJob& job) {
  const ReplayResult result = simulator().replay(*job.scenario, *job.graph, job.run, {}, {});
  return Json{
      {"forecast", pack(result.forecast)}, {"samples", pack(result.samples)}, {"random", is_random(*job.scenario)}};
}

std::vector<double> samples_of(const Json& answer) {
  const std::vector<std::uint8_t>& bytes = answer.at("samples").get_binary();
  std::vector<double> samples(bytes.size() / sizeof(double));
  if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}

StepForecast combine(const std::vector<Json>& runs) {
  StepForecast all;
  std::vector<double> samples;
  const double weight = 1.0 / static_cast<double>(runs.size());
  for (const Json& run : runs) {
    const StepForecast one = unpack_forecast(run.at("forecast"));
    all.first_step += one.first_step * weight;
    all.step += one.step * weight;
    all.breakdown = add(all.breakdown, one.breakdown, weight);
    if (all.kinds.empty())
      for (const KindBreakdown& kind : one.kinds) all.kinds.push_back({kind.first, kind.count, {}});
    for (std::size_t i = 0; i < one.kinds.size(); ++i)
      all.kinds[i].breakdown = add(all.kinds[i].breakdown, one.kinds[i].breakdown, weight);
    all.steady_state = one.steady_state;
    all.no_period = one.no_period;
    all.fidelity = one.fidelity;
    all.steps += one.steps;
    all.drift += one.drift * weight;
    all.lead += one.lead * weight;
    const std::vector<double> own = samples_of(run);
    samples.insert(samples.end(), own.begin(), own.end());
  }
  if (runs.front().at("random").get<bool>() && !samples.empty()) {
    std::sort(samples.begin(), samples.end());
    all.distribution = Distribution{static_cast<int>(samples.size()), percentile(samples, 0.05),
                                    percentile(samples, 0.5), percentile(samples, 0.95), percentile(samples, 0.99)};
  }
  return all;
}

}  // namespace stepcast
