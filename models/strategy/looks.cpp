#include "models/strategy/looks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepcast {

int look_at(Seconds time, Seconds cycle) {
  constexpr double kRounding = 1e-9;  // of sums of the same times in another order
  return static_cast<int>(std::min(std::ceil(time / cycle * (1 - kRounding)), double{std::numeric_limits<int>::max()}));
}

std::vector<TaskId> add_looks(StepGraph& graph, Seconds cycle, const std::vector<Seconds>& ready, TaskId begin,
                              Seconds begin_time) {
  const StreamId stream = graph.add_stream("looks");
  std::vector<TaskId> looks;
  TaskId last = kNoTask;
  int number = 0;
  Seconds time = begin_time;
  for (const Seconds one : ready) {
    if (const int next = std::max(number, look_at(one, cycle)); next > number) {
      number = next;
      const Seconds wait = std::max(Seconds{}, cycle * number - time);
      const TaskId look = graph.add_task({"look", Phase::exchange, NegotiationWork{wait}, stream});
      if (last == kNoTask) graph.depend(look, begin);
      last = look;
      time += wait;
    }
    looks.push_back(last);
  }
  return looks;
}

}  // namespace stepcast
