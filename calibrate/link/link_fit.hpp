// α and β of a link, by the closed forms of models/collective: T = S + rounds·α + factor·n·β.
#pragma once

#include <vector>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/piecewise.hpp"
#include "models/part/cluster.hpp"

namespace stepcast::calibrate {

/// A value with its 95 % confidence interval: by the covariance of the weighted least squares and Student's t,
/// deviations being relative and independent, the sizes at which the regime changes taken as known.
struct Interval {
  double value = 0, low = 0, high = 0;
};

/// α and β over a range of sizes, the continuous piecewise fit line by line.
struct RangeFit {
  double from = 0, to = 0;  ///< n, bytes
  Interval alpha;           ///< s; below 0 where the line only continues another
  Interval beta;            ///< s/B
};

struct BenchmarkFit {
  Benchmark benchmark;
  std::string what;                            ///< "all-reduce by ring, 8 ranks on 2 hosts"
  Algorithm algorithm = Algorithm::automatic;  ///< of a collective
  double rounds = 1;                           ///< messages one after another
  double factor = 1;                           ///< bytes over the busiest link, over n
  std::vector<RangeFit> ranges;
  PiecewiseFit fit;                            ///< to all sizes
  double median_error = 0, largest_error = 0;  ///< on sizes held out from another such fit; 0 with fewer than ten sizes
};

/// Those that a benchmark of the collective can be fitted to: all but what runs over two kinds of links, which one
/// benchmark does not tell apart.
std::vector<Algorithm> algorithms_to_fit(Operation operation);

struct FitOptions {
  Algorithm algorithm = Algorithm::automatic;  ///< automatic: ring, or what the collective has instead
  int segments = 1;                            ///< of the double binary tree
};

/// @throws std::invalid_argument where the algorithm is not one of the collective's or time does not grow with size
BenchmarkFit fit_benchmark(const Benchmark& benchmark, const FitOptions& options);

/// The cluster that these benchmarks describe, of which α and β are those of a message between hosts, if there are
/// several:
///   α  of the smallest range of a latency benchmark, or else of the collective
///   β  of the largest range of the collective, or else of a bandwidth or latency benchmark
///   S  what a collective's time of no bytes has beyond rounds·α, where a latency benchmark tells them apart; otherwise 0
/// The collective is the first of several hosts, or else the first. γ and h cannot be told from β by such benchmarks:
/// they stay 0, β contains them.
///
/// Workers are a star of its ranks. Where rings were measured on several hosts of several ranks they are `nodes`, whose
/// ring is as slow as its slowest message. Its inner link is that of the first collective inside one host, with α less
/// its latency for the NIC; or else, where nothing tells them apart, it has all of α, and β.
/// @pre one at least
/// @throws std::invalid_argument where only bandwidth was measured, which tells no latency; where a collective inside
/// one host
///         and one of several hosts are not told apart: they are no rings, or the ranks of each host are unknown or unlike
Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits);

/// Where the cluster's time is off by more than kMostError on half of a benchmark's rows or more: a line for each.
inline constexpr double kMostError = 0.2;
std::vector<std::string> bad_fits(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

/// |cluster's time - measured|/measured, a value for each row.
std::vector<double> errors_of(const Cluster& cluster, const BenchmarkFit& fit);

/// For people: a row for each range, and how well the one link stands for all sizes.
std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

}  // namespace stepcast::calibrate
