#include "models/collective/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "models/collective/in_order_tree.hpp"

namespace stepcast {
namespace {

constexpr int kMostSegments = 4096;  // largest number that "auto" tries

/// The s that minimises (D + s - 1)(α + n/s·b) - [p = 2^D]·n/s·b/2, half of double-binary-tree's time; b = β + h + γ/2.
/// The continuous optimum is sqrt((D - 1 - [p = 2^D]/2)·n·b/α); one of its integer neighbours is the best.
int best_segments(Bytes n, int p, const Prices& prices) {
  const PathPrice& far = prices.path[static_cast<int>(Path::far)];
  const double inner_levels = std::max(0.0, in_order_depth(p) - 1 - (lone_child_of_root(p) ? 0.5 : 0.0));
  const Seconds transfer = n * (far.beta + prices.host[static_cast<int>(Path::far)] + prices.gamma / 2.0);
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

}  // namespace

int Candidates::segments(Bytes bytes, int participants, int trees) const {
  return choice.pipeline_segments.value
             ? *choice.pipeline_segments.value
             : std::min(best_segments(bytes, participants, prices), std::max(1, kMostBlocks / 2 / trees));
}

int Candidates::group_size() const {
  const int machine = std::max(1, machines.workers);
  return choice.group_size.value.value_or(machine >= p ? p : p % machine == 0 ? machine : 1);
}

std::vector<int> Candidates::group_sizes() const {
  std::vector<int> all{group_size()};
  if (choice.group_size.value || !is_timed) return all;
  for (const int level : machines.levels)
    if (level > 1 && level < p && p % level == 0 && std::find(all.begin(), all.end(), level) == all.end())
      all.push_back(level);
  if (all.size() > 1 && is_all_or_one(all.front())) all.erase(all.begin());
  return all;
}

int Candidates::ring_group() const {
  return std::min(p, choice.group_size.value.value_or(machines.workers > 1 ? machines.workers : p));
}

int Candidates::rings() const {
  return choice.rings.value.value_or(machines.workers < p ? std::min(machines.nics, ring_group()) : 1);
}

std::vector<int> Candidates::numbers_of_rings() const {
  std::vector<int> all{rings()};
  if (!choice.rings.value && is_timed)
    for (int fewer = 2; fewer < all.front(); fewer *= 2) all.push_back(fewer);
  return all;
}

int Candidates::tree_group() const {
  return std::min(p, choice.group_size.value.value_or(std::max(1, machines.workers)));
}

int Candidates::tree_pairs() const {
  return choice.rings.value.value_or(tree_group() < p ? std::min(machines.nics, tree_group()) : 1);
}

std::string Candidates::why_not(const CollectiveAlgorithm& entry) const {
  switch (entry.algorithm) {
    case Algorithm::multi_ring:
      if (rings() > ring_group()) return fmt::format("{} rings in groups of {} participants", rings(), ring_group());
      return rings() > 1 && rings() > kMostBlocks / p ? fmt::format("{} rings of {} participants", rings(), p) : "";
    case Algorithm::nccl_tree:
      if (tree_pairs() > tree_group())
        return fmt::format("{} pairs of trees in groups of {} participants", tree_pairs(), tree_group());
      return tree_group() > kMostChained ? fmt::format("a chain of {} participants", tree_group()) : "";
    case Algorithm::hierarchical:
      return p % group_size() != 0 ? fmt::format("group size {} does not divide {} participants", group_size(), p) : "";
    default: return "";
  }
}

bool Candidates::is_of_its_own(const CollectiveAlgorithm& entry) const {
  if (entry.algorithm == Algorithm::multi_ring) return rings() > 1;
  return entry.algorithm != Algorithm::hierarchical || !is_all_or_one(group_sizes().front());
}

std::vector<CollectiveCall> Candidates::all_of(Operation operation, std::span<const Algorithm> library) const {
  std::vector<CollectiveCall> all;
  const auto add = [&](std::span<const Algorithm> having, bool copies) {
    for (const CollectiveAlgorithm& entry : collective_algorithms())
      if (entry.operation == operation && may_choose(having, entry.algorithm, operation) && why_not(entry).empty() &&
          switches_can(entry.algorithm) && (copies || is_of_its_own(entry)))
        for (CollectiveCall& call : of(entry)) all.push_back(call);
  };
  add(library, false);
  if (all.empty()) add(library, true);
  if (all.empty()) add({}, false);
  return all;
}

std::vector<CollectiveCall> Candidates::of(const CollectiveAlgorithm& entry) const {
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

bool Candidates::has_open_segments(const CollectiveCall& call) const {
  const Algorithm algorithm = call.algorithm->algorithm;
  return !choice.pipeline_segments.value &&
         (algorithm == Algorithm::nccl_tree || algorithm == Algorithm::double_binary_tree ||
          (algorithm == Algorithm::hierarchical && call.parameters.between_groups == Algorithm::double_binary_tree));
}

int Candidates::most_segments(const CollectiveCall& call) const {
  const CollectiveParameters& parameters = call.parameters;
  const int parts = call.algorithm->algorithm == Algorithm::hierarchical ? parameters.group_size : parameters.rings;
  return static_cast<int>(
      std::clamp(n.si() / (2.0 * parts), 1.0, std::min<double>(kMostSegments, kMostBlocks / 2.0 / parts)));
}

bool Candidates::fits_a_machine(int group) const {
  return (machines.workers <= 1 && placement != Placement::spread) || machines.workers % group == 0;
}

CollectiveParameters Candidates::nccl_tree() const {
  CollectiveParameters tree;
  tree.group_size = tree_group();
  tree.group_fits = fits_a_machine(tree.group_size);
  tree.rings = tree_pairs();
  tree.nics = machines.nics;
  tree.nic_of_gpu = machines.nic_of_gpu;
  tree.segments = choice.pipeline_segments.value ? *choice.pipeline_segments.value : best_segments(n, p, prices, tree);
  return tree;
}

std::vector<CollectiveCall> Candidates::multi_rings(CollectiveCall call) const {
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

std::vector<CollectiveCall> Candidates::hierarchical(const CollectiveCall& call) const {
  std::vector<CollectiveCall> all;
  for (const int g : group_sizes()) add_hierarchical(call, g, all);
  if (all.empty() && choice.algorithm == Algorithm::hierarchical)
    throw std::invalid_argument(fmt::format("{} between groups does not {}", name_of(choice.between_groups),
                                            name_of(call.algorithm->operation)));
  return all;
}

void Candidates::add_hierarchical(CollectiveCall call, int g, std::vector<CollectiveCall>& all) const {
  call.parameters.group_size = g;
  call.parameters.group_fits = fits_a_machine(g);
  for (const Algorithm between : algorithms_between(call.algorithm->operation)) {
    if (choice.between_groups == Algorithm::automatic ? !switches_can(between, g) : choice.between_groups != between)
      continue;
    call.parameters.between_groups = between;
    call.parameters.exchange_order =
        between == Algorithm::halving_doubling ? choice.exchange_order : ExchangeOrder::near_first;
    call.parameters.segments = between == Algorithm::double_binary_tree ? segments(n / g, p / g, g) : 1;
    if (call.parameters.segments > kMostBlocks / 2 / g) {
      if (choice.between_groups == Algorithm::automatic) continue;
      throw std::invalid_argument(fmt::format("{} segments in groups of {} participants", call.parameters.segments, g));
    }
    all.push_back(call);
    if (p == g) break;  // with one group there are no rounds between groups
  }
}

}  // namespace stepcast
