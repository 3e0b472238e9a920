#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/link/link_fit.hpp"
#include "calibrate/statistics.hpp"
#include "models/unit/format.hpp"

namespace stepcast::calibrate {
namespace {

using Kind = Benchmark::Kind;

double rounded(double value) { return std::strtod(fmt::format("{:.5e}", value).c_str(), nullptr); }

const BenchmarkFit* first_of(const std::vector<BenchmarkFit>& fits, Kind kind) {
  const auto found = std::find_if(fits.begin(), fits.end(), [kind](const BenchmarkFit& fit) { return fit.benchmark.kind == kind; });
  return found == fits.end() ? nullptr : &*found;
}

std::optional<BytesPerSecond> rate(double beta) { return beta > 0 ? std::optional(BytesPerSecond(rounded(1 / beta))) : std::nullopt; }

LinkFit entry_of(const BenchmarkFit& fit, const RangeFit& range) {
  LinkFit entry;
  entry.source = fmt::format("{} of {}", fit.benchmark.file, fit.benchmark.program);
  entry.benchmark = fit.what;
  entry.from = Bytes(rounded(range.from));
  entry.to = Bytes(rounded(range.to));
  entry.latency = Seconds(rounded(range.alpha.value));
  entry.latency_low = Seconds(rounded(range.alpha.low));
  entry.latency_high = Seconds(rounded(range.alpha.high));
  entry.bandwidth = rate(range.beta.value);
  entry.bandwidth_low = rate(range.beta.high);
  entry.bandwidth_high = rate(range.beta.low);
  return entry;
}

std::string rate_text(const Interval& beta) {
  const auto one = [](double b) { return b > 0 ? human_text(BytesPerSecond(1 / b)) : std::string("no bound"); };
  return fmt::format("{} ({} to {})", one(beta.value), one(beta.high), one(beta.low));
}

std::string time_text(const Interval& alpha) { return fmt::format("{} ({} to {})", human_text(Seconds(alpha.value)), human_text(Seconds(alpha.low)), human_text(Seconds(alpha.high))); }

}  // namespace

Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits) {
  const BenchmarkFit* latency = first_of(fits, Kind::latency);
  const BenchmarkFit* bandwidth = first_of(fits, Kind::bandwidth);
  const BenchmarkFit* collective = first_of(fits, Kind::collective);
  const BenchmarkFit* alpha = latency != nullptr ? latency : collective;
  if (alpha == nullptr) throw std::invalid_argument("a benchmark of bandwidth alone tells no latency: add the text of osu_latency, or a collective's, by another --from");
  const BenchmarkFit* beta = collective != nullptr ? collective : bandwidth != nullptr ? bandwidth : latency;
  Cluster cluster;
  cluster.name = name;
  cluster.workers = collective != nullptr ? collective->benchmark.ranks : 2;
  cluster.link.latency = Seconds(rounded(alpha->ranges.front().alpha.value));
  cluster.link.bandwidth = BytesPerSecond(rounded(1 / beta->ranges.back().beta.value));
  std::string setup = "S is not told from latency by these benchmarks and is 0";
  if (latency != nullptr && collective != nullptr) {
    cluster.collective_cost = Seconds(rounded(std::max(0.0, collective->fit.launch - collective->rounds * cluster.link.latency.si())));
    setup = "S is the collective's time of no bytes less its rounds' latency";
  }
  cluster.description = fmt::format("Fitted by stepcast-calibrate link: latency from {} ({}), bandwidth from {} ({}); {}. The costs of adding and copying are not told from bandwidth and are part of it. "
                                    "Intervals in \"fits\" are 95 %, by the covariance of the weighted least squares and Student's t, the sizes at which the regime changes taken as known.",
                                    alpha->benchmark.file, alpha->what, beta->benchmark.file, beta->what, setup);
  for (const BenchmarkFit& fit : fits)
    for (const RangeFit& range : fit.ranges) cluster.fits.push_back(entry_of(fit, range));
  return cluster;
}

std::vector<double> errors_of(const Cluster& cluster, const BenchmarkFit& fit) {
  std::vector<double> errors;
  for (const Benchmark::Row& row : fit.benchmark.rows) {
    const double setup = fit.benchmark.kind == Kind::collective ? cluster.collective_cost.si() : 0;
    const double seconds = setup + fit.rounds * cluster.link.latency.si() + fit.factor * row.bytes / cluster.link.bandwidth.si();
    errors.push_back(std::abs(seconds - row.seconds) / row.seconds);
  }
  return errors;
}

std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::string text;
  for (const BenchmarkFit& fit : fits) {
    text += fmt::format("{}: {} ({})\n  {:<22} {:<36} {}\n", fit.benchmark.file, fit.what, fit.benchmark.program, "n", fit.benchmark.kind == Kind::bandwidth ? "gap between messages (95 %)" : "latency (95 %)", "bandwidth (95 %)");
    for (const RangeFit& range : fit.ranges)
      text += fmt::format("  {:<22} {:<36} {}\n", fmt::format("{} to {}", human_text(Bytes(range.from), 3), human_text(Bytes(range.to), 3)), time_text(range.alpha), rate_text(range.beta));
    if (fit.largest_error > 0) text += fmt::format("  error on sizes held out: median {:.1f} %, largest {:.1f} %\n", 100 * fit.median_error, 100 * fit.largest_error);
  }
  text += fmt::format("one link for all sizes: latency {}, bandwidth {}", human_text(cluster.link.latency), human_text(cluster.link.bandwidth));
  if (cluster.collective_cost > Seconds{}) text += fmt::format(", collective cost {}", human_text(cluster.collective_cost));
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind == Kind::bandwidth) continue;
    const auto errors = errors_of(cluster, fit);
    text += fmt::format("\n  error on {}: median {:.1f} %, p90 {:.1f} %, largest {:.1f} %", fit.what, 100 * median(errors), 100 * quantile(errors, 0.9), 100 * *std::max_element(errors.begin(), errors.end()));
  }
  return text + "\n";
}

}  // namespace stepcast::calibrate
