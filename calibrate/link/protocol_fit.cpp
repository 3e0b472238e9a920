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

constexpr int kLeastRows = 3;  // that go by a protocol

struct Sample {
  const BenchmarkFit* fit;
  double bytes, seconds;
  bool inside;   ///< a host, of links of its own
  double leave;  ///< of its messages, those that have the latency of a NIC as well
  double setup;  ///< how often S is in it
};

struct Links {
  PathPrice path, inner;
  double setup = 0;

  [[nodiscard]] PathPrice of(const Sample& sample) const {
    if (sample.inside) return inner;
    return {inner.alpha + (path.alpha - inner.alpha) * sample.leave, path.beta};
  }
};

/// To begin with, where any will do: those of a pipeline choose its segments by them.
const Links kAny{{Seconds(1e-6), SecondsPerByte(1e-10)}, {Seconds(1e-6), SecondsPerByte(1e-10)}};

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
  const auto add = [&](const std::vector<const BenchmarkFit*>& fits, bool inside) {
    for (const BenchmarkFit* fit : fits)
      for (const Benchmark::Row& row : fit->benchmark.rows)
        samples.push_back(
            {fit, row.bytes, row.seconds, inside, sources.inside.empty() ? 1 : fit->part_that_leaves(), 1});
  };
  add(sources.collectives, false);
  add(sources.inside, true);
  // A message of no bytes, which is no collective.
  for (const BenchmarkFit* fit : sources.latency)
    if (fit->fit.launch > 0) samples.push_back({fit, 0, fit->fit.launch, false, 1, 0});
  return samples;
}

/// Its messages and bytes by a protocol, whose prices choose the segments of a pipeline.
Terms terms_by(const Sample& sample, const Links& links, const Factors& protocol) {
  const PathPrice path = links.of(sample);
  return terms_of(*sample.fit, sample.bytes, {path.alpha * protocol.alpha, path.beta * protocol.beta});
}

class Fitter {
 public:
  Fitter(const LinkSources& sources, bool with_setup)
      : sources_(sources), with_setup_(with_setup), samples_(samples_of(sources)) {}

  [[nodiscard]] std::size_t samples() const { return samples_.size(); }

  /// The best of so many protocols; infinite squares where there is none.
  [[nodiscard]] Solution best_of(std::size_t protocols) const {
    Solution best;
    for (const std::vector<std::size_t>& start : starts(protocols)) {
      Solution found = from(start, protocols);
      if (found.squares < best.squares) best = std::move(found);
    }
    return best;
  }

  /// Of so many protocols: S, α and β of the links, two more of each other protocol.
  [[nodiscard]] double unknowns(std::size_t protocols) const {
    const double links = (with_setup_ ? 1 : 0) + 2 + (sources_.inside.empty() ? 0 : 2);
    return links + 2 * (static_cast<double>(protocols) - 1);
  }

 private:
  /// The rows in order of their bytes a message, cut into as many parts, at eighths.
  [[nodiscard]] std::vector<std::vector<std::size_t>> starts(std::size_t protocols) const {
    constexpr std::size_t kParts = 8;
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Terms terms = terms_by(samples_[i], kAny, {});
      order.emplace_back(terms.bytes / terms.messages, i);
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
    solution.links = kAny;
    double before = solution.squares;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      if (!fit_links(solution) || (protocols > 1 && !fit_factors(solution))) return {};
      const bool stays = choose(solution);
      if (stays && before - solution.squares <= kSettled * before) break;
      before = solution.squares;
    }
    std::vector<int> rows(protocols);
    for (const std::size_t protocol : solution.of_sample) ++rows[protocol];
    return *std::min_element(rows.begin(), rows.end()) >= kLeastRows ? solution : Solution{};
  }

  [[nodiscard]] bool fit_links(Solution& solution) const {
    const bool with_inner = !sources_.inside.empty();
    std::vector<std::vector<double>> rows;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Sample& sample = samples_[i];
      const Factors& by = solution.protocols[solution.of_sample[i]];
      const Terms terms = terms_by(sample, solution.links, by);
      const double messages = terms.messages * by.alpha;
      std::vector<double> row(kColumns);
      row[kSetup] = with_setup_ ? sample.setup : 0;
      if (with_inner) row[kInnerAlpha] = messages;
      if (!sample.inside) row[kAlpha] = messages * sample.leave;
      row[sample.inside ? kInnerBeta : kBeta] = terms.bytes * by.beta;
      rows.push_back(row);
      targets.push_back(sample.seconds);
    }
    try {
      const auto x = solve_relative(rows, targets).coefficients;
      solution.links = {{Seconds(x[kInnerAlpha] + x[kAlpha]), SecondsPerByte(x[kBeta])},
                        {Seconds(x[kInnerAlpha]), SecondsPerByte(x[kInnerBeta])},
                        x[kSetup]};
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
      const PathPrice path = links.of(samples_[i]);
      std::vector<double> row(1 + 2 * protocols);
      row[0] = with_setup_ ? samples_[i].setup : 0;
      row[1 + 2 * by] = terms.messages * path.alpha.si();
      row[2 + 2 * by] = terms.bytes * path.beta.si();
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
    for (PathPrice* path : {&links.path, &links.inner}) *path = {path->alpha * least.alpha, path->beta * least.beta};
    return true;
  }

  /// By which protocol each sample is the quickest, and what that leaves; returns whether none changed.
  [[nodiscard]] bool choose(Solution& solution) const {
    bool stays = true;
    solution.squares = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t by = 0;
      for (std::size_t p = 0; p < solution.protocols.size(); ++p) {
        const Factors& factors = solution.protocols[p];
        const Terms terms = terms_by(samples_[i], solution.links, factors);
        const PathPrice path = solution.links.of(samples_[i]);
        const double seconds = solution.links.setup * samples_[i].setup +
                               terms.messages * factors.alpha * path.alpha.si() +
                               terms.bytes * factors.beta * path.beta.si();
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
  std::vector<Sample> samples_;
};

ProtocolFit fit_of(const Solution& solution) {
  ProtocolFit fit{solution.links.path, solution.links.inner, solution.links.setup, {}};
  std::vector<Factors> all = solution.protocols;
  std::sort(all.begin(), all.end(), [](const Factors& a, const Factors& b) { return a.alpha < b.alpha; });
  const auto brief = [](double factor) { return std::stod(fmt::format("{:.5g}", factor)); };
  for (const Factors& one : all)
    fit.protocols.push_back(
        {fmt::format("protocol {}", fit.protocols.size() + 1), brief(one.alpha), brief(1 / one.beta)});
  return fit;
}

}  // namespace

std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, bool with_setup, int most) {
  constexpr double kNone = 1e-4;  // deviation
  const Fitter fitter(sources, with_setup);
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
