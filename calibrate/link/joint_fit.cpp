#include "calibrate/link/joint_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "calibrate/least_squares.hpp"
#include "calibrate/link/unknowns.hpp"

namespace stepcast::calibrate {
namespace {

using Row = std::array<double, kColumns>;

struct System {
  std::vector<Row> rows;
  std::vector<double> targets;

  void add(const Row& row, double target) {
    if (!(target > 0)) return;  // a time of 0 says nothing of what it is made of
    rows.push_back(row);
    targets.push_back(target);
  }
};

/// What α and β are made of: inside a host, and between hosts.
struct Columns {
  std::vector<std::pair<Column, double>> alpha;  ///< and how much of it a message has, mean over the ring's
  Column beta;
};

void add_collective(System& system, const BenchmarkFit& fit, const Columns& columns, const PathPrice& path) {
  const auto row_of = [&](double setup, double messages, double bytes) {
    Row row{};
    row[kSetup] = setup;
    for (const auto& [alpha, part] : columns.alpha) row[alpha] = messages * part;
    row[columns.beta] = bytes;
    return row;
  };
  if (fit.is_pipelined()) {
    for (const Benchmark::Row& measured : fit.benchmark.rows) {
      const Terms terms = terms_of(fit, measured.bytes, path);
      system.add(row_of(1, terms.messages, terms.bytes), measured.seconds);
    }
  } else {
    system.add(row_of(1, fit.rounds, 0), fit.fit.launch);
    system.add(row_of(0, 0, fit.factor), fit.fit.slope);
  }
}

/// @param path, inner  to choose segments by
System system_of(const LinkSources& sources, const PathPrice& path, const PathPrice& inner) {
  System system;
  const bool two_links = !sources.inside.empty();
  for (const BenchmarkFit* fit : sources.collectives) {
    const Columns of_star{{{kAlpha, 1}}, kBeta}, of_nodes{{{kInnerAlpha, 1}, {kAlpha, fit->part_that_leaves()}}, kBeta};
    add_collective(system, *fit, two_links ? of_nodes : of_star, path);
  }
  for (const BenchmarkFit* fit : sources.inside) add_collective(system, *fit, {{{kInnerAlpha, 1}}, kInnerBeta}, inner);
  for (const BenchmarkFit* fit : sources.latency) {
    Row row{};
    row[kAlpha] = 1;
    row[kInnerAlpha] = two_links ? 1 : 0;
    system.add(row, fit->fit.launch);
  }
  if (!sources.collectives.empty()) return system;
  Row row{};
  row[kBeta] = 1;
  for (const BenchmarkFit* fit : sources.bandwidth.empty() ? sources.latency : sources.bandwidth)
    system.add(row, fit->fit.slope);
  return system;
}

/// Whether it has a row of α.
bool has_latency(const BenchmarkFit* fit) { return fit->is_pipelined() || fit->fit.launch > 0; }

bool tells_setup(const LinkSources& sources) {
  const auto has_unlike_rounds = [](const std::vector<const BenchmarkFit*>& fits) {
    std::set<double> rounds;
    for (const BenchmarkFit* fit : fits)
      if (has_latency(fit)) rounds.insert(fit->rounds);
    return rounds.size() > 1;
  };
  const auto any_latency = [](const std::vector<const BenchmarkFit*>& fits) {
    return std::any_of(fits.begin(), fits.end(), has_latency);
  };
  return (any_latency(sources.latency) && any_latency(sources.collectives)) || has_unlike_rounds(sources.collectives) ||
         has_unlike_rounds(sources.inside);
}

LeastSquares solve(const System& system, bool with_setup) {
  std::vector<std::vector<double>> rows;
  for (const Row& row : system.rows) {
    rows.emplace_back(row.begin(), row.end());
    if (!with_setup) rows.back()[kSetup] = 0;
  }
  return solve_relative(rows, system.targets);
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

}  // namespace

JointFit fit_jointly(const LinkSources& sources) {
  constexpr int kMostTries = 100;
  const bool with_setup = tells_setup(sources);
  // Any start will do: one message of a microsecond, 10 GB/s.
  PathPrice path{Seconds(1e-6), SecondsPerByte(1e-10)}, inner = path;
  LeastSquares solved;
  for (int i = 0; i < kMostTries; ++i) {
    solved = solve(system_of(sources, path, inner), with_setup);
    const auto& x = solved.coefficients;
    const PathPrice before = path, inner_before = inner;
    path = {Seconds(x[kInnerAlpha] + x[kAlpha]), SecondsPerByte(x[kBeta])};
    inner = {Seconds(x[kInnerAlpha]), SecondsPerByte(x[kInnerBeta])};
    if (is_near(path.alpha.si(), before.alpha.si()) && is_near(path.beta.si(), before.beta.si()) &&
        is_near(inner.alpha.si(), inner_before.alpha.si()) && is_near(inner.beta.si(), inner_before.beta.si()))
      break;
  }
  const auto& x = solved.coefficients;
  const double t = t_quantile_975(solved.degrees_of_freedom);
  const auto interval = [&](std::initializer_list<Column> columns) {
    double value = 0, variance = 0;
    for (const Column a : columns) {
      value += x[a];
      for (const Column b : columns) variance += solved.covariance[a][b];
    }
    const double half = variance > 0 ? t * std::sqrt(variance) : 0;
    return Interval{value, value - half, value + half};
  };
  // No cluster may have such links.
  const auto is_too_fast = [](double beta) { return beta > 0 && 1 / beta > *bandwidth_limits.max; };
  if (!(x[kBeta] > 0) || is_too_fast(x[kBeta]) || is_too_fast(x[kInnerBeta]))
    throw std::invalid_argument("the time does not grow with the bytes: larger sizes are needed");
  return {interval({kInnerAlpha, kAlpha}), interval({kBeta}), interval({kInnerAlpha}),
          interval({kInnerBeta}),          x[kSetup],         with_setup};
}

}  // namespace stepcast::calibrate
