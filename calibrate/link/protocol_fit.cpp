#include "calibrate/link/protocol_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "calibrate/least_squares.hpp"
#include "calibrate/link/unknowns.hpp"

namespace stepcast::calibrate {
namespace {

constexpr int kLeastRows = 3;  // rows that use a protocol

struct Sample {
  const BenchmarkFit* fit;
  double bytes, seconds;
  double setup;  ///< how often S is in it
};

struct Links {
  LinkPrices prices;
  double setup = 0;
};

/// Over α and β: a, and 1/b.
struct Factors {
  double alpha = 1, beta = 1;
};

struct Solution {
  Links links;
  std::vector<Factors> protocols;
  std::vector<std::size_t> of_sample;  ///< which protocol it goes by
  double squares = std::numeric_limits<double>::infinity();
};

std::vector<Sample> samples_of(const LinkSources& sources) {
  std::vector<Sample> samples;
  const auto add = [&](const std::vector<const BenchmarkFit*>& fits) {
    for (const BenchmarkFit* fit : fits)
      for (const Benchmark::Row& row : fit->benchmark.rows) samples.push_back({fit, row.bytes, row.seconds, 1});
  };
  add(sources.collectives);
  add(sources.inside);
  // A message of no bytes, which is no collective.
  for (const BenchmarkFit* fit : sources.latency)
    if (fit->fit.launch > 0) samples.push_back({fit, 0, fit->fit.launch, 0});
  return samples;
}

LinkPrices scaled(const LinkPrices& links, const Factors& by) { return links.scaled(by.alpha, by.beta); }

class Fitter {
 public:
  Fitter(const LinkSources& sources, const JointFit& joint)
      : sources_(sources),
        with_setup_(joint.tells_setup),
        start_{prices_of(joint), joint.setup},
        samples_(samples_of(sources)) {}

  [[nodiscard]] std::size_t samples() const { return samples_.size(); }

  /// The best fit with this many protocols; infinite squares if there is none.
  [[nodiscard]] Solution best_of(std::size_t protocols) const {
    Solution best;
    for (const std::vector<std::size_t>& start : starts(protocols)) {
      Solution found = from(start, protocols);
      if (found.squares < best.squares) best = std::move(found);
    }
    return best;
  }

  /// The unknowns with this many protocols: S, α and β of the links, and two for each further protocol.
  [[nodiscard]] double unknowns(std::size_t protocols) const {
    const double links = (with_setup_ ? 1 : 0) + 2 + (sources_.two_kinds() ? 2 : 0);
    return links + 2 * (static_cast<double>(protocols) - 1);
  }

 private:
  /// Its messages and bytes by a protocol, whose prices choose the segments of a pipeline.
  [[nodiscard]] Terms terms_by(const Sample& sample, const Links& links, const Factors& protocol) const {
    return terms_of(*sample.fit, sample.bytes, scaled(links.prices, protocol), sources_.two_kinds());
  }

  /// The rows in order of their bytes a message, cut into as many parts, at eighths.
  [[nodiscard]] std::vector<std::vector<std::size_t>> starts(std::size_t protocols) const {
    constexpr std::size_t kParts = 8;
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Terms terms = terms_by(samples_[i], start_, {});
      order.emplace_back((terms.between.bytes + terms.inside.bytes) / (terms.between.messages + terms.inside.messages),
                         i);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::vector<std::size_t>> all;
    const auto add = [&](const std::vector<std::size_t>& cuts) {
      std::vector<std::size_t> start(samples_.size());
      for (std::size_t place = 0; place < order.size(); ++place)
        for (const std::size_t cut : cuts) start[order[place].second] += place * kParts >= cut * order.size() ? 1 : 0;
      all.push_back(start);
    };
    if (protocols == 1) add({});
    for (std::size_t first = 1; protocols > 1 && first < kParts; ++first) {
      if (protocols == 2) add({first});
      for (std::size_t second = first + 1; protocols == 3 && second < kParts; ++second) add({first, second});
    }
    return all;
  }

  [[nodiscard]] Solution from(const std::vector<std::size_t>& start, std::size_t protocols) const {
    constexpr int kMostTurns = 100;
    constexpr double kSettled = 1e-9;
    Solution solution;
    solution.protocols.assign(protocols, {});
    solution.of_sample = start;
    solution.links = start_;
    double before = solution.squares;
    Solution best;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      if (!fit_links(solution) || (protocols > 1 && !fit_factors(solution))) break;
      const bool stays = choose(solution);
      if (solution.squares < best.squares) best = solution;
      if (stays && before - solution.squares <= kSettled * before) break;
      before = solution.squares;
    }
    if (!std::isfinite(best.squares)) return {};
    std::vector<int> rows(protocols);
    for (const std::size_t protocol : best.of_sample) ++rows[protocol];
    return *std::min_element(rows.begin(), rows.end()) >= kLeastRows ? best : Solution{};
  }

  [[nodiscard]] bool fit_links(Solution& solution) const {
    const bool with_inner = sources_.two_kinds();
    std::vector<std::vector<double>> rows;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Sample& sample = samples_[i];
      const Factors& by = solution.protocols[solution.of_sample[i]];
      const Terms terms = terms_by(sample, solution.links, by);
      const auto row = row_of(with_setup_ ? sample.setup : 0, terms.scaled(by.alpha, by.beta), with_inner);
      rows.emplace_back(row.begin(), row.end());
      targets.push_back(sample.seconds);
    }
    try {
      const auto x = solve_relative(rows, targets).coefficients;
      solution.links = {links_of(x), x[kSetup]};
      const auto is_sound = [](double beta) { return beta > 0 && 1 / beta <= *bandwidth_limits.max; };
      return is_sound(x[kBeta]) && (!with_inner || is_sound(x[kInnerBeta]));
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  /// And makes the least of each 1, with links that are as much slower.
  [[nodiscard]] bool fit_factors(Solution& solution) const {
    const std::size_t protocols = solution.protocols.size();
    Links& links = solution.links;
    std::vector<std::vector<double>> rows;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::size_t by = solution.of_sample[i];
      const Terms terms = terms_by(samples_[i], links, solution.protocols[by]);
      std::vector<double> row(1 + 2 * protocols);
      row[0] = with_setup_ ? samples_[i].setup : 0;
      row[1 + 2 * by] = terms.scaled(1, 0).time(links.prices);
      row[2 + 2 * by] = terms.scaled(0, 1).time(links.prices);
      rows.push_back(row);
      targets.push_back(samples_[i].seconds);
    }
    std::vector<double> x;
    try {
      x = solve_relative(rows, targets).coefficients;
    } catch (const std::invalid_argument&) {
      return false;
    }
    links.setup = x[0];
    Factors least{x[1], x[2]};
    for (std::size_t p = 0; p < protocols; ++p) {
      solution.protocols[p] = {x[1 + 2 * p], x[2 + 2 * p]};
      least = {std::min(least.alpha, x[1 + 2 * p]), std::min(least.beta, x[2 + 2 * p])};
    }
    if (!(least.alpha > 0 && least.beta > 0)) return false;
    for (Factors& one : solution.protocols) one = {one.alpha / least.alpha, one.beta / least.beta};
    links.prices = scaled(links.prices, least);
    return true;
  }

  /// Gives each sample its quickest protocol, and computes the remaining squares; returns whether no sample changed.
  [[nodiscard]] bool choose(Solution& solution) const {
    bool stays = true;
    solution.squares = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t by = 0;
      for (std::size_t p = 0; p < solution.protocols.size(); ++p) {
        const Factors& factors = solution.protocols[p];
        const Terms terms = terms_by(samples_[i], solution.links, factors);
        const double seconds =
            solution.links.setup * samples_[i].setup + terms.time(scaled(solution.links.prices, factors));
        if (seconds < least) {
          least = seconds;
          by = p;
        }
      }
      stays = stays && by == solution.of_sample[i];
      solution.of_sample[i] = by;
      solution.squares += std::pow(least / samples_[i].seconds - 1, 2);
    }
    return stays;
  }

  const LinkSources& sources_;
  bool with_setup_;
  Links start_;  ///< one protocol's: those of a pipeline choose its segments by them
  std::vector<Sample> samples_;
};

ProtocolFit fit_of(const Solution& solution) {
  ProtocolFit fit{solution.links.prices, solution.links.setup, {}};
  std::vector<Factors> all = solution.protocols;
  std::sort(all.begin(), all.end(), [](const Factors& a, const Factors& b) { return a.alpha < b.alpha; });
  const auto brief = [](double factor) { return std::stod(fmt::format("{:.5g}", factor)); };
  for (const Factors& one : all)
    fit.protocols.push_back(
        {fmt::format("protocol {}", fit.protocols.size() + 1), brief(one.alpha), brief(1 / one.beta)});
  return fit;
}

}  // namespace

std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, const JointFit& joint, int most) {
  constexpr double kNone = 1e-4;  // deviation
  const Fitter fitter(sources, joint);
  const auto n = static_cast<double>(fitter.samples());
  std::optional<Solution> best;
  double least = std::numeric_limits<double>::infinity();
  for (int count = 1; count <= std::min(most, kMostProtocols); ++count) {
    const auto protocols = static_cast<std::size_t>(count);
    if (n <= fitter.unknowns(protocols)) break;
    Solution found = fitter.best_of(protocols);
    if (!std::isfinite(found.squares)) continue;
    const double criterion =
        n * std::log(std::max(found.squares / n, kNone * kNone)) + fitter.unknowns(protocols) * std::log(n);
    if (criterion >= least) continue;
    least = criterion;
    best = std::move(found);
    if (best->squares / n <= kNone * kNone) break;
  }
  if (!best || best->protocols.size() < 2) return {};
  return fit_of(*best);
}

}  // namespace stepcast::calibrate
