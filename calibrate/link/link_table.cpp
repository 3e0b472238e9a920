#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "calibrate/link/fitted_times.hpp"
#include "calibrate/link/link_fit.hpp"
#include "calibrate/statistics.hpp"
#include "models/unit/format.hpp"

namespace stepcast::calibrate {
namespace {

using Kind = Benchmark::Kind;

std::string rate_text(const Interval& beta) {
  const auto one = [](double b) { return b > 0 ? human_text(BytesPerSecond(1 / b)) : std::string("no bound"); };
  return fmt::format("{} ({} to {})", one(beta.value), one(beta.high), one(beta.low));
}

std::string time_text(const Interval& alpha) {
  return fmt::format("{} ({} to {})", human_text(Seconds(alpha.value)), human_text(Seconds(alpha.low)),
                     human_text(Seconds(alpha.high)));
}

std::string sizes_text(Bytes from, Bytes to) { return fmt::format("{} to {}", human_text(from, 3), human_text(to, 3)); }

std::string ranges_text(const BenchmarkFit& fit) {
  std::string text = fmt::format(
      "{}: {} ({})\n  {:<22} {:<36} {}\n", fit.benchmark.file, fit.what, fit.benchmark.program, "n",
      fit.benchmark.kind == Kind::bandwidth ? "gap between messages (95 %)" : "latency (95 %)", "bandwidth (95 %)");
  for (const RangeFit& range : fit.ranges)
    text += fmt::format("  {:<22} {:<36} {}\n", sizes_text(Bytes(range.from), Bytes(range.to)), time_text(range.alpha),
                        rate_text(range.beta));
  if (fit.largest_error > 0)
    text += fmt::format("  error on sizes held out: median {:.1f} %, largest {:.1f} %\n", 100 * fit.median_error,
                        100 * fit.largest_error);
  return text;
}

/// The errors of one file, and where the cluster is not for its sizes.
std::string errors_text(const Cluster& cluster, const BenchmarkFit& fit) {
  constexpr double kMuch = 0.1;
  const auto errors = errors_of(cluster, fit);
  std::string text = fmt::format("\n  error on {}, {}: median {:.1f} %, p90 {:.1f} %, largest {:.1f} %",
                                 fit.benchmark.file, fit.what, 100 * median(errors), 100 * quantile(errors, 0.9),
                                 100 * *std::max_element(errors.begin(), errors.end()));
  std::vector<double> off;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i] > kMuch) off.push_back(fit.benchmark.rows[i].bytes);
  if (!off.empty() && fit.benchmark.kind == Kind::collective)
    text += fmt::format(
        "\n    {} of {} sizes are more than {:.0f} % off, from {}; --min-size and --max-size fit those alone that you send",
        off.size(), errors.size(), 100 * kMuch,
        sizes_text(Bytes(*std::min_element(off.begin(), off.end())), Bytes(*std::max_element(off.begin(), off.end()))));
  return text;
}

/// The collective that these links belong to; links between hosts come first.
const BenchmarkFit* collective_of(const std::vector<BenchmarkFit>& fits) {
  const BenchmarkFit* first = nullptr;
  for (const BenchmarkFit& fit : fits)
    if (fit.benchmark.kind == Kind::collective &&
        (first == nullptr || (first->benchmark.hosts < 2 && fit.benchmark.hosts > 1)))
      first = &fit;
  return first;
}

std::string nodes_text(const Nodes& nodes, const std::vector<BenchmarkFit>& fits) {
  const bool is_measured = std::any_of(fits.begin(), fits.end(), [](const BenchmarkFit& fit) {
    return fit.benchmark.kind == Kind::collective && fit.benchmark.hosts == 1;
  });
  return fmt::format("; inside nodes of {}: latency {}, bandwidth {}{}", nodes.gpus_per_node,
                     human_text(nodes.inner.latency), human_text(nodes.inner.bandwidth),
                     is_measured ? ""
                                 : "\n  nothing was measured inside a node: the figures inside, and times of "
                                   "hierarchical, mean nothing; add a run inside one host by another --from");
}

}  // namespace

std::string scenario_text(const BenchmarkFit& fit) {
  return fmt::format(R"("collective": {{"algorithm": "{}"{}}})", name_of(fit.algorithm),
                     fit.segments ? fmt::format(", \"pipeline_segments\": {}", *fit.segments) : "");
}

std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::string text;
  for (const BenchmarkFit& fit : fits) text += ranges_text(fit);
  const auto [least, most] = fitted_sizes(fits);
  text += fmt::format("{} for {}: latency {}, bandwidth {}", cluster.protocols.empty() ? "one link" : "links",
                      sizes_text(least, most), human_text(cluster.link.latency), human_text(cluster.link.bandwidth));
  if (cluster.collective_cost > Seconds{})
    text += fmt::format(", collective cost {}", human_text(cluster.collective_cost));
  if (cluster.collective_byte_cost > SecondsPerByte{})
    text += fmt::format(", {} of a collective's buffer", human_text(cluster.collective_byte_cost));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) text += nodes_text(*nodes, fits);
  for (const Protocol& protocol : cluster.protocols)
    text +=
        fmt::format("\n  {}: {:.3g} times the latency, {:.3g} of the bandwidth{}", protocol.name,
                    protocol.latency_factor, protocol.bandwidth_factor,
                    protocol.setup > Seconds{} ? fmt::format(", {} more to begin", human_text(protocol.setup)) : "");
  for (const BenchmarkFit& fit : fits)
    if (fit.benchmark.kind != Kind::bandwidth) text += errors_text(cluster, fit);
  if (const BenchmarkFit* collective = collective_of(fits)) {
    if (collective->benchmark.is_of_machines() && std::holds_alternative<Star>(cluster.topology))
      text += fmt::format("\n  {} does not separate machines: each rank has its own link here, which is no NIC",
                          algorithm_text(collective->algorithm));
    text += fmt::format("\nthese are the links of {}; say so in a scenario: {}", algorithm_text(collective->algorithm),
                        scenario_text(*collective));
  }
  return text + "\n";
}

}  // namespace stepcast::calibrate
