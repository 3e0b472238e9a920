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

constexpr std::uint64_t kSeed = 20261121;  // seed of the draw of sizes held out

/// Ring where the collective has it, or else its first algorithm.
Algorithm default_algorithm(Operation operation) {
  if (carries_out(Algorithm::ring, operation)) return Algorithm::ring;
  for (const CollectiveAlgorithm& one : collective_algorithms())
    if (one.operation == operation) return one.algorithm;
  throw std::invalid_argument(fmt::format("there is no algorithm for {}", name_of(operation)));
}

/// Whether it runs over two kinds of links, or needs switches that add up. NCCL's trees have two kinds, too, but come
/// with a run inside one host (cluster.cpp).
bool is_left_out(Algorithm algorithm) {
  return algorithm == Algorithm::hierarchical || algorithm == Algorithm::multi_ring ||
         algorithm == Algorithm::in_network;
}

std::string algorithms_of(Operation operation) {
  std::string names;
  for (const Algorithm one : algorithms_to_fit(operation))
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(one));
  return names;
}

Machines machines_of(const Benchmark& benchmark, int nics) {
  return {benchmark.hosts == 1 ? benchmark.ranks : std::max(1, benchmark.ranks_per_host), nics};
}

/// The share of a ring's messages that leave a host, where the ring spans several hosts.
double part_that_leaves(const Benchmark& benchmark) { return static_cast<double>(benchmark.hosts) / benchmark.ranks; }

void set_cost(BenchmarkFit& fit, const FitOptions& options) {
  const Benchmark& benchmark = fit.benchmark;
  if (benchmark.kind != Benchmark::Kind::collective) {
    fit.what = benchmark.kind == Benchmark::Kind::latency ? "point to point" : "point to point, message upon message";
    return;
  }
  const bool is_nccls = options.as_nccl_chooses && benchmark.operation == Operation::all_reduce;
  const Algorithm algorithm = is_nccls                                    ? Algorithm::nccl_tree
                              : options.algorithm == Algorithm::automatic ? default_algorithm(benchmark.operation)
                                                                          : options.algorithm;
  if (!carries_out(algorithm, benchmark.operation) || is_left_out(algorithm))
    throw std::invalid_argument(fmt::format("--algorithm {}: allowed for {}: {}", name_of(algorithm),
                                            name_of(benchmark.operation), algorithms_of(benchmark.operation)));
  CollectiveParameters parameters;
  parameters.segments = options.segments.value_or(1);
  if (algorithm == Algorithm::nccl_tree) parameters.group_size = machines_of(benchmark, 1).workers;
  const Bytes n(1 << 30);
  const CostTerms terms = find_algorithm(benchmark.operation, algorithm).cost(n, benchmark.ranks, parameters);
  fit.rounds = terms.total_messages();
  fit.factor = terms.total_wire() / n;
  fit.algorithm = is_nccls ? Algorithm::automatic : algorithm;
  if (algorithm == Algorithm::double_binary_tree || algorithm == Algorithm::nccl_tree) fit.segments = options.segments;
  if (fit.is_of_trees()) fit.nics = options.nics;
  if (benchmark.hosts > 1 && fit.nics > std::max(1, benchmark.ranks_per_host))
    throw std::invalid_argument(fmt::format("{} has {} ranks a host, which have {} NICs at most, not {}",
                                            benchmark.file, benchmark.ranks_per_host,
                                            std::max(1, benchmark.ranks_per_host), fit.nics));
  fit.what =
      fmt::format("{} by {}{}, {} ranks{}{}", name_of(benchmark.operation), algorithm_text(fit.algorithm),
                  fit.segments ? fmt::format(" of {} segment{}", *fit.segments, *fit.segments == 1 ? "" : "s") : "",
                  benchmark.ranks, benchmark.hosts > 1 ? fmt::format(" on {} hosts", benchmark.hosts) : "",
                  benchmark.hosts > 1 && fit.nics > 1 ? fmt::format(" of {} NICs", fit.nics) : "");
}

/// The one range of what makes no lines, as if all links were alike.
void fit_at_once(BenchmarkFit& result, const std::set<double>& sizes) {
  const JointFit joint = fit_jointly({{&result}, {}, {}, {}});
  result.ranges.push_back({*sizes.begin(), *sizes.rbegin(), joint.alpha, joint.beta});
}

/// The call's cost with the cheapest choice for these links.
Terms chosen_terms(const BenchmarkFit& fit, double n, const LinkPrices& links, bool two_kinds) {
  const Benchmark& benchmark = fit.benchmark;
  const Machines machines = machines_of(benchmark, fit.nics);
  const bool is_inside = two_kinds && benchmark.hosts == 1;
  const PathPrice& outside = is_inside ? links.inside : links.between;
  const PathPrice& inner = two_kinds ? links.inside : links.between;
  // A machine's workers share its NICs for messages to other machines.
  const double sharing = two_kinds && !is_inside ? (machines.workers - 1) / machines.nics + 1 : 1;
  const double leave = part_that_leaves(benchmark);
  Prices prices;
  prices.path.fill(outside);
  prices.path[static_cast<std::size_t>(Path::inner)] = inner;
  prices.path[static_cast<std::size_t>(Path::ring)] = {inner.alpha + (outside.alpha - inner.alpha) * leave,
                                                       std::max(inner.beta, outside.beta)};
  prices.path[static_cast<std::size_t>(Path::far)].beta = std::max(inner.beta, outside.beta * sharing);
  CollectiveChoice choice;
  choice.algorithm = fit.algorithm;
  choice.pipeline_segments.value = fit.segments;
  const CollectiveCall call =
      decide(benchmark.operation, choice, Bytes(n), benchmark.ranks, prices, machines, {}, {}, kAlgorithmsOfNccl);
  const CostTerms cost = cost_of(call, benchmark.ranks);
  const auto of = [&](Path path) {
    return Terms::OfLinks{cost.messages[static_cast<std::size_t>(path)],
                          cost.wire[static_cast<std::size_t>(path)].si()};
  };
  const Terms::OfLinks ring = of(Path::ring), far = of(Path::far), inside = of(Path::inner);
  Terms terms;
  terms.between.messages = far.messages + ring.messages * leave;
  terms.inside = {inside.messages + ring.messages * (1 - leave), inside.bytes};
  // Over the busiest NIC, or, where that takes longer, over a worker's link inside.
  const auto add = [&](double bytes, double by_nic) {
    if (outside.beta * by_nic >= inner.beta * bytes) terms.between.bytes += by_nic;
    else terms.inside.bytes += bytes;
  };
  add(far.bytes, far.bytes * cost.busiest_nic * sharing);
  add(ring.bytes, ring.bytes * cost.busiest_nic);
  const auto all_by = [&](Terms::OfLinks& one, Terms::OfLinks& other) {
    one = {one.messages + other.messages, one.bytes + other.bytes};
    other = {};
  };
  if (!two_kinds) all_by(terms.between, terms.inside);
  if (is_inside) all_by(terms.inside, terms.between);
  return terms;
}

}  // namespace

std::vector<Algorithm> algorithms_to_fit(Operation operation) {
  std::vector<Algorithm> all;
  for (const CollectiveAlgorithm& one : collective_algorithms())
    if (one.operation == operation && !is_left_out(one.algorithm)) all.push_back(one.algorithm);
  return all;
}

std::string algorithm_text(Algorithm algorithm) {
  return algorithm == Algorithm::automatic
             ? fmt::format("{} or {}", name_of(Algorithm::ring), name_of(Algorithm::nccl_tree))
             : std::string(name_of(algorithm));
}

Terms terms_of(const BenchmarkFit& fit, double n, const LinkPrices& links, bool two_kinds) {
  if (!fit.has_lines()) return chosen_terms(fit, n, links, two_kinds);
  const double bytes = fit.factor * n;
  if (!two_kinds || fit.benchmark.kind != Benchmark::Kind::collective) return {{fit.rounds, bytes}, {}};
  if (fit.benchmark.hosts == 1) return {{}, {fit.rounds, bytes}};
  const double leave = part_that_leaves(fit.benchmark);
  return {{fit.rounds * leave, bytes}, {fit.rounds * (1 - leave), 0}};
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
  if (!result.has_lines()) {
    fit_at_once(result, sizes);
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
