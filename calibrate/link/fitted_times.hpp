// The times that a fitted cluster predicts for the benchmarks it was fitted to.
#pragma once

#include <string>
#include <vector>

#include "calibrate/link/link_fit.hpp"

namespace stepcast::calibrate {

struct FittedTime {
  double bytes = 0;        ///< n
  double measured = 0;     ///< s
  double fitted = 0;       ///< s, what a scenario with the cluster forecasts
  std::string protocol{};  ///< the protocol in use; empty where the cluster has none

  [[nodiscard]] double error() const { return fitted / measured - 1; }
};

/// One for each row of the benchmark.
std::vector<FittedTime> fitted_times(const Cluster& cluster, const BenchmarkFit& fit);

/// |error| of each.
std::vector<double> errors_of(const Cluster& cluster, const BenchmarkFit& fit);

/// All of them: file, benchmark, bytes, measured_s, fitted_s, error, protocol.
std::string fitted_times_csv(const Cluster& cluster, const std::vector<BenchmarkFit>& fits);

}  // namespace stepcast::calibrate
