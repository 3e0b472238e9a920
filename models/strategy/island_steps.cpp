#include "models/strategy/island_steps.hpp"

#include <utility>

namespace stepcast {
namespace {

/// Gradients inside islands are summed as they are.
const Compressor& no_compressor() {
  static const Compressor none = NoCompressor{};
  return none;
}

/// Tasks that nothing of the step precedes (or follows): the first one of a stream, if it waits for no task of the step
/// (the last one, if none waits for it).
std::vector<TaskId> ends_of_streams(const StepGraph& step, bool first) {
  const auto tasks = static_cast<TaskId>(step.tasks.size());
  std::vector<bool> joined(step.tasks.size());
  for (const Dependency& d : step.dependencies)
    if (d.lag == 0) joined[first ? d.after : d.before] = true;
  std::vector<bool> passed(step.streams.size());
  std::vector<TaskId> found;
  for (TaskId n = 0; n < tasks; ++n) {
    const TaskId task = first ? n : tasks - 1 - n;
    const StreamId stream = step.tasks[task].worker_stream;
    if (!passed[stream] && !joined[task]) found.push_back(task);
    passed[stream] = true;
  }
  return found;
}

/// @pre islands.sharding
ShardedStrategy sharded_inside(const Islands& islands) {
  return {.stage = *islands.sharding,
          .collective = islands.collective,
          .exchange = islands.exchange(),
          .group_size = islands.size};
}

/// Steps of workers alone, then an average of the parameters of each island.
StepGraph steps_with_average(const Islands& islands, const GraphInput& input) {
  StepGraph graph;
  const StreamId compute = graph.add_stream("compute"), communication = graph.add_stream("communication");
  const LocalSteps steps = add_local_steps(graph, compute, input.workload, islands.steps);
  const std::vector<Bucket> buckets = make_buckets(input.workload, islands.exchange());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const CollectiveCall call = input.prices.decide(Operation::all_reduce, islands.collective, buckets[i].bytes,
                                                    inside_groups(islands.size, input.cluster.workers));
    graph.payload += call.bytes;
    const TaskId average = add_negotiated(graph, communication, TaskName("average in islands", i, buckets.size()), call,
                                          input.negotiation(), steps.last);
    for (const TaskId first : steps.first) graph.depend(first, average, 1);
  }
  return graph;
}

}  // namespace

std::optional<ShardedStrategy> sharded_step(const Strategy& strategy) {
  if (const auto* sharded = std::get_if<ShardedStrategy>(&strategy)) return *sharded;
  const Islands* islands = islands_of(strategy);
  return islands && islands->sharding ? std::optional(sharded_inside(*islands)) : std::nullopt;
}

StepGraph island_step(const Islands& islands, const GraphInput& input) {
  const GraphInput inside{input.workload, input.cluster, {{no_compressor(), {}, {}}}, {}, input.codec,
                          input.prices,   &islands};
  if (islands.steps > 1) return steps_with_average(islands, inside);
  if (!islands.sharding)
    return build_all_reduce({.collective = islands.collective, .exchange = islands.exchange()}, inside);
  return build_sharded(sharded_inside(islands), inside);
}

CollectiveCall gather_in_islands(const Islands& islands, const GraphInput& input, Bytes n) {
  return input.prices.decide(Operation::all_gather, fitted(islands.collective, Operation::all_gather), n,
                             inside_groups(islands.size, input.cluster.workers));
}

IslandSteps::IslandSteps(StepGraph step, StepGraph& round, StreamId compute)
    : step_(std::move(step)),
      round_(round),
      first_(ends_of_streams(step_, true)),
      last_(ends_of_streams(step_, false)) {
  for (const Stream& stream : step_.streams)
    streams_.push_back(stream.name == round.streams[compute].name ? compute
                                                                  : round.add_stream(stream.name + " in islands"));
}

LocalSteps IslandSteps::add() {
  const auto begin = static_cast<TaskId>(round_.tasks.size());
  const int passes = round_.micro_batches;
  begun_.push_back(begin);
  round_.micro_batches += step_.micro_batches;
  for (Task task : step_.tasks) {
    const int micro_batch = task.micro_batch;
    task.worker_stream = streams_[task.worker_stream];
    round_.add_task(std::move(task));
    round_.tasks.back().micro_batch = passes + micro_batch;
  }
  round_.payload += step_.payload;
  const auto moved = [&](std::vector<TaskId> tasks) {
    for (TaskId& task : tasks) task += begin;
    return tasks;
  };
  return {moved(first_), moved(last_)};
}

void IslandSteps::close() {
  const auto steps = static_cast<int>(begun_.size());
  for (const Dependency& d : step_.dependencies)
    for (int after = 0; after < steps; ++after) {
      int before = after - d.lag, rounds = 0;
      for (; before < 0; before += steps) ++rounds;
      round_.depend(begun_[after] + d.after, begun_[before] + d.before, rounds);
    }
}

}  // namespace stepcast
