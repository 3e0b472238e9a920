// α and β of a link, by the closed forms of models/collective: T = S + rounds·α + factor·n·β.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/piecewise.hpp"
#include "models/collective/cost_counts.hpp"
#include "models/part/cluster.hpp"

namespace stepcast::calibrate {

/// A value with its 95 % confidence interval, by the covariance of the weighted least squares and Student's t.
/// Deviations are taken as relative and independent, and the sizes of regime changes as known.
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
  Algorithm algorithm = Algorithm::automatic;  ///< for a collective; automatic: for each size the quickest of NCCL's
  std::optional<int> segments{};  ///< for a pipelined tree; empty: for each size the cheapest number, as "auto" has
  int nics = 1;                   ///< NICs per host, for NCCL's trees or choice; 1: all of them as one
  double rounds = 1;              ///< messages one after another
  double factor = 1;              ///< bytes over the busiest link, over n
  std::vector<RangeFit> ranges;   ///< one without lines
  PiecewiseFit fit;               ///< to all sizes, where ranges are lines
  double median_error = 0, largest_error = 0;  ///< on sizes held out from another such fit; 0 with fewer than ten sizes

  /// Whether the fit is of NCCL's tree, or of NCCL's choice between tree and ring. Both know machines.
  [[nodiscard]] bool is_of_trees() const {
    return benchmark.kind == Benchmark::Kind::collective &&
           (algorithm == Algorithm::nccl_tree || algorithm == Algorithm::automatic);
  }
  /// Whether time is rounds·α + factor·n·β of one kind of links at every size. Otherwise rounds and factor are those of
  /// one segment.
  [[nodiscard]] bool has_lines() const {
    return !is_of_trees() && !(algorithm == Algorithm::double_binary_tree && !segments);
  }
};

/// α and β of a message between hosts and of one inside a host. A message between hosts passes both kinds of links.
struct LinkPrices {
  PathPrice between, inside;

  [[nodiscard]] LinkPrices scaled(double alpha, double beta) const {
    const auto one = [&](const PathPrice& path) { return PathPrice{path.alpha * alpha, path.beta * beta}; };
    return {one(between), one(inside)};
  }
};

/// The cost of n bytes of a benchmark: T = messages·α + bytes·β for either kind of link, + S for a collective.
struct Terms {
  struct OfLinks {
    double messages = 0, bytes = 0;
  };
  OfLinks between, inside;

  [[nodiscard]] double time(const LinkPrices& links) const {
    return between.messages * links.between.alpha.si() + between.bytes * links.between.beta.si() +
           inside.messages * links.inside.alpha.si() + inside.bytes * links.inside.beta.si();
  }
  [[nodiscard]] Terms scaled(double by_messages, double by_bytes) const {
    return {{between.messages * by_messages, between.bytes * by_bytes},
            {inside.messages * by_messages, inside.bytes * by_bytes}};
  }
};
/// @param links      they decide the segments and the quickest algorithm
/// @param two_kinds  whether links inside hosts are others than those between them; otherwise all is `between`
Terms terms_of(const BenchmarkFit& fit, double n, const LinkPrices& links, bool two_kinds);

/// "ring", or the algorithms among which NCCL chooses.
std::string algorithm_text(Algorithm algorithm);

/// Algorithms that a benchmark of the collective can be fitted to. Algorithms over two kinds of links are left out,
/// because one benchmark does not separate the links.
std::vector<Algorithm> algorithms_to_fit(Operation operation);

struct FitOptions {
  Algorithm algorithm = Algorithm::automatic;  ///< automatic: ring, or what the collective has instead
  std::optional<int> segments{};               ///< for a pipelined tree; empty: "auto"
  bool as_nccl_chooses = false;                ///< all-reduce: among kAlgorithmsOfNccl, for each size; others: ring
  int nics = 1;                                ///< NICs per host, for NCCL's trees or choice; 1: all of them as one
};

/// @throws std::invalid_argument where the algorithm is not one of the collective's or time does not grow with size
BenchmarkFit fit_benchmark(const Benchmark& benchmark, const FitOptions& options);

/// The cluster that these benchmarks describe, by joint_fit.hpp. Such benchmarks do not separate γ and h from β: they
/// stay 0, and β contains them.
///
/// Workers are a star of the most ranks of a collective. They are `nodes` if rings were measured on several hosts of
/// several ranks; such rings have the mean of their messages' latencies. So are they with NCCL's trees, which are
/// chains inside. The inner link comes from collectives inside one host, with α less its latency for the NIC. If
/// nothing separates the two, the inner link has all of α, and β.
///
/// If the library changes its protocol with the size, the cluster has `protocols` (protocol_fit.hpp). The link then has
/// their best latency and best bandwidth.
/// @param most_protocols  1: the one link stands for all sizes
/// @pre one at least
/// @throws std::invalid_argument if only bandwidth was measured, which gives no latency. Also if collectives on several
/// hosts cannot be separated from others. They are then neither rings nor NCCL's trees, or each host's ranks are
/// unknown or unequal. Also if collectives on several hosts use different algorithms or machines, or NCCL's trees over
/// hosts of several ranks have no run inside one
Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits,
                     int most_protocols = kMostProtocols);

/// A line for each benchmark with large errors: the cluster's time is off by more than kMostError on at least half of
/// its rows.
inline constexpr double kMostError = 0.2;
std::vector<std::string> bad_fits(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

/// Doubts about the written cluster: latencies that do not go together, figures that nothing measured.
/// @param most_protocols  as the cluster was made with
std::vector<std::string> doubts(const Cluster& cluster, const std::vector<BenchmarkFit>& fits,
                                int most_protocols = kMostProtocols);

/// The smallest and the largest size that the cluster is fitted to: of collectives, where there are any.
std::pair<Bytes, Bytes> fitted_sizes(const std::vector<BenchmarkFit>& fits);

/// The scenario's strategy entry that carries a collective out as it was fitted: "collective": {...}.
std::string scenario_text(const BenchmarkFit& fit);

/// For people: a row for each range, and how well the cluster stands for all sizes.
std::string link_table(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

}  // namespace stepcast::calibrate
