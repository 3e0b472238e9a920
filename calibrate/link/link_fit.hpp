// α and β of a link, by the closed forms of models/collective: T = S + rounds·α + factor·n·β.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/piecewise.hpp"
#include "models/collective/cost.hpp"
#include "models/part/cluster.hpp"

namespace stepcast::calibrate {

/// A value with its 95 % confidence interval: by the covariance of the weighted least squares and Student's t,
/// deviations being relative and independent, the sizes at which the regime changes taken as known.
struct Interval {
  double value = 0, low = 0, high = 0;
};

inline constexpr int kMostProtocols = 3;  ///< as many as NCCL has

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
  std::optional<int>
      segments{};                ///< of the double binary tree; empty: for each size the cheapest number, as "auto" has
  double rounds = 1;             ///< messages one after another
  double factor = 1;             ///< bytes over the busiest link, over n
  std::vector<RangeFit> ranges;  ///< one where segments depend on the size, which makes no lines
  PiecewiseFit fit;              ///< to all sizes, where ranges are lines
  double median_error = 0, largest_error = 0;  ///< on sizes held out from another such fit; 0 with fewer than ten sizes

  /// Of the messages of a ring over several hosts, those that leave one.
  [[nodiscard]] double part_that_leaves() const { return static_cast<double>(benchmark.hosts) / benchmark.ranks; }

  /// Whether rounds and factor depend on the size, and on α and β.
  [[nodiscard]] bool is_pipelined() const { return algorithm == Algorithm::double_binary_tree && !segments; }
};

/// What n bytes of a benchmark cost on such a path: T = messages·α + bytes·β, + S of a collective.
struct Terms {
  double messages = 0, bytes = 0;
};
Terms terms_of(const BenchmarkFit& fit, double n, const PathPrice& path);

/// Those that a benchmark of the collective can be fitted to: all but what runs over two kinds of links, which one
/// benchmark does not tell apart.
std::vector<Algorithm> algorithms_to_fit(Operation operation);

struct FitOptions {
  Algorithm algorithm = Algorithm::automatic;  ///< automatic: ring, or what the collective has instead
  std::optional<int> segments{};               ///< of the double binary tree; empty: "auto"
};

/// @throws std::invalid_argument where the algorithm is not one of the collective's or time does not grow with size
BenchmarkFit fit_benchmark(const Benchmark& benchmark, const FitOptions& options);

/// The cluster that these benchmarks describe, by joint_fit.hpp. γ and h cannot be told from β by such benchmarks: they
/// stay 0, β contains them.
///
/// Workers are a star of the most ranks of a collective. Where rings were measured on several hosts of several ranks
/// they are `nodes`, whose rings have the mean of their messages' latencies. Its inner link is that of the collectives
/// inside one host, with α less its latency for the NIC; or else, where nothing tells them apart, it has all of α, and
/// β.
///
/// Where the library changes its protocol with the size, the cluster has `protocols` (protocol_fit.hpp), and the link's
/// latency and bandwidth are the best of theirs.
/// @param most_protocols  1: the one link stands for all sizes
/// @pre one at least
/// @throws std::invalid_argument where only bandwidth was measured, which tells no latency; where collectives on
///         several hosts and others are not told apart: they are no rings, or the ranks of each host are unknown or
///         unlike; where collectives on several hosts are of other algorithms or machines
Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits,
                     int most_protocols = kMostProtocols);

/// Where the cluster's time is off by more than kMostError on half of a benchmark's rows or more: a line for each.
inline constexpr double kMostError = 0.2;
std::vector<std::string> bad_fits(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

/// What else is doubtful of what was written: latencies that do not go together, figures that nothing measured.
/// @param most_protocols  as the cluster was made with
std::vector<std::string> doubts(const Cluster& cluster, const std::vector<BenchmarkFit>& fits,
                                int most_protocols = kMostProtocols);

/// The smallest and the largest that the cluster is fitted to: of collectives, where there are any.
std::pair<Bytes, Bytes> fitted_sizes(const std::vector<BenchmarkFit>& fits);

/// What a scenario's strategy says to have a collective carried out as it was fitted: "collective": {...}.
std::string scenario_text(const BenchmarkFit& fit);

/// For people: a row for each range, and how well the cluster stands for all sizes.
std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

}  // namespace stepcast::calibrate
