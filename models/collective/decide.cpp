// Decides "auto": compares the candidates by their closed forms, or by bounds and exact times.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "models/collective/candidates.hpp"
#include "models/collective/collective.hpp"

namespace stepcast {
namespace {

/// The k-th number of segments to try: 2^(k/4), rounded. A pipeline's time is flat near its optimum: halfway between
/// two tried numbers, it is within 0.3 % of the best.
int number_of_segments(int k) { return static_cast<int>(std::lround(std::exp2(k / 4.0))); }

/// Searches for a better number of segments, starting from the call's own. NCCL's numbers are powers of two.
/// @param time     time of the call
/// @param steps    step sizes in quarters of a factor of two, applied in this order
/// @param time_of  gives the time of a call, or any time above the limit if it is above
template <class TimeOf>
CollectiveCall with_best_segments(CollectiveCall call, Seconds time, int most, std::span<const int> steps,
                                  const TimeOf& time_of) {
  int at = static_cast<int>(std::lround(4 * std::log2(call.parameters.segments)));
  const int finest = call.algorithm->algorithm == Algorithm::nccl_tree ? 4 : 1;
  at = at / finest * finest;
  const auto is_better = [&](int k) {
    CollectiveCall other = call;
    other.parameters.segments = k < 0 ? 0 : number_of_segments(k);
    if (other.parameters.segments < 1 || other.parameters.segments > most) return false;
    const Seconds its_time = time_of(other, time);
    if (!(its_time < time)) return false;
    call = other;
    time = its_time;
    return true;
  };
  for (const int step : steps)
    for (const int direction : {-step, step})
      while (step >= finest && is_better(at + direction)) at += direction;
  return call;
}
/// The first among those with the least price. @pre there are calls
CollectiveCall cheapest(const std::vector<CollectiveCall>& all, int p, const Prices& prices) {
  const auto price_of = [&](const CollectiveCall& call) { return price(cost_of(call, p), prices).total(); };
  const CollectiveCall* best = &all.front();
  Seconds least = price_of(*best);
  for (const CollectiveCall& call : std::span(all).subspan(1)) {
    const Seconds time = price_of(call);
    if (!(time < least)) continue;
    best = &call;
    least = time;
  }
  return *best;
}

/// Uses bounds first, so that few calls need exact times. Among equal times, the order of preference decides.
CollectiveCall quickest(std::vector<CollectiveCall> all, const Candidates& candidates, const CallTimes& times) {
  constexpr double kRounding = 1e-12;
  constexpr std::array kCoarse = {8, 4}, kFine = {2, 1};
  constexpr std::array kPowers = {4};  // powers of two
  struct Bounded {
    std::size_t preference;
    CollectiveCall call;
    Seconds low;
  };
  constexpr Seconds kUnlimited(std::numeric_limits<double>::infinity());
  const auto middle = [&](const CollectiveCall& call, Seconds most) { return times.bounds(call, most).middle(); };
  Seconds limit = kUnlimited;
  std::vector<Bounded> bounded;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_open = candidates.has_open_segments(all[i]);
    // A pipeline with too few segments may be far above the limit although a better one is below it.
    const Seconds at_first = is_open ? kUnlimited : limit * (1 + kRounding);
    CallTimes::Bounds bounds = times.bounds(all[i], at_first);
    if (is_open) {
      const int most = candidates.most_segments(all[i]);
      all[i] = with_best_segments(all[i], bounds.middle(), most, kCoarse, middle);
      bounds = times.bounds(all[i], limit);
      if (bounds.low < limit) all[i] = with_best_segments(all[i], bounds.middle(), most, kFine, middle);
      bounds = times.bounds(all[i], limit);
    }
    limit = std::min(limit, bounds.high);
    bounded.push_back({i, all[i], bounds.low});
  }
  std::stable_sort(bounded.begin(), bounded.end(), [](const Bounded& a, const Bounded& b) { return a.low < b.low; });
  std::optional<Bounded> best;
  Seconds best_time = kUnlimited;
  for (Bounded& one : bounded) {
    if (best && one.low > best_time * (1 + kRounding)) break;
    Seconds time = times.time(one.call);
    if (candidates.has_open_segments(one.call)) {
      const bool in_powers = one.call.algorithm->algorithm == Algorithm::nccl_tree;
      one.call = with_best_segments(one.call, time, candidates.most_segments(one.call),
                                    in_powers ? std::span<const int>(kPowers) : std::span<const int>(kFine),
                                    [&](const CollectiveCall& call, Seconds least) {
                                      const Seconds most = std::min(least, best_time);
                                      const Seconds low = times.bounds(call, most).low;
                                      return low > most ? low : times.time(call);
                                    });
      time = times.time(one.call);
    }
    const bool is_as_fast = best && std::abs((time - best_time).si()) <= kRounding * best_time.si();
    if (best && (is_as_fast ? one.preference > best->preference : time > best_time)) continue;
    best = one;
    best_time = std::min(best_time, time);
  }
  return best->call;
}

}  // namespace

CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes n, int p, const Prices& prices,
                      const Machines& machines, const Communicators& among, const CallTimes* times,
                      std::span<const Algorithm> library) {
  const Candidates candidates{choice,
                              n,
                              among.size(p),
                              prices,
                              machines_seen(among, p, machines),
                              among,
                              placement(among, p, machines),
                              times != nullptr};
  std::vector<CollectiveCall> all = choice.algorithm == Algorithm::automatic
                                        ? candidates.all_of(operation, library)
                                        : candidates.of(find_algorithm(operation, choice.algorithm));
  if (all.size() == 1 && !(times && candidates.has_open_segments(all.front()))) return all.front();
  return times ? quickest(std::move(all), candidates, *times) : cheapest(all, p, prices);
}
}  // namespace stepcast
