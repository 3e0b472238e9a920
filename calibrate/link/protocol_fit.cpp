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

constexpr int kLeastRows = 3;    // rows that use a protocol
constexpr double kUnlike = 1.2;  // shares of buffers on the links, the largest over the least, that tell κ from β

struct Sample {
  const BenchmarkFit* fit;
  double bytes, seconds;
  double setup;  ///< how often S is in it
  [[nodiscard]] double buffer() const { return setup * bytes; }
};

struct Links {
  LinkPrices prices;
  double buffer = 0;  ///< κ
};

/// S + s, a and 1/b.
struct Factors {
  double setup = 0, alpha = 1, beta = 1;
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

bool tells_buffer(const LinkSources& sources) {
  const auto are_unlike = [](const std::vector<const BenchmarkFit*>& fits) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const BenchmarkFit* fit : fits) {
      least = std::min(least, fit->factor);
      most = std::max(most, fit->factor);
    }
    return most > kUnlike * least;
  };
  return are_unlike(sources.collectives) || are_unlike(sources.inside);
}

/// Which unknowns a fit has beside α, β and the protocols' factors.
struct Unknowns {
  bool setup = false;       ///< S
  bool own_setups = false;  ///< s
  bool buffer = false;      ///< κ
};

class Fitter {
 public:
  Fitter(const LinkSources& sources, const JointFit& joint, const Unknowns& with)
      : sources_(sources), with_(with), start_{prices_of(joint)}, samples_(samples_of(sources)) {}

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

  /// The unknowns with this many protocols: κ, α and β of the links, S or each protocol's S + s, and two for each
  /// further protocol.
  [[nodiscard]] double unknowns(std::size_t protocols) const {
    const double links = (with_.buffer ? 1 : 0) + 2 + (sources_.two_kinds() ? 2 : 0);
    const auto all = static_cast<double>(protocols);
    return links + (with_.own_setups ? all : with_.setup ? 1 : 0) + 2 * (all - 1);
  }

 private:
  /// Whose S + s a protocol takes: its own, or that of all.
  [[nodiscard]] std::size_t setup_of(std::size_t protocol) const { return with_.own_setups ? protocol : 0; }

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
    const std::size_t protocols = solution.protocols.size();
    std::vector<std::vector<double>> rows;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Sample& sample = samples_[i];
      const Factors& by = solution.protocols[solution.of_sample[i]];
      const Terms terms = terms_by(sample, solution.links, by);
      const auto row = row_of(0, terms.scaled(by.alpha, by.beta), with_inner);
      rows.emplace_back(row.begin(), row.end());
      rows.back().resize(kColumns + protocols);  // their S + s follow
      rows.back()[kBuffer] = with_.buffer ? sample.buffer() : 0;
      rows.back()[kColumns + setup_of(solution.of_sample[i])] = with_.setup ? sample.setup : 0;
      targets.push_back(sample.seconds);
    }
    try {
      const auto x = solve_relative(rows, targets).coefficients;
      solution.links = {links_of(x), x[kBuffer]};
      for (std::size_t p = 0; p < protocols; ++p) solution.protocols[p].setup = x[kColumns + setup_of(p)];
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
      std::vector<double> row(1 + 3 * protocols);
      row[0] = with_.buffer ? samples_[i].buffer() : 0;
      row[1 + 3 * setup_of(by)] = with_.setup ? samples_[i].setup : 0;
      row[2 + 3 * by] = terms.scaled(1, 0).time(links.prices);
      row[3 + 3 * by] = terms.scaled(0, 1).time(links.prices);
      rows.push_back(row);
      targets.push_back(samples_[i].seconds);
    }
    std::vector<double> x;
    try {
      x = solve_relative(rows, targets).coefficients;
    } catch (const std::invalid_argument&) {
      return false;
    }
    links.buffer = x[0];
    Factors least{0, x[2], x[3]};
    for (std::size_t p = 0; p < protocols; ++p) {
      solution.protocols[p] = {x[1 + 3 * setup_of(p)], x[2 + 3 * p], x[3 + 3 * p]};
      least.alpha = std::min(least.alpha, x[2 + 3 * p]);
      least.beta = std::min(least.beta, x[3 + 3 * p]);
    }
    if (!(least.alpha > 0 && least.beta > 0)) return false;
    for (Factors& one : solution.protocols) one = {one.setup, one.alpha / least.alpha, one.beta / least.beta};
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
        const double seconds = factors.setup * samples_[i].setup + solution.links.buffer * samples_[i].buffer() +
                               terms.time(scaled(solution.links.prices, factors));
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
  Unknowns with_;
  Links start_;  ///< one protocol's: those of a pipeline choose its segments by them
  std::vector<Sample> samples_;
};

std::vector<Unknowns> candidates(bool tells_setup, bool tells_buffer, bool has_several) {
  std::vector<Unknowns> all = {{.setup = tells_setup}};
  if (tells_setup && has_several) all.push_back({.setup = true, .own_setups = true});
  if (tells_buffer)
    for (const Unknowns one : std::vector(all)) all.push_back({one.setup, one.own_setups, true});
  return all;
}

ProtocolFit fit_of(const Solution& solution) {
  std::vector<Factors> all = solution.protocols;
  // The least bandwidth is the protocol of the smallest sizes.
  std::sort(all.begin(), all.end(), [](const Factors& a, const Factors& b) { return a.beta > b.beta; });
  double least = all.front().setup;
  for (const Factors& one : all) least = std::min(least, one.setup);
  ProtocolFit fit{solution.links.prices, least, solution.links.buffer, {}};
  if (all.size() < 2) return fit;
  const auto brief = [](double value) { return std::stod(fmt::format("{:.5g}", value)); };
  for (const Factors& one : all)
    fit.protocols.push_back({fmt::format("protocol {}", fit.protocols.size() + 1), brief(one.alpha),
                             brief(1 / one.beta), Seconds(brief(one.setup - least))});
  return fit;
}

}  // namespace

std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, const JointFit& joint, int most) {
  constexpr double kNone = 1e-4;  // deviation
  std::optional<Solution> best;
  double least = std::numeric_limits<double>::infinity(), deviation = least;
  for (int count = 1; count <= std::min(most, kMostProtocols); ++count)
    for (const Unknowns& with : candidates(joint.tells_setup, tells_buffer(sources), count > 1)) {
      if (deviation <= kNone) break;  // more unknowns improve nothing
      const Fitter fitter(sources, joint, with);
      const auto protocols = static_cast<std::size_t>(count);
      const auto n = static_cast<double>(fitter.samples());
      const double unknowns = fitter.unknowns(protocols);
      if (n <= unknowns) continue;
      Solution found = fitter.best_of(protocols);
      const double root = std::sqrt(found.squares / n),
                   criterion = 2 * n * std::log(std::max(root, kNone)) + unknowns * std::log(n);
      if (!(criterion < least)) continue;
      least = criterion;
      deviation = root;
      best = std::move(found);
    }
  if (!best || (best->protocols.size() < 2 && best->links.buffer <= 0)) return {};
  return fit_of(*best);
}

}  // namespace stepcast::calibrate
