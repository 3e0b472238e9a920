#include "sim/replay/steady_state.hpp"

#include <cmath>

namespace stepcast {

std::optional<Period> SteadyState::add(std::vector<double> ends) {
  history_.push_back(std::move(ends));
  const auto window = static_cast<std::size_t>(memory_) + 1;
  if (history_.size() > window + static_cast<std::size_t>(longest_period_)) history_.pop_front();

  const auto at = [&](std::size_t steps_ago) -> const std::vector<double>& { return history_[history_.size() - 1 - steps_ago]; };
  for (int c = 1; c <= longest_period_ && static_cast<std::size_t>(c) + window <= history_.size(); ++c) {
    const auto shift = static_cast<std::size_t>(c);
    const double d = at(0).front() - at(shift).front();
    // Times are sums of many terms: rounding grows with the clock itself.
    const double allowed = tolerance_ * d + 4e-15 * at(0).front();
    bool repeats = true;
    for (std::size_t i = 0; repeats && i < window; ++i)
      for (std::size_t s = 0; repeats && s < at(i).size(); ++s) repeats = std::abs(at(i)[s] - at(i + shift)[s] - d) <= allowed;
    if (repeats) return Period{c, d};
  }
  return {};
}

}  // namespace stepcast
