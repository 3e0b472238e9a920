// Messages between the actors of a replay, in transit from host to host.
#pragma once

#include <deque>
#include <vector>

#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

/// Direct messages in transit to one participant, from one kind of senders or from any.
struct Inbox {
  struct Entry {
    simgrid::s4u::CommPtr message;  ///< null for a message that never leaves its host
    double sent = 0.0;              ///< the time when the sender reached it, before its latency
  };
  std::deque<Entry> messages;
  Track* reader = nullptr;
};

struct Posted {
  SimulatedMessage message;
  Inbox* inbox = nullptr;  ///< the inbox that waits for it, if any
};

/// Sorts the messages by latency and starts each after its route's latency, with amount·unit bytes. Posts them in their
/// inboxes, and returns those that leave their host.
/// @param meter  is told of them, unless it is null
/// @throws ModelError for a message too large to be counted
std::vector<simgrid::s4u::CommPtr> start_messages(std::vector<Posted>& messages, double unit, LinkMeter* meter);

/// Returns when all have arrived.
void await(const std::vector<simgrid::s4u::CommPtr>& messages, LinkMeter* meter);

/// Returns when the expected messages have arrived, one from each of these inboxes, which may name one more than once.
/// @returns the time when the last of them was sent
double receive_all(const std::vector<int>& expected, std::vector<Inbox>& inboxes, Track& track);

}  // namespace stepcast
