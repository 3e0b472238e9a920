#include "sim/replay/collective_rounds.hpp"

#include <algorithm>
#include <utility>

#include "models/part/protocols.hpp"
#include "models/price/stack_time.hpp"
#include "models/price/round_pace.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {
namespace {

/// later - sooner, and 0 if they only differ by rounding: SimGrid would sleep a picosecond for it.
double beyond(double later, double sooner) { return later > sooner * (1 + 1e-12) ? later - sooner : 0.0; }

int workers_on(const SimulatedCluster& simulated) {
  return static_cast<int>(std::count_if(simulated.participants().begin(), simulated.participants().end(),
                                        [](const auto& participant) { return participant.role == Role::worker; }));
}

}  // namespace

CollectiveRounds::CollectiveRounds(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph)
    : simulated_(simulated),
      cluster_(cluster),
      protocols_(protocols_of(cluster)),
      workers_(workers_on(simulated)),
      apart_(graph.asynchronous) {
  for (const Task& task : graph.tasks) {
    const auto* work = std::get_if<CollectiveWork>(&task.work);
    meetings_.emplace_back(work && apart_ ? work->call.among.count(cluster.workers) : 1);
  }
}

double CollectiveRounds::execute(const CollectiveWork& work, Track& track, TaskId task) {
  const Communicators& among = work.call.among;
  const auto communicator = apart_ ? std::optional(among.of(track.participant->index)) : std::nullopt;
  Meeting& meeting = meetings_[task][communicator.value_or(0)];
  if (++meeting.arrived < (apart_ ? among.size(cluster_.workers) : workers_)) {
    meeting.waiting.push_back(&track);
    // Other events of the participant wake the track too.
    for (const int before = meeting.held; meeting.held == before;) track.wait();
    return meeting.start;
  }
  meeting.start = now();
  run(work.call, communicator);
  meeting.arrived = 0;
  ++meeting.held;
  for (Track* other : std::exchange(meeting.waiting, {})) other->notify();
  return meeting.start;
}

/// Nothing else is on the links meanwhile, so a folded collective always takes the same time.
void CollectiveRounds::run(const CollectiveCall& call, std::optional<int> communicator) {
  if (!simulated_.is_folded()) return run_rounds(call, communicator);
  const std::tuple key{key_of(call), call.bytes, call.recode, call.protocol};
  if (const auto known = took_.find(key); known != took_.end()) return sleep(known->second);
  const double start = now();
  run_rounds(call, {});
  took_[key] = now() - start;
}

void CollectiveRounds::run_rounds(const CollectiveCall& call, std::optional<int> communicator) {
  const double block = call.bytes.si() / schedule_of(call, cluster_.workers).blocks;
  bool begun = false;
  std::vector<Posted> messages;
  const auto run_rounds_like = [&](const SimulatedRound& round, int times) {
    if (!std::exchange(begun, true)) sleep(before_rounds(call).si());
    const double start = now();
    const double rest = run_round(round, block, call, messages);
    sleep((now() - start) * (times - 1));
    if (round.is_last) sleep(rest);
  };
  simulated_.for_each_round(call, run_rounds_like, communicator);
}

Seconds CollectiveRounds::before_rounds(const CollectiveCall& call) const {
  return cluster_.collective_cost + protocols_[call.protocol].setup + buffer_time(cluster_, call) +
         stack_time(cluster_.stack, call, cluster_.workers).total();
}

/// Messages are larger by the protocol's overhead, which has the same effect as less bandwidth. With slices, rounds
/// overlap: the messages are on the wire first, and what their delays and copies add by round_pace.hpp follows.
double CollectiveRounds::run_round(const SimulatedRound& round, double block, const CollectiveCall& call,
                                   std::vector<Posted>& messages) {
  const Protocol& protocol = protocols_[call.protocol];
  const bool overlaps = cluster_.stack.slice.has_value();
  messages.clear();
  double latency = 0.0;
  for (const SimulatedMessage& message : round.messages) {
    messages.push_back({message});
    double& delay = messages.back().message.delay;
    delay *= protocol.latency_factor;
    latency = std::max(latency, delay);
    if (overlaps) delay = 0.0;
  }
  const double start = now();
  await(start_messages(messages, block / protocol.bandwidth_factor, simulated_.meter), simulated_.meter);
  const double took = now() - start;
  double wire = overlaps ? took : std::max(0.0, took - latency);
  if (round.load.in_network) wire /= cluster_.in_network_factor.value_or(1.0);
  const RoundPace pace = pace_of(Seconds(latency), Seconds(wire), Bytes(block) * round.load.copies,
                                 slice_share(cluster_.stack, Bytes(block * round.load.largest)));
  const bool recodes = call.recode > Seconds{} && round.load.reduced > 0;
  sleep(beyond(pace.next.si(), took) +
        (recodes ? call.recode.si() : block * round.load.reduced * cluster_.reduction_cost.si()));
  return beyond(pace.last.si(), pace.next.si());
}

}  // namespace stepcast
