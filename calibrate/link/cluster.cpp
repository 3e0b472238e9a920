#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <variant>

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
  const auto found =
      std::find_if(fits.begin(), fits.end(), [kind](const BenchmarkFit& fit) { return fit.benchmark.kind == kind; });
  return found == fits.end() ? nullptr : &*found;
}

std::optional<BytesPerSecond> rate(double beta) {
  return beta > 0 ? std::optional(BytesPerSecond(rounded(1 / beta))) : std::nullopt;
}

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

std::string time_text(const Interval& alpha) {
  return fmt::format("{} ({} to {})", human_text(Seconds(alpha.value)), human_text(Seconds(alpha.low)),
                     human_text(Seconds(alpha.high)));
}

}  // namespace

namespace {

bool is_ring(const BenchmarkFit& fit) { return fit.algorithm == Algorithm::ring; }

const BenchmarkFit* first_collective(const std::vector<BenchmarkFit>& fits,
                                     const std::function<bool(const Benchmark&)>& is_wanted) {
  const auto found = std::find_if(fits.begin(), fits.end(), [&](const BenchmarkFit& fit) {
    return fit.benchmark.kind == Kind::collective && is_wanted(fit.benchmark);
  });
  return found == fits.end() ? nullptr : &*found;
}

/// What a cluster is made of; null: not there.
struct Sources {
  const BenchmarkFit *latency, *bandwidth, *collective, *inside;
};

Sources sources_of(const std::vector<BenchmarkFit>& fits) {
  const BenchmarkFit* across = first_collective(fits, [](const Benchmark& one) { return one.hosts > 1; });
  const BenchmarkFit* inside = first_collective(fits, [](const Benchmark& one) { return one.hosts == 1; });
  Sources from{first_of(fits, Kind::latency), first_of(fits, Kind::bandwidth),
               across != nullptr ? across : first_of(fits, Kind::collective), across != nullptr ? inside : nullptr};
  if (from.inside == nullptr) return from;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("{} is of one host and {} of {}: {}; or fit each by itself, one --from at a time",
                    inside->benchmark.file, across->benchmark.file, across->benchmark.hosts, why));
  };
  if (!is_ring(*inside) || !is_ring(*across))
    refuse(
        "inner links and NICs are told apart by rings alone: measure both with NCCL_ALGO=Ring, and give --algorithm ring");
  if (across->benchmark.ranks_per_host == 0)
    refuse(
        "their ranks are not as many on each host, one host after the other, as a cluster's of nodes are: measure it so");
  return from;
}

/// α less what else is known of a collective's time of no bytes.
Seconds latency_of(const BenchmarkFit& fit, Seconds setup) {
  return Seconds(rounded(std::max(0.0, (fit.fit.launch - setup.si()) / fit.rounds)));
}

/// The topology, and what is said of it.
std::string set_nodes(Cluster& cluster, const Sources& from) {
  const Benchmark& across = from.collective->benchmark;
  Nodes nodes;
  std::string text;
  if (from.inside != nullptr) {
    nodes.gpus_per_node = across.ranks_per_host > 1 ? across.ranks_per_host : from.inside->benchmark.ranks;
    nodes.inner = {BytesPerSecond(rounded(1 / from.inside->ranges.back().beta.value)),
                   latency_of(*from.inside, cluster.collective_cost)};
    cluster.workers = across.hosts * nodes.gpus_per_node;
    cluster.link.latency = Seconds(rounded(std::max(0.0, (cluster.link.latency - nodes.inner.latency).si())));
    text = fmt::format(" The inner link is from {} ({}); a message between hosts takes the latency of both links.",
                       from.inside->benchmark.file, from.inside->what);
  } else {
    nodes.gpus_per_node = across.ranks_per_host;
    nodes.inner = cluster.link;
    cluster.link.latency = {};
    text =
        " What is inside a host and what is between hosts is not told apart by one benchmark: the inner link has its latency and bandwidth too. Add a run inside one host by another --from.";
  }
  cluster.topology = nodes;
  return text;
}

/// Of a message of the benchmark's: α, and β as a rate.
Link path_of(const Cluster& cluster, const Benchmark& benchmark) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  if (nodes == nullptr) return cluster.link;
  if (benchmark.kind == Kind::collective && benchmark.hosts == 1) return nodes->inner;
  return {std::min(cluster.link.bandwidth, nodes->inner.bandwidth), cluster.link.latency + nodes->inner.latency};
}

}  // namespace

Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits) {
  const Sources from = sources_of(fits);
  const BenchmarkFit* collective = from.collective;
  const BenchmarkFit* alpha = from.latency != nullptr ? from.latency : collective;
  if (alpha == nullptr)
    throw std::invalid_argument(
        "a benchmark of bandwidth alone tells no latency: add the text of osu_latency, or a collective's, by another --from");
  const BenchmarkFit* beta = collective != nullptr       ? collective
                             : from.bandwidth != nullptr ? from.bandwidth
                                                         : from.latency;
  Cluster cluster;
  cluster.name = name;
  cluster.workers = collective != nullptr ? collective->benchmark.ranks : 2;
  cluster.link.latency = Seconds(rounded(alpha->ranges.front().alpha.value));
  cluster.link.bandwidth = BytesPerSecond(rounded(1 / beta->ranges.back().beta.value));
  std::string setup = "S is not told from latency by these benchmarks and is 0";
  if (from.latency != nullptr && collective != nullptr) {
    cluster.collective_cost =
        Seconds(rounded(std::max(0.0, collective->fit.launch - collective->rounds * cluster.link.latency.si())));
    setup = "S is the collective's time of no bytes less its rounds' latency";
  }
  cluster.description = fmt::format(
      "Fitted by stepcast-calibrate link: latency from {} ({}), bandwidth from {} ({}); {}. The costs of adding and copying are not told from bandwidth and are part of it. "
      "Intervals in \"fits\" are 95 %, by the covariance of the weighted least squares and Student's t, the sizes at which the regime changes taken as known.",
      alpha->benchmark.file, alpha->what, beta->benchmark.file, beta->what, setup);
  if (collective != nullptr &&
      (from.inside != nullptr || (collective->benchmark.is_of_machines() && is_ring(*collective))))
    cluster.description += set_nodes(cluster, from);
  if (collective != nullptr && collective->benchmark.hosts > 1)
    cluster.description += fmt::format(
        " Latency and bandwidth are those of {} as it was measured, over all NICs of a host and with what its messages wait for one another: use them with that algorithm. Others, auto among them, are forecast by links that nobody measured for them.",
        name_of(collective->algorithm));
  for (const BenchmarkFit& fit : fits)
    for (const RangeFit& range : fit.ranges) cluster.fits.push_back(entry_of(fit, range));
  return cluster;
}

std::vector<double> errors_of(const Cluster& cluster, const BenchmarkFit& fit) {
  const Link path = path_of(cluster, fit.benchmark);
  std::vector<double> errors;
  for (const Benchmark::Row& row : fit.benchmark.rows) {
    const double setup = fit.benchmark.kind == Kind::collective ? cluster.collective_cost.si() : 0;
    const double seconds = setup + fit.rounds * path.latency.si() + fit.factor * row.bytes / path.bandwidth.si();
    errors.push_back(std::abs(seconds - row.seconds) / row.seconds);
  }
  return errors;
}

std::vector<std::string> bad_fits(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::vector<std::string> lines;
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind == Kind::bandwidth) continue;
    if (const double error = median(errors_of(cluster, fit)); error > kMostError)
      lines.push_back(fmt::format(
          "{}: half of its times are {:.0f} % or more from what the cluster gives for {}; good: {:.0f} %. Is it of other links or another algorithm than the rest? If its ranges differ, measure the sizes alone that you send",
          fit.benchmark.file, 100 * error, fit.what, 100 * kMostError));
  }
  return lines;
}

std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::string text;
  for (const BenchmarkFit& fit : fits) {
    text += fmt::format("{}: {} ({})\n  {:<22} {:<36} {}\n", fit.benchmark.file, fit.what, fit.benchmark.program, "n",
                        fit.benchmark.kind == Kind::bandwidth ? "gap between messages (95 %)" : "latency (95 %)",
                        "bandwidth (95 %)");
    for (const RangeFit& range : fit.ranges)
      text += fmt::format("  {:<22} {:<36} {}\n",
                          fmt::format("{} to {}", human_text(Bytes(range.from), 3), human_text(Bytes(range.to), 3)),
                          time_text(range.alpha), rate_text(range.beta));
    if (fit.largest_error > 0)
      text += fmt::format("  error on sizes held out: median {:.1f} %, largest {:.1f} %\n", 100 * fit.median_error,
                          100 * fit.largest_error);
  }
  text += fmt::format("one link for all sizes: latency {}, bandwidth {}", human_text(cluster.link.latency),
                      human_text(cluster.link.bandwidth));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology))
    text += fmt::format("; inside nodes of {}: latency {}, bandwidth {}", nodes->gpus_per_node,
                        human_text(nodes->inner.latency), human_text(nodes->inner.bandwidth));
  if (cluster.collective_cost > Seconds{})
    text += fmt::format(", collective cost {}", human_text(cluster.collective_cost));
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind == Kind::bandwidth) continue;
    const auto errors = errors_of(cluster, fit);
    text +=
        fmt::format("\n  error on {}: median {:.1f} %, p90 {:.1f} %, largest {:.1f} %", fit.what, 100 * median(errors),
                    100 * quantile(errors, 0.9), 100 * *std::max_element(errors.begin(), errors.end()));
  }
  if (const BenchmarkFit* collective = sources_of(fits).collective;
      collective != nullptr && collective->benchmark.hosts > 1)
    text += fmt::format("\nthese are the links of {}; say so in a scenario: \"collective\": {{\"algorithm\": \"{}\"}}",
                        name_of(collective->algorithm), name_of(collective->algorithm));
  return text + "\n";
}

}  // namespace stepcast::calibrate
