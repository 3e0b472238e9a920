#include "sim/replay/steady_state.hpp"

#include <algorithm>
#include <cmath>

namespace stepcast {

namespace {

/// Steps over which differences are seen to fall. Differences of neighbouring steps need not fall.
constexpr std::ptrdiff_t kSpan = 8;

}  // namespace

/// The largest difference of a stream's latest ends from those of c steps before, shifted by D.
double SteadyState::difference(int c) const {
  const auto shift = static_cast<std::size_t>(c);
  const double d = seconds(c);
  double most = 0.0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(memory_); ++i)
    for (std::size_t s = 0; s < at(i).size(); ++s) most = std::max(most, std::abs(at(i)[s] - at(i + shift)[s] - d));
  return most;
}

/// Whether the differences have more than halved twice, over two equal spans of steps. At that pace, all later
/// differences must add up to little.
bool SteadyState::converges(int c) const {
  const std::deque<double>& all = differences_[static_cast<std::size_t>(c) - 1];
  if (static_cast<std::ptrdiff_t>(all.size()) < 3 * kSpan) return false;
  const auto most = [&](std::ptrdiff_t spans_ago) {
    return *std::max_element(all.end() - (spans_ago + 1) * kSpan, all.end() - spans_ago * kSpan);
  };
  const double latest = most(0), before = most(1);
  if (latest > before / 2 || before > most(2) / 2) return false;
  const double pace = latest / before;
  return kSpan * latest * pace / (1 - pace) <= kConverged * seconds(c);
}

std::optional<Period> SteadyState::add(std::vector<double> ends) {
  history_.push_back(std::move(ends));
  const auto window = static_cast<std::size_t>(memory_) + 1;
  if (history_.size() > window + static_cast<std::size_t>(longest_period_)) history_.pop_front();

  const int longest = std::min(longest_period_, static_cast<int>(history_.size() - std::min(history_.size(), window)));
  for (int c = 1; c <= longest; ++c) {
    // Times are sums of many terms, so rounding errors grow with the clock.
    const double allowed = tolerance_ * seconds(c) + 4e-15 * at(0).front();
    std::deque<double>& differences = differences_[static_cast<std::size_t>(c) - 1];
    differences.push_back(difference(c));
    if (differences.back() <= allowed) return Period{c, seconds(c)};
    if (static_cast<std::ptrdiff_t>(differences.size()) > 3 * kSpan) differences.pop_front();
  }
  for (int c = 1; c <= longest; ++c)
    if (converges(c)) return Period{c, seconds(c), true};
  return {};
}

}  // namespace stepcast
