#include "models/search/crossover_search.hpp"

#include <algorithm>
#include <cmath>

namespace stepcast {
namespace {

/// This much narrower than kCrossoverWidth, so that the two sides of an estimate make a bracket that is narrow enough.
constexpr double kMargin = 0.4;

double log_ratio(double a, double b) { return compare_scores(a, b) == 0 ? 0.0 : std::log(a) - std::log(b); }

/// Whether all alternatives have score zero there.
bool scores_nothing(const std::vector<std::optional<double>>& scores) {
  return std::all_of(scores.begin(), scores.end(),
                     [](const std::optional<double>& score) { return score && *score == 0; });
}

}  // namespace

int compare_scores(double a, double b) {
  if (a == b) return 0;  // also two infinite scores
  if (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= kSameScore * std::max(a, b)) return 0;
  return a < b ? -1 : 1;
}

double score_ratio(double a, double b) { return compare_scores(a, b) == 0 ? 1.0 : a / b; }

CrossoverSearch::CrossoverSearch(const AxisRange& range, std::vector<double> grid, std::size_t alternatives,
                                 std::size_t reference)
    : range_(range), grid_(std::move(grid)), alternatives_(alternatives), reference_(reference), step_(0) {
  for (std::size_t i = 1; i < grid_.size(); ++i)
    step_ = std::max(step_, range_.coordinate(grid_[i]) - range_.coordinate(grid_[i - 1]));
}

bool CrossoverSearch::is_narrow(double a, double b, double width) const {
  if (range_.is_discrete()) return range_.steps_to(b) - range_.steps_to(a) < 1.5;
  return b - a <= width * std::max(b, range_.from > 0 ? 0.0 : 1e-6 * range_.to);
}

/// The middle; in a discrete range, the value before it.
double CrossoverSearch::middle(double a, double b) const {
  if (range_.is_discrete())
    return range_.after(std::floor((std::round(range_.steps_to(a)) + std::round(range_.steps_to(b))) / 2));
  return range_.value_at((range_.coordinate(a) + range_.coordinate(b)) / 2);
}

/// Values strictly between a and b that approach a zero of the logarithm of a ratio of scores, given at both ends.
///
/// The logarithm bends little over a step of the grid, so its chord crosses zero near the place. The error is at most
/// about the square of the bracket's width, which is the distance of the two values from the estimate. A bracket that
/// has not halved in each round so far has a jump or a kink, and is quartered.
std::vector<double> CrossoverSearch::values_within(double a, double b, double log_ratio_at_a,
                                                   double log_ratio_at_b) const {
  const double low = range_.coordinate(a), high = range_.coordinate(b), width = high - low;
  const bool smooth = std::isfinite(log_ratio_at_a) && std::isfinite(log_ratio_at_b) &&
                      log_ratio_at_a * log_ratio_at_b < 0 && width <= step_ * std::pow(0.5, rounds_) * (1 + 1e-12);
  std::vector<double> coordinates;
  if (smooth) {
    const double zero = low + width * log_ratio_at_a / (log_ratio_at_a - log_ratio_at_b);
    const double narrow = range_.is_discrete() ? 0.0 : kMargin * kCrossoverWidth * (range_.from > 0 ? 1.0 : b);
    const double beside = std::max(narrow, width / 8 * std::min(1.0, width / step_));
    coordinates = {zero - beside, zero + beside};
  } else {
    coordinates = {low + 0.25 * width, low + 0.5 * width, low + 0.75 * width};
  }
  std::vector<double> values;
  const auto take = [&](double value) {
    if (value > a && value < b && (values.empty() || value > values.back())) values.push_back(value);
  };
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const double value = range_.value_at(coordinates[i]);
    if (!range_.is_discrete()) {
      take(value);
      continue;
    }
    const double steps = range_.steps_to(value);
    take(range_.after(i == 0 ? std::floor(steps) : i + 1 == coordinates.size() ? std::ceil(steps) : std::round(steps)));
  }
  if (values.empty()) take(middle(a, b));
  return values;
}

std::optional<std::size_t> CrossoverSearch::fastest_at(const std::vector<std::optional<double>>& scores) const {
  std::optional<double> most;
  for (const std::optional<double>& score : scores) {
    if (!score) return {};
    most = std::max(most.value_or(*score), *score);
  }
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (compare_scores(*scores[i], *most) == 0) return i;
  return {};
}

void CrossoverSearch::close_in_on_pay(std::size_t alternative, std::vector<Request>& requests) const {
  const std::pair<const double, std::vector<std::optional<double>>>* before = nullptr;
  for (const auto& here : known_) {
    if (!here.second[alternative] || !here.second[reference_]) continue;
    if (before && !is_narrow(before->first, here.first)) {
      const double at_a = log_ratio(*before->second[alternative], *before->second[reference_]),
                   at_b = log_ratio(*here.second[alternative], *here.second[reference_]);
      if ((at_a > 0) != (at_b > 0))
        for (const double value : values_within(before->first, here.first, at_a, at_b)) {
          requests.push_back({alternative, value});
          requests.push_back({reference_, value});
        }
    }
    before = &here;
  }
}

/// The fastest alternatives on either side change places somewhere between. A third one may be faster than both there.
/// It is searched for once that place is found.
void CrossoverSearch::close_in_on_fastest(std::vector<Request>& requests) const {
  const auto all_at = [&](double value) {
    for (std::size_t i = 0; i < alternatives_; ++i) requests.push_back({i, value});
  };
  std::optional<double> before;
  for (const auto& [value, scores] : known_) {
    const auto fastest_here = fastest_at(scores);
    if (!fastest_here) continue;
    if (before && !is_narrow(*before, value)) {
      const std::size_t a = *fastest_at(known_.at(*before)), b = *fastest_here;
      const bool nobody_before = scores_nothing(known_.at(*before)), nobody_here = scores_nothing(scores);
      if (nobody_before != nobody_here) {
        for (const double between : values_within(*before, value, 0, 0)) all_at(between);
      } else if (a != b) {
        // b is preferred at the right end but not at the left one. This is the first place of the change.
        const auto preferred = [&](double difference) { return difference > 0 || (difference == 0 && b < a); };
        std::optional<std::pair<double, double>> left, right;  // value and logarithm of b's score over a's
        for (auto at = known_.find(*before); at->first <= value && !right; ++at) {
          if (!at->second[a] || !at->second[b]) continue;
          const double difference = log_ratio(*at->second[b], *at->second[a]);
          if (left && preferred(difference)) right = {at->first, difference};
          else left = {at->first, difference};
          if (at->first == value) break;
        }
        // Neighbouring scores may be equal in turn although the outer ones differ.
        if (!right || preferred(left->second)) {
          for (const double between : values_within(*before, value, 0, 0)) all_at(between);
        } else if (is_narrow(left->first, right->first)) {
          for (const double side : {left->first, right->first})
            if (!fastest_at(known_.at(side))) all_at(side);
        } else {
          for (const double between : values_within(left->first, right->first, left->second, right->second)) {
            requests.push_back({a, between});
            requests.push_back({b, between});
          }
        }
      }
    }
    before = value;
  }
}

/// A value next to an end of the range, as near as two sides of a peak are.
double CrossoverSearch::beside_end(double end) const {
  const bool first = end == range_.from;
  if (range_.is_discrete()) return range_.after(first ? 1 : range_.steps() - 1);
  const double distance = 0.9 * kPeakWidth * (range_.from > 0 || !first ? end : 1e-6 * range_.to);
  return first ? end + distance : end - distance;
}

/// Asks for the middle of both sides of the largest known speedup. A peak is often a kink, where two tasks take equally
/// long, so only halving is safe. At an end of the range, it is the peak if it is larger than the speedup beside it.
void CrossoverSearch::close_in_on_most(std::size_t alternative, std::vector<Request>& requests) const {
  const Most peak = most(alternative);
  if (!(peak.speedup > 1) || !std::isfinite(peak.speedup)) return;
  std::optional<double> left, right;
  for (const auto& [value, scores] : known_) {
    if (!scores[alternative] || !scores[reference_]) continue;
    if (value < peak.value) left = value;
    if (value > peak.value && !right) right = value;
  }
  const bool at_end = !left || !right;
  const auto look_between = [&](double a, double b) {
    if (is_narrow(a, b, kPeakWidth)) return;
    const double value = at_end ? beside_end(peak.value) : middle(a, b);
    requests.push_back({alternative, value});
    requests.push_back({reference_, value});
  };
  if (left) look_between(*left, peak.value);
  if (right) look_between(peak.value, *right);
}

std::vector<CrossoverSearch::Request> CrossoverSearch::requests() const {
  std::vector<Request> all;
  if (known_.empty()) {
    for (const double value : grid_)
      for (std::size_t i = 0; i < alternatives_; ++i) all.push_back({i, value});
    return all;
  }
  for (std::size_t i = 0; i < alternatives_; ++i)
    if (i != reference_) close_in_on_pay(i, all);
  close_in_on_fastest(all);
  for (std::size_t i = 0; i < alternatives_; ++i)
    if (i != reference_) close_in_on_most(i, all);
  std::erase_if(all, [&](const Request& one) {
    const auto at = known_.find(one.value);
    return at != known_.end() && at->second[one.alternative];
  });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void CrossoverSearch::answer(const std::vector<Request>& requests, const std::vector<double>& scores) {
  if (!known_.empty()) ++rounds_;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto& at = known_[requests[i].value];
    at.resize(alternatives_);
    at[requests[i].alternative] = scores[i];
  }
}

double CrossoverSearch::speedup_at(double value, std::size_t alternative) const {
  const auto& scores = known_.at(value);
  return score_ratio(*scores[alternative], *scores[reference_]);
}

/// @param holds  given the scores at a value: whether the condition holds there; empty if unknown
template <class State>
std::vector<FieldInterval> CrossoverSearch::intervals(std::size_t alternative, State&& holds) const {
  std::vector<FieldInterval> all;
  std::optional<double> before;
  bool held = false;
  for (const auto& [value, scores] : known_) {
    const std::optional<bool> here = holds(scores);
    if (!here) continue;
    if (*here && !held)
      all.push_back({before && !range_.is_discrete() ? middle(*before, value) : value, value,
                     speedup_at(value, alternative), 1.0});
    if (!*here && held) all.back().to = range_.is_discrete() ? *before : middle(*before, value);
    if (*here) {
      all.back().to = value;
      all.back().at_to = speedup_at(value, alternative);
    }
    before = value;
    held = *here;
  }
  return all;
}

std::vector<FieldInterval> CrossoverSearch::pays(std::size_t alternative) const {
  return intervals(alternative, [&](const auto& scores) -> std::optional<bool> {
    if (!scores[alternative] || !scores[reference_]) return {};
    return compare_scores(*scores[alternative], *scores[reference_]) > 0;
  });
}

std::vector<FieldInterval> CrossoverSearch::fastest(std::size_t alternative) const {
  return intervals(alternative, [&](const auto& scores) -> std::optional<bool> {
    const auto found = fastest_at(scores);
    if (!found) return {};
    return *found == alternative && *scores[alternative] > 0;
  });
}

CrossoverSearch::Most CrossoverSearch::most(std::size_t alternative) const {
  std::optional<Most> most;
  for (const auto& [value, scores] : known_)
    if (scores[alternative] && scores[reference_])
      if (const double speedup = speedup_at(value, alternative); !most || compare_scores(speedup, most->speedup) > 0)
        most = {speedup, value};
  return most.value_or(Most{});
}

std::vector<std::pair<double, double>> CrossoverSearch::scores(std::size_t alternative) const {
  std::vector<std::pair<double, double>> all;
  for (const auto& [value, scores] : known_)
    if (scores[alternative]) all.emplace_back(value, *scores[alternative]);
  return all;
}

}  // namespace stepcast
