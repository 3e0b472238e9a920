// The calls among which "auto" chooses (decide in collective.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/collective/collective.hpp"

namespace stepcast {

/// The candidates for one communicator, with the parameters that the choice leaves open.
struct Candidates {
  const CollectiveChoice& choice;
  Bytes n;
  int p;  ///< the members of the communicator
  const Prices& prices;
  Machines machines;  ///< as the members see them
  Communicators among;
  Placement placement = Placement::machines;
  bool is_timed = false;  ///< whether calls are compared by CallTimes instead of their closed forms

  /// The candidates for "auto": those of the library, or all if the library has none that can run.
  [[nodiscard]] std::vector<CollectiveCall> all_of(Operation operation, std::span<const Algorithm> library) const;
  /// @throws std::invalid_argument as decide does
  [[nodiscard]] std::vector<CollectiveCall> of(const CollectiveAlgorithm& entry) const;

  /// Whether "auto" decides the call's number of segments.
  [[nodiscard]] bool has_open_segments(const CollectiveCall& call) const;
  /// A segment has at least one byte.
  [[nodiscard]] int most_segments(const CollectiveCall& call) const;

 private:
  /// @param trees  the number of trees that run side by side, each with its own blocks
  [[nodiscard]] int segments(Bytes bytes, int participants, int trees = 1) const;

  /// The group size of hierarchical.
  [[nodiscard]] int group_size() const;
  /// All group sizes to try. Without a choice, they include other sizes that the topology suggests.
  [[nodiscard]] std::vector<int> group_sizes() const;
  [[nodiscard]] bool is_all_or_one(int group) const { return group == 1 || group == p; }

  /// The group size of multi-ring. Without machines in the topology, the group is all workers.
  [[nodiscard]] int ring_group() const;
  [[nodiscard]] int rings() const;
  /// All numbers of rings to try. Without a choice, they include the smaller powers of two.
  [[nodiscard]] std::vector<int> numbers_of_rings() const;

  /// The group size of nccl-tree. Without machines in the topology, each worker is a machine.
  [[nodiscard]] int tree_group() const;
  /// Inside a machine, all of NCCL's channels have one chain (its logs on NVSwitch, from memory): one pair is enough.
  [[nodiscard]] int tree_pairs() const;
  [[nodiscard]] bool fits_a_machine(int group) const;

  /// Whether the cluster's switches can carry it out, between groups of that size. In-network needs switches that add
  /// up, and each member on a machine of its own.
  [[nodiscard]] bool switches_can(Algorithm algorithm, int group = 1) const {
    return algorithm != Algorithm::in_network ||
           (prices.in_network_factor && among.stride * group % prices.workers_of_machine == 0);
  }
  /// The reason why the algorithm cannot run; "" if it can.
  [[nodiscard]] std::string why_not(const CollectiveAlgorithm& entry) const;
  /// Whether it differs from the plain ring. One group, groups of one rank, or one ring do not.
  [[nodiscard]] bool is_of_its_own(const CollectiveAlgorithm& entry) const;

  [[nodiscard]] CollectiveParameters nccl_tree() const;
  [[nodiscard]] std::vector<CollectiveCall> multi_rings(CollectiveCall call) const;
  [[nodiscard]] std::vector<CollectiveCall> hierarchical(const CollectiveCall& call) const;
  void add_hierarchical(CollectiveCall call, int g, std::vector<CollectiveCall>& all) const;
};

}  // namespace stepcast
