// Backward passes whose gradients are added up in machines before they are compressed (codec scope machines).
#pragma once

#include <vector>

#include "models/strategy/builder.hpp"
#include "models/strategy/coded_exchange.hpp"

namespace stepcast {

/// Adds the backward pass, the sum of each bucket inside machines, its encoding, and its first messages between machines.
///
/// One stream carries the collectives of both levels, since both use a GPU's inner link. Its order, and the place of
/// encodings among the backward tasks, are those of an isolated step on a worker of speed 1. There, GPU and link take what
/// is ready: the link a sum before messages, the GPU an encoding before the next backward task. A collective takes its
/// price or its negotiation, whichever is longer.
/// @param overlap  buckets are added up while back-propagation runs, not after it
/// @return for each bucket, the task after which a second stage of messages may begin
std::vector<TaskId> add_summed_backward(StepGraph& graph, StreamId compute, StreamId communication, StreamId codec,
                                        const GraphInput& input, const std::vector<Bucket>& buckets, double slowdown,
                                        const std::vector<CodedExchange>& coded, bool overlap);

}  // namespace stepcast
