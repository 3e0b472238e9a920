#include "calibrate/link/link_fit.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "calibrate/link/joint_fit.hpp"
#include "calibrate/statistics.hpp"
#include "models/collective/collective.hpp"

namespace stepcast::calibrate {
namespace {

constexpr std::uint64_t kSeed = 20261121;  // of the draw of sizes held out

/// Ring where the collective has it, or else its first algorithm.
Algorithm default_algorithm(Operation operation) {
  if (carries_out(Algorithm::ring, operation)) return Algorithm::ring;
  for (const CollectiveAlgorithm& one : collective_algorithms())
    if (one.operation == operation) return one.algorithm;
  throw std::invalid_argument(fmt::format("there is no algorithm for {}", name_of(operation)));
}

/// What knows machines runs over two kinds of links, which one benchmark does not tell apart.
bool knows_machines(Algorithm algorithm) {
  return algorithm == Algorithm::hierarchical || algorithm == Algorithm::multi_ring;
}

std::string algorithms_of(Operation operation) {
  std::string names;
  for (const Algorithm one : algorithms_to_fit(operation))
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(one));
  return names;
}

void set_cost(BenchmarkFit& fit, const FitOptions& options) {
  const Benchmark& benchmark = fit.benchmark;
  if (benchmark.kind != Benchmark::Kind::collective) {
    fit.what = benchmark.kind == Benchmark::Kind::latency ? "point to point" : "point to point, message upon message";
    return;
  }
  const Algorithm algorithm =
      options.algorithm == Algorithm::automatic ? default_algorithm(benchmark.operation) : options.algorithm;
  if (!carries_out(algorithm, benchmark.operation) || knows_machines(algorithm))
    throw std::invalid_argument(fmt::format("--algorithm {}: allowed for {}: {}", name_of(algorithm),
                                            name_of(benchmark.operation), algorithms_of(benchmark.operation)));
  CollectiveParameters parameters;
  parameters.segments = options.segments.value_or(1);
  const Bytes n(1 << 30);
  const CostTerms terms = find_algorithm(benchmark.operation, algorithm).cost(n, benchmark.ranks, parameters);
  fit.rounds = terms.total_messages();
  fit.factor = terms.total_wire() / n;
  fit.algorithm = algorithm;
  if (algorithm == Algorithm::double_binary_tree) fit.segments = options.segments;
  fit.what = fmt::format("{} by {}{}, {} ranks{}", name_of(benchmark.operation), name_of(algorithm),
                         fit.segments ? fmt::format(" of {} segments", *fit.segments) : "", benchmark.ranks,
                         benchmark.hosts > 1 ? fmt::format(" on {} hosts", benchmark.hosts) : "");
}

/// The one range of a pipeline whose segments depend on the size.
void fit_pipeline(BenchmarkFit& result, const std::set<double>& sizes) {
  const JointFit joint = fit_jointly({{&result}, {}, {}, {}});
  result.ranges.push_back({*sizes.begin(), *sizes.rbegin(), joint.alpha, joint.beta});
}

}  // namespace

std::vector<Algorithm> algorithms_to_fit(Operation operation) {
  std::vector<Algorithm> all;
  for (const CollectiveAlgorithm& one : collective_algorithms())
    if (one.operation == operation && !knows_machines(one.algorithm)) all.push_back(one.algorithm);
  return all;
}

Terms terms_of(const BenchmarkFit& fit, double n, const PathPrice& path) {
  if (!fit.is_pipelined()) return {fit.rounds, fit.factor * n};
  Prices prices;
  prices.path.fill(path);
  CollectiveChoice choice;
  choice.algorithm = fit.algorithm;
  const CollectiveCall call = decide(fit.benchmark.operation, choice, Bytes(n), fit.benchmark.ranks, prices, {});
  const CostTerms terms = cost_of(call, fit.benchmark.ranks);
  return {terms.total_messages(), terms.total_wire().si()};
}

BenchmarkFit fit_benchmark(const Benchmark& benchmark, const FitOptions& options) {
  BenchmarkFit result;
  result.benchmark = benchmark;
  set_cost(result, options);
  std::vector<Timing> timings;
  std::set<double> sizes;
  for (const Benchmark::Row& row : benchmark.rows) {
    timings.push_back({static_cast<std::int64_t>(row.bytes), row.bytes, 0, row.seconds});
    sizes.insert(row.bytes);
  }
  if (result.is_pipelined()) {
    fit_pipeline(result, sizes);
    return result;
  }
  const PiecewiseOptions pieces{3, 3, false};
  result.fit = fit_piecewise(timings, pieces);
  if (sizes.size() >= 10) {
    const Judged judged = fit_and_judge(timings, kSeed, pieces);
    result.median_error = judged.median_error;
    result.largest_error = judged.largest_error;
  }
  const double t = t_quantile_975(result.fit.degrees_of_freedom);
  const auto interval = [t](double value, double error, double divisor) {
    return Interval{value / divisor, (value - t * error) / divisor, (value + t * error) / divisor};
  };
  for (const PiecewiseFit::Segment& segment : result.fit.segments)
    result.ranges.push_back({std::max(segment.from, *sizes.begin()), std::min(segment.to, *sizes.rbegin()),
                             interval(segment.intercept, segment.intercept_error, result.rounds),
                             interval(segment.slope, segment.slope_error, result.factor)});
  return result;
}

}  // namespace stepcast::calibrate
