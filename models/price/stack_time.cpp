#include "models/price/stack_time.hpp"

#include <cmath>

namespace stepcast {

Seconds stack_time(const Stack& stack, const CollectiveCall& call, int workers) {
  const double p = call.among.size(workers);
  if (p < 2) return {};
  if (call.algorithm->operation != Operation::all_gather) return stack.operation_cost;
  return stack.operation_cost + stack.gather_cost * std::log2(p) + call.bytes * ((p - 1) / p) * stack.gather_byte_cost;
}

}  // namespace stepcast
