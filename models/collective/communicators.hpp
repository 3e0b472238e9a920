// Collectives of some of the ranks: p ranks divided among communicators that all carry out the same one at the same
// time.
#pragma once

#include <compare>
#include <vector>

#include "models/collective/schedule.hpp"
#include "models/part/nics.hpp"

namespace stepcast {

/// Communicators of `members` ranks each, `stride` apart. Of groups of g consecutive ranks, {g, 1} are the groups, and
/// {p/g, g} the ranks of one position in all of them.
/// @pre members·stride divides the number of ranks
struct Communicators {
  int members = 0;  ///< of each; 0: all ranks are one communicator
  int stride = 1;

  [[nodiscard]] bool is_one() const { return members == 0; }
  /// Members of each, of p ranks in all.
  [[nodiscard]] int size(int p) const { return is_one() ? p : members; }
  [[nodiscard]] int count(int p) const { return p / size(p); }
  [[nodiscard]] int rank(int communicator, int member) const {
    return is_one() ? member : communicator / stride * (members * stride) + communicator % stride + member * stride;
  }
  [[nodiscard]] int of(int rank) const { return is_one() ? 0 : rank / (members * stride) * stride + rank % stride; }

  auto operator<=>(const Communicators&) const = default;
};

/// Groups of g consecutive ranks of p.
inline Communicators inside_groups(int g, int p) { return g == p ? Communicators{} : Communicators{g, 1}; }
/// The ranks of one position in all those groups.
inline Communicators between_groups(int g, int p) { return g == 1 ? Communicators{} : Communicators{p / g, g}; }

/// What the topology groups workers by, consecutive ranks together: machines, or racks.
struct Machines {
  int workers = 1;  ///< of each; 1 where there are none
  int nics = 1;     ///< of each
  NicOfGpu nic_of_gpu = NicOfGpu::in_turn;
  /// Other sizes of groups of consecutive ranks that are near each other, such as racks of machines.
  std::vector<int> levels{};
};

/// Where the members of one communicator are.
enum class Placement {
  machines,  ///< on all of some machines (racks), or where there are none
  machine,   ///< on one
  spread,    ///< on parts of some: as much may leave a machine as its workers send
};

/// Of communicators among p ranks.
/// @param machines  that group all of them
Placement placement(const Communicators& among, int p, const Machines& machines);
/// Those machines as one communicator's members see them: how many of them, one after the other, are on each.
Machines machines_seen(const Communicators& among, int p, const Machines& machines);

/// A round of one collective, carried out in each of `count` communicators: by number c on what slice(c, s) makes of a
/// slice s.
template <class SliceOf>
Round in_each(const Round& one, const Communicators& among, int count, const SliceOf& slice) {
  Round round;
  round.reserve(one.size() * static_cast<std::size_t>(count));
  for (const Message& m : one)
    for (int c = 0; c < count; ++c)
      round.push_back({among.rank(c, m.from), among.rank(c, m.to), slice(c, m.slice), m.reduce});
  return round;
}

}  // namespace stepcast
