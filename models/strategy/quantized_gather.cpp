#include "models/strategy/quantized_gather.hpp"

#include <algorithm>
#include <cmath>

#include "models/compressor/codec_kernels.hpp"

namespace stepcast {
namespace {

/// The share of one of `members` workers, as a flat tensor.
Tensor share_of(Bytes parameters, Dtype dtype, int members) {
  return {{std::max<std::int64_t>(1, std::llround(std::ceil(parameters / size_of(dtype) / members)))}, dtype};
}

Bytes codes_of(const QuantizedGather& codes, const Tensor& share) {
  const std::int64_t blocks = (share.elements() + codes.block - 1) / codes.block;
  return packed_bits(share.elements(), codes.bits) + 4_B * static_cast<double>(blocks);
}

}  // namespace

Bytes gathered_share(const ShardedStrategy& strategy, Bytes parameters, Dtype dtype, int members) {
  return strategy.quantized_gather ? codes_of(*strategy.quantized_gather, share_of(parameters, dtype, members))
                                   : parameters / members;
}

UnitGather unit_gather(const GraphInput& input, const ShardedStrategy& strategy, Bytes bytes, int members, bool coded) {
  const Communicators among = inside_groups(members, input.cluster.workers);
  const auto gather = [&](Bytes all) {
    return input.prices.decide(Operation::all_gather, strategy.collective, all, among);
  };
  if (!strategy.quantized_gather || members == 1) return {.encode = {}, .call = gather(bytes), .decode = {}};
  const Tensor share = share_of(bytes, input.workload.dtype, members);
  const Tensor all{{share.elements() * members}, share.dtype};
  const Bytes codes = codes_of(*strategy.quantized_gather, share), wire = codes * members;
  // Encoding: the largest magnitude of the block, then scale and round. Decoding: scale. No profile has these kernels.
  const Seconds encode =
      price({sweep("quantize-blocks", share.dense(), codes, share, 4)}, *input.methods.front().rates);
  const Seconds decode = price({sweep("dequantize-blocks", wire, all.dense(), all, 2)}, *input.methods.front().rates);
  return {.encode = coded ? Seconds{} : encode, .call = gather(wire), .decode = decode};
}

}  // namespace stepcast
