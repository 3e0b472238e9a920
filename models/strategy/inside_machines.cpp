#include "models/strategy/inside_machines.hpp"

namespace stepcast {

Bytes in_inner_dtype(const GraphInput& input, Bytes n) {
  if (!input.codec.inner_dtype || std::holds_alternative<NoCompressor>(input.compressor())) return n;
  return n * (size_of(*input.codec.inner_dtype) / size_of(input.workload.dtype));
}

Seconds inner_cast_time(const GraphInput& input, Bytes n) {
  const Bytes cast = in_inner_dtype(input, n);
  const std::optional<CodecRates>& rates = input.methods.front().rates;
  if (cast == n || !rates) return {};
  return price({CodecKernel{.kernel = "cast", .read = n, .written = cast}}, *rates);
}

InsideMachines inside_machines(const GraphInput& input, Bytes n, int g) {
  const Bytes bytes = in_inner_dtype(input, n);
  const auto inside = [&](Operation operation) {
    return input.prices.decide(operation, {}, bytes, inside_groups(g, input.cluster.workers));
  };
  return {inside(Operation::reduce_scatter), inside(Operation::all_gather), inner_cast_time(input, n),
          inner_cast_time(input, n / g)};
}

}  // namespace stepcast
