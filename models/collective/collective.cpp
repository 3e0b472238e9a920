#include "models/collective/collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/collective/in_order_tree.hpp"

namespace stepcast {
namespace {

using enum Operation;

constexpr CollectiveAlgorithm kAlgorithms[] = {
    {all_reduce, Algorithm::ring, "2(p-1)ᾱ + 2(p-1)/p·nβ + (p-1)/p·nγ + S, ᾱ the mean over the ring's hops",
     "Patarasu and Yuan 2009", ring::all_reduce, ring::all_reduce_cost},
    {all_reduce, Algorithm::multi_ring,
     "2(p-1)ᾱ + 2(p-1)/p·nβ* + (p-1)/p·nγ + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::all_reduce, multi_ring::all_reduce_cost},
    {all_reduce, Algorithm::recursive_doubling, "lg q·(α + nβ + nγ) + S, q = 2^floor(lg p); p ≠ q: 2α + 2nβ + nγ more",
     "Thakur 2005", recursive_doubling::all_reduce, recursive_doubling::all_reduce_cost},
    {all_reduce, Algorithm::halving_doubling,
     "2 lg q·α + 2(q-1)/q·nβ + (q-1)/q·nγ + S, q = 2^floor(lg p); p ≠ q: 2α + 2nβ + nγ more", "Thakur 2005",
     halving_doubling::all_reduce, halving_doubling::all_reduce_cost},
    {all_reduce, Algorithm::binary_tree, "2Dα + 2Lnβ + Lnγ + S, D = floor(lg p), L = 2D - [p a power of two]",
     "textbook; derived in binary_tree.cpp", binary_tree::all_reduce, binary_tree::all_reduce_cost},
    {all_reduce, Algorithm::double_binary_tree,
     "2Rα + 2Lσβ + Lσγ + S, σ = n/2s, R = floor(lg p) + s - 1, L = 2R - [p a power of two], for p = 2 L = R",
     "Sanders et al. 2009; derived in double_binary_tree.cpp", double_binary_tree::all_reduce,
     double_binary_tree::all_reduce_cost},
    {all_reduce, Algorithm::nccl_tree,
     "2(g-1)α' + (2D + s - 1)α + Wβ' + max(Nβ, Mβ') + Rγ + S, D = floor(lg ceil(p/g)), p ≤ g: (2(g-1) + s - 1)α' + Wβ' + Rγ + S; "
     "over the busiest worker's link W in rounds inside machines alone and M in others, added by it R, over the busiest NIC N, of a "
     "long pipeline 2n/k of k NICs, of two machines n/k: counted in nccl_tree.cpp",
     "Jeaugey 2019 (NCCL 2.4); counted in nccl_tree.cpp", nccl_tree::all_reduce, nccl_tree::all_reduce_cost},
    {all_reduce, Algorithm::reduce_broadcast, "2ceil(lg p)(α + nβ) + ceil(lg p)·nγ + S", "textbook",
     binomial_tree::reduce_broadcast, binomial_tree::reduce_broadcast_cost},
    {all_reduce, Algorithm::hierarchical,
     "2(g-1)(α' + n/g·β') + (g-1)/g·nγ + T(n/g) of the all-reduce between p/g groups, for ring 2(p/g-1)(α + n/p·β + n/2p·γ), + S",
     "derived in hierarchical.cpp; Thakur 2005 and Sanders et al. 2009 between groups", hierarchical::all_reduce,
     hierarchical::all_reduce_cost},
    {all_gather, Algorithm::ring, "(p-1)ᾱ + (p-1)/p·nβ + S, ᾱ the mean over the ring's hops", "Thakur 2005",
     ring::all_gather, ring::all_gather_cost},
    {all_gather, Algorithm::multi_ring,
     "(p-1)ᾱ + (p-1)/p·nβ* + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::all_gather, multi_ring::all_gather_cost},
    {all_gather, Algorithm::recursive_doubling,
     "lg p·α + (p-1)/p·nβ + S, p a power of two; otherwise see recursive_doubling.cpp", "Thakur 2005",
     recursive_doubling::all_gather, recursive_doubling::all_gather_cost},
    {all_gather, Algorithm::bruck, "ceil(lg p)·α + (p-1)/p·nβ + S", "Bruck et al. 1997", bruck::all_gather,
     bruck::all_gather_cost},
    {all_gather, Algorithm::hierarchical,
     "(g-1)(α' + n/g·β') + T(n/g) of the all-gather between p/g groups, for ring (p/g-1)(α + n/p·β), + S",
     "derived in hierarchical.cpp; Thakur 2005 between groups", hierarchical::all_gather,
     hierarchical::all_gather_cost},
    {reduce_scatter, Algorithm::ring, "(p-1)ᾱ + (p-1)/p·nβ + (p-1)/p·nγ + S, ᾱ the mean over the ring's hops",
     "Thakur 2005", ring::reduce_scatter, ring::reduce_scatter_cost},
    {reduce_scatter, Algorithm::multi_ring,
     "(p-1)ᾱ + (p-1)/p·nβ* + (p-1)/p·nγ + S, ᾱ the mean over the rings' hops, β* = max(β', ceil(c/k)/c·β) of c rings over the k NICs of machines, β' inside",
     "Jeaugey 2019 (NCCL 2.4); derived in multi_ring.cpp", multi_ring::reduce_scatter, multi_ring::reduce_scatter_cost},
    {reduce_scatter, Algorithm::recursive_doubling,
     "lg p·α + (p-1)/p·n(β + γ) + S, p a power of two; otherwise see recursive_doubling.cpp",
     "Thakur 2005 (recursive halving)", recursive_doubling::reduce_scatter, recursive_doubling::reduce_scatter_cost},
    {reduce_scatter, Algorithm::hierarchical,
     "(g-1)(α' + n/g·β') + (g-1)/g·nγ + T(n/g) of the reduce-scatter between p/g groups, for ring (p/g-1)(α + n/p·β + n/p·γ), + S",
     "derived in hierarchical.cpp; Thakur 2005 between groups", hierarchical::reduce_scatter,
     hierarchical::reduce_scatter_cost},
    {broadcast, Algorithm::binomial_tree, "ceil(lg p)(α + nβ) + S", "Thakur 2005", binomial_tree::broadcast,
     binomial_tree::broadcast_cost},
    {all_to_all, Algorithm::pairwise, "(p-1)α + (p-1)/p·nβ + S", "Thakur 2005", pairwise::all_to_all,
     pairwise::all_to_all_cost},
};

constexpr int kMostSegments = 4096;  // largest number that "auto" tries

/// The s that minimises (D + s - 1)(α + n/s·b) - [p = 2^D]·n/s·b/2, half of double-binary-tree's time; b = β + h + γ/2.
/// The continuous optimum is sqrt((D - 1 - [p = 2^D]/2)·n·b/α); one of its integer neighbours is the best.
int best_segments(Bytes n, int p, const Prices& prices) {
  const PathPrice& far = prices.path[static_cast<int>(Path::far)];
  const double inner_levels = std::max(0.0, in_order_depth(p) - 1 - (lone_child_of_root(p) ? 0.5 : 0.0));
  const Seconds transfer = n * (far.beta + prices.host + prices.gamma / 2.0);
  const double ideal =
      far.alpha.si() > 0 ? std::sqrt(inner_levels * (transfer / far.alpha)) : (inner_levels > 0 ? kMostSegments : 1);
  const int low = static_cast<int>(std::clamp(std::floor(ideal), 1.0, static_cast<double>(kMostSegments)));
  const int high = std::min(low + 1, kMostSegments);
  const auto cost = [&](int s) { return price(double_binary_tree::all_reduce_cost(n, p, {1, s}), prices).total(); };
  return cost(high) < cost(low) ? high : low;
}

/// The cheapest power of two, since NCCL also cuts its buffers into powers of two.
int best_segments(Bytes n, int p, const Prices& prices, CollectiveParameters tree) {
  int best = 1;
  std::optional<Seconds> least;
  const double bytes = n.si() / (2.0 * tree.rings);  // bytes of one tree; a block has at least one byte
  for (tree.segments = 1; tree.segments <= kMostSegments && (tree.segments == 1 || tree.segments <= bytes);
       tree.segments *= 2) {
    const PricedCost cost = price(nccl_tree::all_reduce_cost(n, p, tree), prices);
    if (least && cost.latency >= *least) break;  // more segments only increase the latency
    if (least && cost.total() >= *least) continue;
    best = tree.segments;
    least = cost.total();
  }
  return best;
}

constexpr Algorithm kAllReducesBetween[] = {Algorithm::ring, Algorithm::halving_doubling, Algorithm::recursive_doubling,
                                            Algorithm::double_binary_tree};
constexpr Algorithm kGathersBetween[] = {Algorithm::ring, Algorithm::recursive_doubling};

/// The calls among which "auto" chooses, for one communicator.
struct Candidates {
  const CollectiveChoice& choice;
  Bytes n;
  int p;  ///< the members of the communicator
  const Prices& prices;
  Machines machines;  ///< as the members see them
  Communicators among;
  Placement placement = Placement::machines;
  bool is_timed = false;  ///< whether calls are compared by CallTimes instead of their closed forms

  /// @param trees  the number of trees that run side by side, each with its own blocks
  [[nodiscard]] int segments(Bytes bytes, int participants, int trees = 1) const {
    return choice.pipeline_segments.value
               ? *choice.pipeline_segments.value
               : std::min(best_segments(bytes, participants, prices), std::max(1, kMostBlocks / 2 / trees));
  }

  /// The group size of hierarchical.
  [[nodiscard]] int group_size() const {
    const int machine = std::max(1, machines.workers);
    return choice.group_size.value.value_or(machine >= p ? p : p % machine == 0 ? machine : 1);
  }
  /// All group sizes to try. Without a choice, they include other sizes that the topology suggests.
  [[nodiscard]] std::vector<int> group_sizes() const {
    std::vector<int> all{group_size()};
    if (choice.group_size.value || !is_timed) return all;
    for (const int level : machines.levels)
      if (level > 1 && level < p && p % level == 0 && std::find(all.begin(), all.end(), level) == all.end())
        all.push_back(level);
    if (all.size() > 1 && is_all_or_one(all.front())) all.erase(all.begin());
    return all;
  }
  [[nodiscard]] bool is_all_or_one(int group) const { return group == 1 || group == p; }

  /// The group size of multi-ring. Without machines in the topology, the group is all workers.
  [[nodiscard]] int ring_group() const {
    return std::min(p, choice.group_size.value.value_or(machines.workers > 1 ? machines.workers : p));
  }
  [[nodiscard]] int rings() const {
    return choice.rings.value.value_or(machines.workers < p ? std::min(machines.nics, ring_group()) : 1);
  }
  /// All numbers of rings to try. Without a choice, they include the smaller powers of two.
  [[nodiscard]] std::vector<int> numbers_of_rings() const {
    std::vector<int> all{rings()};
    if (!choice.rings.value && is_timed)
      for (int fewer = 2; fewer < all.front(); fewer *= 2) all.push_back(fewer);
    return all;
  }

  /// The group size of nccl-tree. Without machines in the topology, each worker is a machine.
  [[nodiscard]] int tree_group() const {
    return std::min(p, choice.group_size.value.value_or(std::max(1, machines.workers)));
  }
  /// Inside a machine, all of NCCL's channels have one chain (its logs on NVSwitch, from memory): one pair is enough.
  [[nodiscard]] int tree_pairs() const {
    return choice.rings.value.value_or(tree_group() < p ? std::min(machines.nics, tree_group()) : 1);
  }

  /// The reason why the algorithm cannot run; "" if it can.
  [[nodiscard]] std::string why_not(const CollectiveAlgorithm& entry) const {
    switch (entry.algorithm) {
      case Algorithm::multi_ring:
        if (rings() > ring_group()) return fmt::format("{} rings in groups of {} participants", rings(), ring_group());
        return rings() > 1 && rings() > kMostBlocks / p ? fmt::format("{} rings of {} participants", rings(), p) : "";
      case Algorithm::nccl_tree:
        if (tree_pairs() > tree_group())
          return fmt::format("{} pairs of trees in groups of {} participants", tree_pairs(), tree_group());
        return tree_group() > kMostChained ? fmt::format("a chain of {} participants", tree_group()) : "";
      case Algorithm::hierarchical:
        return p % group_size() != 0 ? fmt::format("group size {} does not divide {} participants", group_size(), p)
                                     : "";
      default: return "";
    }
  }
  /// Whether it differs from the plain ring. One group, groups of one rank, or one ring do not.
  [[nodiscard]] bool is_of_its_own(const CollectiveAlgorithm& entry) const {
    if (entry.algorithm == Algorithm::multi_ring) return rings() > 1;
    return entry.algorithm != Algorithm::hierarchical || !is_all_or_one(group_sizes().front());
  }

  /// The candidates for "auto": those of the library, or all if the library has none that can run.
  [[nodiscard]] std::vector<CollectiveCall> all_of(Operation operation, std::span<const Algorithm> library) const {
    std::vector<CollectiveCall> all;
    const auto add = [&](std::span<const Algorithm> having, bool copies) {
      for (const CollectiveAlgorithm& entry : kAlgorithms)
        if (entry.operation == operation && may_choose(having, entry.algorithm, operation) && why_not(entry).empty() &&
            (copies || is_of_its_own(entry)))
          for (CollectiveCall& call : of(entry)) all.push_back(call);
    };
    add(library, false);
    if (all.empty()) add(library, true);
    if (all.empty()) add({}, false);
    return all;
  }

  [[nodiscard]] std::vector<CollectiveCall> of(const CollectiveAlgorithm& entry) const {
    if (const std::string why = why_not(entry); !why.empty()) throw std::invalid_argument(why);
    CollectiveCall call{&entry, {}, n, {}, among, placement};
    CollectiveParameters& parameters = call.parameters;
    if (entry.algorithm == Algorithm::hierarchical) return hierarchical(call);
    if (entry.algorithm == Algorithm::double_binary_tree) parameters.segments = segments(n, p);
    if (entry.algorithm == Algorithm::halving_doubling) parameters.exchange_order = choice.exchange_order;
    if (entry.algorithm == Algorithm::nccl_tree) parameters = nccl_tree();
    if (entry.algorithm == Algorithm::multi_ring) return multi_rings(call);
    return {call};
  }

  /// Whether "auto" decides the call's number of segments.
  [[nodiscard]] bool has_open_segments(const CollectiveCall& call) const {
    const Algorithm algorithm = call.algorithm->algorithm;
    return !choice.pipeline_segments.value &&
           (algorithm == Algorithm::nccl_tree || algorithm == Algorithm::double_binary_tree ||
            (algorithm == Algorithm::hierarchical && call.parameters.between_groups == Algorithm::double_binary_tree));
  }
  /// A segment has at least one byte.
  [[nodiscard]] int most_segments(const CollectiveCall& call) const {
    const CollectiveParameters& parameters = call.parameters;
    const int parts = call.algorithm->algorithm == Algorithm::hierarchical ? parameters.group_size : parameters.rings;
    return static_cast<int>(
        std::clamp(n.si() / (2.0 * parts), 1.0, std::min<double>(kMostSegments, kMostBlocks / 2.0 / parts)));
  }

 private:
  [[nodiscard]] bool fits_a_machine(int group) const {
    return (machines.workers <= 1 && placement != Placement::spread) || machines.workers % group == 0;
  }

  [[nodiscard]] CollectiveParameters nccl_tree() const {
    CollectiveParameters tree;
    tree.group_size = tree_group();
    tree.group_fits = fits_a_machine(tree.group_size);
    tree.rings = tree_pairs();
    tree.nics = machines.nics;
    tree.nic_of_gpu = machines.nic_of_gpu;
    tree.segments =
        choice.pipeline_segments.value ? *choice.pipeline_segments.value : best_segments(n, p, prices, tree);
    return tree;
  }

  [[nodiscard]] std::vector<CollectiveCall> multi_rings(CollectiveCall call) const {
    std::vector<CollectiveCall> all;
    call.parameters.group_size = ring_group();
    call.parameters.nics = machines.nics;
    call.parameters.nic_of_gpu = machines.nic_of_gpu;
    for (const int rings : numbers_of_rings()) {
      call.parameters.rings = rings;
      all.push_back(call);
    }
    return all;
  }

  [[nodiscard]] std::vector<CollectiveCall> hierarchical(const CollectiveCall& call) const {
    std::vector<CollectiveCall> all;
    for (const int g : group_sizes()) add_hierarchical(call, g, all);
    if (all.empty() && choice.algorithm == Algorithm::hierarchical)
      throw std::invalid_argument(fmt::format("{} between groups does not {}", name_of(choice.between_groups),
                                              name_of(call.algorithm->operation)));
    return all;
  }

  void add_hierarchical(CollectiveCall call, int g, std::vector<CollectiveCall>& all) const {
    call.parameters.group_size = g;
    call.parameters.group_fits = fits_a_machine(g);
    for (const Algorithm between : algorithms_between(call.algorithm->operation)) {
      if (choice.between_groups != Algorithm::automatic && choice.between_groups != between) continue;
      call.parameters.between_groups = between;
      call.parameters.exchange_order =
          between == Algorithm::halving_doubling ? choice.exchange_order : ExchangeOrder::near_first;
      call.parameters.segments = between == Algorithm::double_binary_tree ? segments(n / g, p / g, g) : 1;
      if (call.parameters.segments > kMostBlocks / 2 / g) {
        if (choice.between_groups == Algorithm::automatic) continue;
        throw std::invalid_argument(
            fmt::format("{} segments in groups of {} participants", call.parameters.segments, g));
      }
      all.push_back(call);
      if (p == g) break;  // with one group there are no rounds between groups
    }
  }
};

/// The k-th number of segments to try: 2^(k/4), rounded. A pipeline's time is flat near its optimum: halfway between
/// two tried numbers, it is within 0.3 % of the best.
int number_of_segments(int k) { return static_cast<int>(std::lround(std::exp2(k / 4.0))); }

/// Searches for a better number of segments, starting from the call's own. NCCL's numbers are powers of two.
/// @param time     time of the call
/// @param steps    step sizes in quarters of a factor of two, applied in this order
/// @param time_of  gives the time of a call
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
    const Seconds its_time = time_of(other);
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

}  // namespace

std::span<const CollectiveAlgorithm> collective_algorithms() { return kAlgorithms; }

std::span<const Algorithm> algorithms_between(Operation operation) {
  switch (operation) {
    case all_reduce: return kAllReducesBetween;
    case all_gather:
    case reduce_scatter: return kGathersBetween;
    case broadcast:
    case all_to_all: break;
  }
  return {};
}

bool carries_out(Algorithm algorithm, Operation operation) {
  return std::any_of(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const CollectiveAlgorithm& entry) {
    return entry.operation == operation && entry.algorithm == algorithm;
  });
}

bool may_choose(std::span<const Algorithm> library, Algorithm algorithm, Operation operation) {
  const auto carries_it_out = [operation](Algorithm one) { return carries_out(one, operation); };
  return carries_it_out(algorithm) && (std::find(library.begin(), library.end(), algorithm) != library.end() ||
                                       std::none_of(library.begin(), library.end(), carries_it_out));
}

CollectiveChoice fitted(CollectiveChoice choice, Operation operation) {
  const auto between = algorithms_between(operation);
  if (!carries_out(choice.algorithm, operation)) choice.algorithm = Algorithm::automatic;
  if (std::find(between.begin(), between.end(), choice.between_groups) == between.end())
    choice.between_groups = Algorithm::automatic;
  return choice;
}

const CollectiveAlgorithm& find_algorithm(Operation operation, Algorithm algorithm) {
  for (const CollectiveAlgorithm& entry : kAlgorithms)
    if (entry.operation == operation && entry.algorithm == algorithm) return entry;
  throw std::invalid_argument(fmt::format("{} has no algorithm {}", name_of(operation), name_of(algorithm)));
}

namespace {

/// An upper bound on the messages in the call's largest round.
double most_messages(const CollectiveCall& call, double workers) {
  switch (call.algorithm->algorithm) {
    case Algorithm::multi_ring: return workers * call.parameters.rings;
    case Algorithm::nccl_tree: return 4 * workers * call.parameters.rings;
    case Algorithm::hierarchical:
    case Algorithm::double_binary_tree: return 2 * workers;
    default: return workers;
  }
}

}  // namespace

double unlike_messages(const CollectiveCall& call, int p) {
  return static_cast<double>(unlike_rounds(schedule_of(call, p)).size()) * most_messages(call, p);
}

Schedule schedule_of(const CollectiveCall& call, int p) {
  const Communicators& among = call.among;
  Schedule all = call.algorithm->schedule(among.size(p), call.parameters);
  if (among.is_one()) return all;
  all.participants = p;
  all.round = [one = all.round, among, count = among.count(p)](int r) {
    return in_each(one(r), among, count, [](int, Slice slice) { return slice; });
  };
  return all;
}

CostTerms cost_of(const CollectiveCall& call, int p) {
  CostTerms terms = call.algorithm->cost(call.bytes, call.among.size(p), call.parameters);
  if (call.placement == Placement::machine) terms.reroute(Path::ring, Path::inner).reroute(Path::far, Path::inner);
  if (call.placement == Placement::spread) terms.reroute(Path::ring, Path::far);
  return terms;
}

namespace {

CollectiveCall cheapest(const std::vector<CollectiveCall>& all, int p, const Prices& prices) {
  const CollectiveCall* best = nullptr;
  Seconds least{};
  for (const CollectiveCall& call : all) {
    const Seconds time = price(cost_of(call, p), prices).total();
    if (best && !(time < least)) continue;
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
  Seconds limit = kUnlimited;
  std::vector<Bounded> bounded;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_open = candidates.has_open_segments(all[i]);
    // A pipeline with too few segments may be far above the limit although a better one is below it.
    const Seconds at_first = is_open ? kUnlimited : limit * (1 + kRounding);
    CallTimes::Bounds bounds = times.bounds(all[i], at_first);
    if (is_open) {
      const int most = candidates.most_segments(all[i]);
      all[i] = with_best_segments(all[i], bounds.middle(), most, kCoarse,
                                  [&](const CollectiveCall& call) { return times.bounds(call, kUnlimited).middle(); });
      bounds = times.bounds(all[i], limit);
      if (bounds.low < limit)
        all[i] = with_best_segments(all[i], bounds.middle(), most, kFine, [&](const CollectiveCall& call) {
          return times.bounds(call, kUnlimited).middle();
        });
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
      const Seconds limit_now = std::min(time, best_time);
      const bool in_powers = one.call.algorithm->algorithm == Algorithm::nccl_tree;
      one.call = with_best_segments(one.call, time, candidates.most_segments(one.call),
                                    in_powers ? std::span<const int>(kPowers) : std::span<const int>(kFine),
                                    [&](const CollectiveCall& call) {
                                      const Seconds low = times.bounds(call, limit_now).low;
                                      return low > limit_now ? low : times.time(call);
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

CostTerms lower_bound(Operation operation, Bytes n, int p) {
  CostTerms terms;
  const Bytes share = n * (p - 1) / p;
  switch (operation) {
    case all_reduce: terms.add(Path::far, ceil_log2(p), 2.0 * share).reduced = share; break;
    case all_gather: terms.add(Path::far, ceil_log2(p), share); break;
    case reduce_scatter: terms.add(Path::far, ceil_log2(p), share).reduced = share; break;
    case broadcast: terms.add(Path::far, ceil_log2(p), p > 1 ? n : Bytes{}); break;
    case all_to_all: terms.add(Path::far, p > 1 ? 1 : 0, share); break;
  }
  return terms;
}

}  // namespace stepcast
