// Looks at gradients that are ready: a thread beside the training wakes once a cycle and starts their exchanges. Horovod
// does so, and fuses what one look finds (Sergeev and Del Balso 2018, arXiv 1802.05799, section 4; HOROVOD_CYCLE_TIME).
//
// Look n is n cycles after the begin of the backward pass. Horovod's thread has no such phase; a step here has the same
// one each time, so that it repeats. A look waits for no exchange: the libraries under it run them by themselves.
//
// A gradient is found when all workers have it. So looks are those of the slowest worker, without jitter: with it, an
// exchange begins at its look or when the last worker is ready. Buckets are cut by the times of back-propagation alone,
// and one whose encoding ends later waits for a later look.
#pragma once

#include <vector>

#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// The number of the first look at or after a time since the begin of the backward pass.
int look_at(Seconds time, Seconds cycle);

/// Adds the looks that find something, on a stream of their own. They take no GPU and no link. Returns by part the look
/// that finds it.
/// @param ready       by part, in order: when it may be sent, since the begin of the backward pass
/// @param begin       a task that ends `begin_time` after that
std::vector<TaskId> add_looks(StepGraph& graph, Seconds cycle, const std::vector<Seconds>& ready, TaskId begin,
                              Seconds begin_time);

}  // namespace stepcast
