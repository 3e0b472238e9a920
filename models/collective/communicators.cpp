#include "models/collective/communicators.hpp"

#include <algorithm>

namespace stepcast {

Placement placement(const Communicators& among, int p, const Machines& machines) {
  if (among.is_one() || machines.workers <= 1) return Placement::machines;
  if (machines.workers >= p || (among.stride == 1 && machines.workers % among.members == 0)) return Placement::machine;
  return among.stride == 1 && among.members % machines.workers == 0 ? Placement::machines : Placement::spread;
}

Machines machines_seen(const Communicators& among, int p, const Machines& machines) {
  if (placement(among, p, machines) != Placement::spread) return machines;
  // If a machine holds several groups, the ranks with one position in them are neighbours on it.
  const int groups = machines.workers / among.stride;
  if (machines.workers % among.stride != 0 || among.members % groups != 0) return Machines{};
  // With in-turn NICs, ranks a stride apart may all share one NIC. With neighbouring ranks on a NIC, each rank has its
  // own, or each NIC serves equally many of these ranks in order.
  if (machines.nic_of_gpu == NicOfGpu::in_turn) return {groups, 1};
  const int nics = std::min(machines.nics, groups);
  return {groups, groups % nics == 0 && machines.nics % nics == 0 ? nics : 1, NicOfGpu::neighbours};
}

}  // namespace stepcast
