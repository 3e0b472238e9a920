#include "models/price/gather_time.hpp"

#include <cmath>

namespace stepcast {

Seconds gather_time(const Stack& stack, const CollectiveCall& call, int workers) {
  const double p = call.among.size(workers);
  if (call.algorithm->operation != Operation::all_gather || p < 2) return {};
  return stack.gather_cost * std::log2(p) + call.bytes * ((p - 1) / p) * stack.gather_byte_cost;
}

}  // namespace stepcast
