#include "calibrate/link/fitted_times.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "models/part/protocols.hpp"

namespace stepcast::calibrate {
namespace {

using Kind = Benchmark::Kind;

/// Of a message of the benchmark's: α, the mean over a ring's, and β.
PathPrice path_of(const Cluster& cluster, const BenchmarkFit& fit) {
  const Benchmark& benchmark = fit.benchmark;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  if (nodes == nullptr) return {cluster.link.latency, inverse(cluster.link.bandwidth)};
  if (benchmark.kind == Kind::collective && benchmark.hosts == 1)
    return {nodes->inner.latency, inverse(nodes->inner.bandwidth)};
  const double leave = benchmark.kind == Kind::collective ? fit.part_that_leaves() : 1;
  return {cluster.link.latency * leave + nodes->inner.latency,
          inverse(std::min(cluster.link.bandwidth, nodes->inner.bandwidth))};
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

}  // namespace

std::vector<FittedTime> fitted_times(const Cluster& cluster, const BenchmarkFit& fit) {
  const PathPrice path = path_of(cluster, fit);
  const bool is_collective = fit.benchmark.kind == Kind::collective;
  const double setup = is_collective ? cluster.collective_cost.si() : 0;
  const std::vector<Protocol> protocols = is_collective ? protocols_of(cluster) : std::vector<Protocol>(1);
  std::vector<FittedTime> all;
  for (const Benchmark::Row& row : fit.benchmark.rows) {
    FittedTime time{row.bytes, row.seconds, INFINITY, ""};
    for (const Protocol& protocol : protocols) {
      const PathPrice by{path.alpha * protocol.latency_factor, path.beta / protocol.bandwidth_factor};
      const Terms terms = terms_of(fit, row.bytes, by);
      const double seconds = setup + terms.messages * by.alpha.si() + terms.bytes * by.beta.si();
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
