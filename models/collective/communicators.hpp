// Collectives among subsets of the ranks. Communicators divide the p ranks, and all of them run the same collective at
// the same time.
#pragma once

#include <compare>
#include <vector>

#include "models/collective/schedule.hpp"
#include "models/part/nics.hpp"

namespace stepcast {

/// Communicators of `members` ranks each, `stride` apart. For groups of g consecutive ranks, {g, 1} are the groups, and
/// {p/g, g} join the ranks with the same position in every group.
/// @pre members·stride divides the number of ranks
struct Communicators {
  int members = 0;  ///< ranks in each; 0: all ranks are one communicator
  int stride = 1;

  [[nodiscard]] bool is_one() const { return members == 0; }
  /// The members of each communicator among p ranks.
  [[nodiscard]] int size(int p) const { return is_one() ? p : members; }
  [[nodiscard]] int count(int p) const { return p / size(p); }
  [[nodiscard]] int rank(int communicator, int member) const {
    return is_one() ? member : communicator / stride * (members * stride) + communicator % stride + member * stride;
  }
  [[nodiscard]] int of(int rank) const { return is_one() ? 0 : rank / (members * stride) * stride + rank % stride; }

  auto operator<=>(const Communicators&) const = default;
};

/// Groups of g consecutive ranks among p ranks.
inline Communicators inside_groups(int g, int p) { return g == p ? Communicators{} : Communicators{g, 1}; }
/// Communicators of the ranks with the same position in those groups.
inline Communicators between_groups(int g, int p) { return g == 1 ? Communicators{} : Communicators{p / g, g}; }

/// The groups of consecutive workers in the topology: machines, or racks.
struct Machines {
  int workers = 1;  ///< workers in each; 1 without machines
  int nics = 1;     ///< NICs in each
  NicOfGpu nic_of_gpu = NicOfGpu::in_turn;
  /// Other sizes of groups of nearby consecutive ranks, such as racks of machines.
  std::vector<int> levels{};
};

/// The location of one communicator's members.
enum class Placement {
  machines,  ///< all ranks of some machines (racks), or no machines in the topology
  machine,   ///< inside one machine
  spread,    ///< parts of several machines: all bytes that its workers send may leave a machine
};

/// The placement of communicators among p ranks.
/// @param machines  the machines of all p ranks
Placement placement(const Communicators& among, int p, const Machines& machines);
/// The machines as the members of one communicator see them: the number of consecutive members on each machine.
Machines machines_seen(const Communicators& among, int p, const Machines& machines);

/// A round of one collective in each of `count` communicators.
/// Communicator c uses slice(c, s) for a slice s.
template <class SliceOf>
Round in_each(const Round& one, const Communicators& among, int count, const SliceOf& slice) {
  Round round;
  round.reserve(one.size() * static_cast<std::size_t>(count));
  for (const Message& m : one)
    for (int c = 0; c < count; ++c)
      round.push_back({among.rank(c, m.from), among.rank(c, m.to), slice(c, m.slice), m.reduce, m.in_network});
  return round;
}

}  // namespace stepcast
