#include "models/scenario/collective_rules.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/fabric/machines.hpp"
#include "models/part/host_costs.hpp"

namespace stepcast {
namespace {

/// @param switches_add  whether in-network is among them
std::string names_of(std::span<const Algorithm> algorithms, bool with_auto, bool switches_add) {
  std::vector<std::string_view> names;
  if (with_auto) names.push_back(name_of(Algorithm::automatic));
  for (const Algorithm algorithm : algorithms)
    if (algorithm != Algorithm::in_network || switches_add) names.push_back(name_of(algorithm));
  return fmt::format("{}", fmt::join(names, ", "));
}

class CollectiveChecker {
 public:
  CollectiveChecker(const CollectiveChoice& choice, Operation operation, const Cluster& cluster,
                    const Communicators& among, const std::string& pointer, std::vector<Fault>& faults)
      : choice_(choice),
        operation_(operation),
        workers_(among.size(cluster.workers)),
        machines_(machines_seen(among, cluster.workers, machines(cluster))),
        is_grouped_(
            (std::holds_alternative<Nodes>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology)) &&
            (among.is_one() || machines_.workers > 1)),
        pointer_(pointer),
        faults_(faults),
        switches_add_(cluster.in_network_factor.has_value()),
        may_add_(traits(cluster.topology).is_tree),
        stride_(among.stride),
        machine_(host_costs(cluster).workers_of_machine),
        has_prices_(!std::holds_alternative<SimGridXml>(cluster.topology)) {}

  void run() {
    using enum Algorithm;
    algorithm();
    const bool has_tree = choice_.algorithm == double_binary_tree || choice_.algorithm == nccl_tree ||
                          (choice_.algorithm == hierarchical && choice_.between_groups == double_binary_tree);
    if (!has_prices_ && has_tree && !choice_.pipeline_segments.value)
      fault("/pipeline_segments", "\"auto\" with topology simgrid-xml", "a number of segments");
    if (choice_.algorithm == multi_ring) rings();
    if (choice_.algorithm == nccl_tree) trees();
    if (choice_.algorithm == hierarchical) groups();
    else if (choice_.algorithm == automatic && choice_.between_groups != automatic)
      between(1);  // between what "auto" may choose
  }

 private:
  void fault(const char* field, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", pointer_ + field, std::move(found), std::move(allowed), std::move(remedy)});
  }
  void refuse_auto(const char* field, std::string found, std::string allowed) {
    fault(field, std::move(found), std::move(allowed), "name one: only replays can find the cheapest there");
  }

  /// "auto" compares prices by the cluster's link. The hosts of a platform file do not use that link.
  void algorithm() {
    const auto found = [&] { return fmt::format("\"{}\" for {}", name_of(choice_.algorithm), name_of(operation_)); };
    if (choice_.algorithm == Algorithm::automatic) {
      if (!has_prices_) refuse_auto("/algorithm", found() + " with topology simgrid-xml", allowed_names());
    } else if (!carries_out(choice_.algorithm, operation_)) {
      fault("/algorithm", found(), allowed_names());
    } else if (choice_.algorithm == Algorithm::in_network) {
      in_network("/algorithm", 1);
    }
  }

  [[nodiscard]] std::string allowed_names() const {
    std::vector<Algorithm> allowed;
    for (const CollectiveAlgorithm& entry : collective_algorithms())
      if (entry.operation == operation_) allowed.push_back(entry.algorithm);
    return names_of(allowed, has_prices_, switches_add_);
  }

  /// Switches between machines may add up, and none inside. Each member needs a machine of its own.
  void in_network(const char* field, int group) {
    if (!switches_add_)
      fault(field, "\"in-network\", and the cluster's switches only forward", "another algorithm",
            may_add_ ? "if they add up, give the cluster an \"in_network_factor\": 1 is line rate" : "");
    else if (stride_ * group % machine_ != 0)
      fault(field, fmt::format("\"in-network\", with several workers on a machine of {}", machine_),
            "switches between machines add up, and none inside",
            fmt::format("use algorithm hierarchical, group_size {} and in-network between", machine_));
  }

  /// The chosen group size, or that of the topology's machines or racks; 0 if there is neither.
  [[nodiscard]] int group() const { return choice_.group_size.value.value_or(is_grouped_ ? machines_.workers : 0); }

  void rings() {
    const int all = workers_, workers = group() == 0 ? all : std::min(group(), all);
    const int rings = choice_.rings.value.value_or(machines_.workers < all ? std::min(machines_.nics, workers) : 1);
    if (rings > workers)
      fault("/rings",
            fmt::format("{} with {} in a group", rings, workers == 1 ? "1 worker" : fmt::format("{} workers", workers)),
            "at most as many rings as workers in a group: each ring ends at a different worker");
    else if (rings > 1 && rings > kMostBlocks / all)
      fault("/rings", fmt::format("{} with {} workers", rings, all), fmt::format("at most {}", kMostBlocks / all),
            "a ring cuts its part of the buffer into a block for each worker");
  }

  void trees() {
    const int workers = std::min(std::max(1, group()), workers_);
    const int pairs = choice_.rings.value.value_or(1);  // "auto" uses as many as fit
    if (pairs > workers)
      fault("/rings",
            fmt::format("{} with {} in a group", pairs, workers == 1 ? "1 worker" : fmt::format("{} workers", workers)),
            "at most as many pairs of trees as workers in a group: each pair has a different head");
    if (workers > kMostChained)
      fault("/group_size", fmt::format("a chain of {} workers", workers), fmt::format("at most {}", kMostChained));
  }

  void groups() {
    between(std::clamp(group(), 1, workers_));
    // With fewer workers than a topology group, all workers form one group.
    if (!choice_.group_size.value && group() > workers_) return;
    if (group() == 0 && !machines_.levels.empty()) return;
    if (group() == 0)
      fault("/group_size", "\"auto\" on a topology without machines or racks", "a divisor of the number of workers",
            "give the number of workers in a group");
    else if (workers_ % group() != 0)
      fault("/group_size", fmt::format("{} with {} workers", group(), workers_), "a divisor of the number of workers");
  }

  void between(int group) {
    const auto names = [&] { return names_of(algorithms_between(operation_), has_prices_, switches_add_); };
    if (choice_.between_groups == Algorithm::automatic) {
      if (!has_prices_) refuse_auto("/between", "\"auto\" with topology simgrid-xml", names());
    } else if (fitted(choice_, operation_).between_groups != choice_.between_groups) {
      fault("/between", fmt::format("\"{}\" for {}", name_of(choice_.between_groups), name_of(operation_)), names());
    } else if (const int most = kMostBlocks / 2 / group; choice_.between_groups == Algorithm::double_binary_tree &&
                                                         choice_.pipeline_segments.value.value_or(1) > most) {
      fault("/pipeline_segments", fmt::format("{} in groups of {} workers", *choice_.pipeline_segments.value, group),
            fmt::format("at most {}", most));
    } else if (choice_.between_groups == Algorithm::in_network) {
      in_network("/between", group);
    }
  }

  const CollectiveChoice& choice_;
  Operation operation_;
  int workers_;        ///< in one communicator
  Machines machines_;  ///< as the communicator's members see them
  bool is_grouped_;
  const std::string& pointer_;
  std::vector<Fault>& faults_;
  bool switches_add_, may_add_;  ///< whether the cluster's switches add up, and whether its topology lets them
  int stride_;                   ///< of the communicator
  int machine_;                  ///< workers on one machine
  bool has_prices_;
};

}  // namespace

void check_collective(const CollectiveChoice& choice, Operation operation, const Cluster& cluster,
                      const std::string& pointer, std::vector<Fault>& faults, const Communicators& among) {
  CollectiveChecker(choice, operation, cluster, among, pointer, faults).run();
}

std::string names_between(Operation operation) { return names_of(algorithms_between(operation), true, false); }

}  // namespace stepcast
