// A replay's tasks as a timeline for trace viewers (Perfetto, chrome://tracing), in the Trace Event Format:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// Workers and shards are its processes, in order of rank with the workers first; streams are their threads, in the order
// of the step graph. Synchronous and asynchronous steps have this layout alike.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/strategy/step_graph.hpp"
#include "sim/replay/replay.hpp"

namespace stepcast {

/// The even use of a link from start to end, as a share of its bandwidth.
struct LinkShare {
  double start, end;  ///< seconds
  double share;
};
using LinkShares = std::map<std::string, std::vector<LinkShare>>;

/// The events in order of time, one JSON object a line, each with a comma behind it:
///
/// - names and places of processes and threads
/// - a slice for each task that takes time, with its step
/// - an arrow from an exchange to the task that waited for it: that depends on it, and starts when it ends
/// - a counter "payload (GB/s)" for each participant: the bytes of its running exchanges, each over its own time; with
///   neighbours, those that a worker sends in the mean
/// - a counter of each link, in a process "links": the share of its bandwidth in use, in percent
/// @param links  by the link's name, in order of time
/// @param write  gets the text piece by piece
void write_trace_events(const StepGraph& graph, int workers, std::vector<TaskEvent> tasks, const LinkShares& links,
                        const std::function<void(std::string_view)>& write);

}  // namespace stepcast
