// Messages between the actors of a replay, on their way from one host to another.
#pragma once

#include <deque>
#include <vector>

#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

/// Direct messages on their way to one participant, of one kind of senders or of any.
struct Inbox {
  struct Entry {
    simgrid::s4u::CommPtr message;  ///< null for one that never leaves its host
    double sent = 0.0;              ///< when the sender turned to it, before its latency
  };
  std::deque<Entry> messages;
  Track* reader = nullptr;
};

struct Posted {
  SimulatedMessage message;
  Inbox* inbox = nullptr;  ///< where its arrival is waited for, if anywhere
};

/// Starts the messages, of `unit` bytes for each of their amount, after the latency of their routes, and posts
/// them in their inboxes; those that leave their host are returned. Brings them into the order of their latencies.
/// @throws ModelError for a message too large to be counted
std::vector<simgrid::s4u::CommPtr> start_messages(std::vector<Posted>& messages, double unit);

/// Waits for the next message to arrive; returns when it was sent.
double receive(Inbox& box, Track& track);

}  // namespace stepcast
