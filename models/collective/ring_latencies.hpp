// What a ring's messages wait for.
#pragma once

#include <vector>

#include "models/collective/schedule.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Whether the messages of round r have the mean of their ring's latencies; otherwise each has its own.
inline bool have_mean_latency(const Schedule& schedule, int r, RingLatency ring) {
  return ring == RingLatency::mean && schedule.goes_around(r);
}

/// The latencies of a round whose messages go around rings, each message's the mean over its ring.
///
/// A ring's blocks are passed on from rank to rank, one hop a round, so in p rounds each has waited for the latency of
/// every hop once, wherever it began: for their sum, p times the mean. (Of the p-1 hops of a gather some chain leaves
/// out a short one and waits for a little more.) Real rings have no barrier at which all would wait for the longest in
/// every round, as between machines of several GPUs, where one hop in g is through a NIC. NCCL estimates so, too: for
/// an all-reduce over M machines (2(p-1) - 2M)·α' + 2M·α (nccl, src/graph/tuning.cc).
///
/// Ranks that exchange messages are of one ring, or of several with the same hops.
/// @param latencies  of the messages, in their order; to 1e-18 s, so that equal hops in another order have equal means
std::vector<double> even_latencies(const Round& round, std::vector<double> latencies);

}  // namespace stepcast
