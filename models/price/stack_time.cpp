#include "models/price/stack_time.hpp"

#include <cmath>

namespace stepcast {

StackTime stack_time(const Stack& stack, const CollectiveCall& call, int workers) {
  const double p = call.among.size(workers);
  if (p < 2) return {};
  StackTime time{.operation = stack.operation_cost};
  const bool gathers = stack.gather_cost > Seconds{} || stack.gather_byte_cost > SecondsPerByte{};
  if (gathers && call.algorithm->operation == Operation::all_gather)
    time.gathering = stack.gather_cost * std::log2(p) + call.bytes * ((p - 1) / p) * stack.gather_byte_cost;
  return time;
}

Seconds buffer_time(const Cluster& cluster, const CollectiveCall& call) {
  return call.among.size(cluster.workers) < 2 ? Seconds{} : call.bytes * cluster.collective_byte_cost;
}

}  // namespace stepcast
