#include "calibrate/link/fitted_times.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "models/part/protocols.hpp"

namespace stepcast::calibrate {
namespace {

using Kind = Benchmark::Kind;

LinkPrices link_prices(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const PathPrice link{cluster.link.latency, inverse(cluster.link.bandwidth)};
  if (nodes == nullptr) return {link, link};
  return {{link.alpha + nodes->inner.latency, inverse(std::min(cluster.link.bandwidth, nodes->inner.bandwidth))},
          {nodes->inner.latency, inverse(nodes->inner.bandwidth)}};
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

}  // namespace

std::vector<FittedTime> fitted_times(const Cluster& cluster, const BenchmarkFit& fit) {
  const LinkPrices links = link_prices(cluster);
  const bool two_kinds = std::holds_alternative<Nodes>(cluster.topology);
  const bool is_collective = fit.benchmark.kind == Kind::collective;
  const double setup = cluster.collective_cost.si(), buffer = cluster.collective_byte_cost.si();
  const std::vector<Protocol> protocols = is_collective ? protocols_of(cluster) : std::vector<Protocol>(1);
  std::vector<FittedTime> all;
  for (const Benchmark::Row& row : fit.benchmark.rows) {
    FittedTime time{row.bytes, row.seconds, INFINITY, ""};
    for (const Protocol& protocol : protocols) {
      const LinkPrices by = links.scaled(protocol.latency_factor, 1 / protocol.bandwidth_factor);
      const double begins = is_collective ? setup + protocol.setup.si() + buffer * row.bytes : 0;
      const double seconds = begins + terms_of(fit, row.bytes, by, two_kinds).time(by);
      if (seconds >= time.fitted) continue;
      time.fitted = seconds;
      time.protocol = protocol.name;
    }
    all.push_back(time);
  }
  return all;
}

std::vector<double> errors_of(const Cluster& cluster, const BenchmarkFit& fit) {
  std::vector<double> errors;
  for (const FittedTime& time : fitted_times(cluster, fit)) errors.push_back(std::abs(time.error()));
  return errors;
}

std::string fitted_times_csv(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::string text = "file,benchmark,bytes,measured_s,fitted_s,error,protocol\n";
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind == Kind::bandwidth) continue;  // gaps between messages, of no scenario
    for (const FittedTime& time : fitted_times(cluster, fit))
      text += fmt::format("{},{},{},{:.7g},{:.7g},{:.4f},{}\n", quoted(fit.benchmark.file), quoted(fit.what),
                          time.bytes, time.measured, time.fitted, time.error(), quoted(time.protocol));
  }
  return text;
}

}  // namespace stepcast::calibrate
