// The latencies that a ring's messages wait for.
#pragma once

#include <vector>

#include "models/collective/schedule.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Whether the messages of round r have the mean latency of their ring. Otherwise each has its own latency.
inline bool have_mean_latency(const Schedule& schedule, int r, RingLatency ring) {
  return ring == RingLatency::mean && schedule.goes_around(r);
}

/// The latencies of a round whose messages go around rings. Each message has the mean over its ring.
///
/// A ring passes blocks from rank to rank, one hop in each round. In p rounds, a block waits once for every hop, so its
/// total is the sum of all latencies: p times the mean. A gather has p-1 hops, and a chain that leaves out a short hop
/// waits slightly longer. Real rings have no barrier at which all ranks wait for the slowest hop. This matters between
/// machines of several GPUs, where one hop in g uses a NIC. NCCL estimates in the same way: for an all-reduce over M
/// machines (2(p-1) - 2M)·α' + 2M·α (nccl, src/graph/tuning.cc).
///
/// Ranks that exchange messages belong to one ring, or to several rings with the same hops.
/// @param latencies  of the messages, in order; resolution 1e-18 s, so that the order of hops does not change the mean
std::vector<double> even_latencies(const Round& round, std::vector<double> latencies);

}  // namespace stepcast
