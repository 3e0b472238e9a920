#include "calibrate/link/joint_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
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
    if (!(target > 0)) return;  // a time of 0 says nothing about its parts
    rows.push_back(row);
    targets.push_back(target);
  }
};

void add_collective(System& system, const BenchmarkFit& fit, const LinkPrices& links, bool two_kinds) {
  if (!fit.has_lines()) {
    for (const Benchmark::Row& measured : fit.benchmark.rows)
      system.add(row_of(1, terms_of(fit, measured.bytes, links, two_kinds), two_kinds), measured.seconds);
    return;
  }
  const Terms of_a_byte = terms_of(fit, 1, links, two_kinds);
  system.add(row_of(1, of_a_byte.scaled(1, 0), two_kinds), fit.fit.launch);
  system.add(row_of(0, of_a_byte.scaled(0, 1), two_kinds), fit.fit.slope);
}

/// @param links  to choose segments by
System system_of(const LinkSources& sources, const LinkPrices& links) {
  System system;
  const bool two_kinds = sources.two_kinds();
  for (const BenchmarkFit* fit : sources.collectives) add_collective(system, *fit, links, two_kinds);
  for (const BenchmarkFit* fit : sources.inside) add_collective(system, *fit, links, two_kinds);
  for (const BenchmarkFit* fit : sources.latency) {
    system.add(row_of(0, {{1, 0}, {}}, two_kinds), fit->fit.launch);
  }
  if (!sources.collectives.empty()) return system;
  for (const BenchmarkFit* fit : sources.bandwidth.empty() ? sources.latency : sources.bandwidth)
    system.add(row_of(0, {{0, 1}, {}}, two_kinds), fit->fit.slope);
  return system;
}

/// Whether it has a row of α.
bool has_latency(const BenchmarkFit* fit) { return !fit->has_lines() || fit->fit.launch > 0; }

bool tells_setup(const LinkSources& sources) {
  // NCCL's trees on hosts of as many ranks have chains of as many messages: more hosts only tell latency between them.
  const auto rounds_of = [](const BenchmarkFit& fit) {
    return fit.algorithm == Algorithm::nccl_tree && fit.benchmark.ranks_per_host > 1
               ? static_cast<double>(fit.benchmark.ranks_per_host)
               : fit.rounds;
  };
  const auto has_unlike_rounds = [&](const std::vector<const BenchmarkFit*>& fits) {
    std::set<double> rounds;
    for (const BenchmarkFit* fit : fits)
      if (has_latency(fit)) rounds.insert(rounds_of(*fit));
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

/// Starting points of the least squares. With lines, any will do. Otherwise, the cheapest algorithm at the start
/// decides the end. Links inside are therefore taken to be ten times as wide or as narrow as links between hosts.
std::vector<LinkPrices> starts_for(const LinkSources& sources) {
  const auto have_lines = [](const std::vector<const BenchmarkFit*>& fits) {
    return std::all_of(fits.begin(), fits.end(), [](const BenchmarkFit* fit) { return fit->has_lines(); });
  };
  const bool any_will_do = have_lines(sources.collectives) && have_lines(sources.inside);
  std::vector<LinkPrices> starts;
  for (const double inside : {0.1, 10.0})
    for (const double alpha : {1e-6, 1e-5})
      for (const double beta : {1e-10, 1e-11, 1e-9})
        if (starts.empty() || !any_will_do)
          starts.push_back({{Seconds(alpha), SecondsPerByte(beta)}, {Seconds(1e-6), SecondsPerByte(beta * inside)}});
  return starts;
}

/// The sum of squared relative deviations, with the cheapest choices at these coefficients.
double squares_of(const LinkSources& sources, const std::vector<double>& x) {
  const System system = system_of(sources, links_of(x));
  double squares = 0;
  for (std::size_t i = 0; i < system.rows.size(); ++i)
    squares += std::pow(std::inner_product(x.begin(), x.end(), system.rows[i].begin(), 0.0) / system.targets[i] - 1, 2);
  return squares;
}

/// Solves for the cheapest algorithms until they stay the same. If the solution is worse for the new cheapest ones,
/// goes a part of the way.
LeastSquares settle(const LinkSources& sources, const LinkPrices& start, bool with_setup) {
  constexpr int kMostTries = 100;
  constexpr double kShortest = 1e-6, kSettled = 1e-12;
  LeastSquares best = solve(system_of(sources, start), with_setup);
  best.squares = squares_of(sources, best.coefficients);
  for (int i = 0; i < kMostTries; ++i) {
    LeastSquares next = solve(system_of(sources, links_of(best.coefficients)), with_setup);
    const std::vector<double> target = next.coefficients;
    double part = 1;
    for (; part > kShortest; part /= 2) {
      for (std::size_t k = 0; k < target.size(); ++k)
        next.coefficients[k] = best.coefficients[k] + part * (target[k] - best.coefficients[k]);
      next.squares = squares_of(sources, next.coefficients);
      if (next.squares < best.squares) break;
    }
    if (part <= kShortest) break;
    const bool is_settled = next.squares > best.squares * (1 - kSettled);
    best = std::move(next);
    if (is_settled) break;
  }
  return best;
}

/// No cluster may have other links.
bool is_sound(const LeastSquares& solved) {
  const auto is_too_fast = [](double beta) { return beta > 0 && 1 / beta > *bandwidth_limits.max; };
  const auto& x = solved.coefficients;
  return x[kBeta] > 0 && !is_too_fast(x[kBeta]) && !is_too_fast(x[kInnerBeta]);
}

}  // namespace

LinkPrices prices_of(const JointFit& joint) {
  const auto path = [](const Interval& alpha, const Interval& beta) {
    return PathPrice{Seconds(alpha.value), SecondsPerByte(beta.value)};
  };
  return {path(joint.alpha, joint.beta), path(joint.inner_alpha, joint.inner_beta)};
}

JointFit fit_jointly(const LinkSources& sources) {
  const bool with_setup = tells_setup(sources);
  std::optional<LeastSquares> best;
  for (const LinkPrices& start : starts_for(sources)) {
    LeastSquares found = settle(sources, start, with_setup);
    if (is_sound(found) && (!best || found.squares < best->squares)) best = std::move(found);
  }
  if (!best) throw std::invalid_argument("the time does not grow with the bytes: larger sizes are needed");
  const LeastSquares& solved = *best;
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
  return {interval({kInnerAlpha, kAlpha}), interval({kBeta}), interval({kInnerAlpha}),
          interval({kInnerBeta}),          x[kSetup],         with_setup};
}

}  // namespace stepcast::calibrate
