#include "models/collective/communicators.hpp"

namespace stepcast {

Placement placement(const Communicators& among, int p, const Machines& machines) {
  if (among.is_one() || machines.workers <= 1) return Placement::machines;
  if (machines.workers >= p || (among.stride == 1 && machines.workers % among.members == 0)) return Placement::machine;
  return among.stride == 1 && among.members % machines.workers == 0 ? Placement::machines : Placement::spread;
}

Machines machines_seen(const Communicators& among, int p, const Machines& machines) {
  if (placement(among, p, machines) != Placement::spread) return machines;
  // Where a machine has several groups, the ranks of one position in them are neighbours on it.
  const int groups = machines.workers / among.stride;
  return machines.workers % among.stride == 0 && among.members % groups == 0 ? Machines{groups, 1} : Machines{};
}

}  // namespace stepcast
