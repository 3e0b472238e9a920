#include "models/price/stack_time.hpp"

#include <algorithm>
#include <cmath>

namespace stepcast {

StackTime stack_time(const Stack& stack, const CollectiveCall& call, int workers) {
  const double p = call.among.size(workers);
  if (p < 2) return {};
  StackTime time{.operation = stack.operation_cost};
  const Operation operation = call.algorithm->operation;
  const Bytes bytes = std::min(call.bytes, stack.byte_cost_limit.value_or(call.bytes));
  if (operation == Operation::all_reduce || operation == Operation::reduce_scatter)
    time.operation += bytes * stack.sum_byte_cost;
  const bool gathers = stack.gather_cost > Seconds{} || stack.gather_byte_cost > SecondsPerByte{};
  if (gathers && operation == Operation::all_gather)
    time.gathering = stack.gather_cost * std::log2(p) + bytes * ((p - 1) / p) * stack.gather_byte_cost;
  return time;
}

Seconds buffer_time(const Cluster& cluster, const CollectiveCall& call) {
  return call.among.size(cluster.workers) < 2 ? Seconds{} : call.bytes * cluster.collective_byte_cost;
}

}  // namespace stepcast
