// Choices of sharded state: the state that is shared out, its reductions and its gatherings.
#pragma once

#include <array>
#include <cstdint>

#include "models/describe/describe.hpp"

namespace stepcast {

enum class ShardingStage : std::uint8_t { optimizer_state, gradients, parameters };

template <>
struct Choices<ShardingStage> {
  static constexpr std::array table = {
      Choice<ShardingStage>{
          "optimizer-state", ShardingStage::optimizer_state,
          "each worker updates its share of the parameters, which are gathered before the next step (ZeRO-1 and ZeRO-2)"},
      Choice<ShardingStage>{"gradients", ShardingStage::gradients,
                            "the same, but gathered unit by unit during the forward pass (FSDP's SHARD_GRAD_OP)"},
      Choice<ShardingStage>{
          "parameters", ShardingStage::parameters,
          "gathered unit by unit, released, and gathered again for the backward pass, except the last unit, which is "
          "kept (ZeRO-3, FSDP's FULL_SHARD)"},
  };
};

/// The time at which accumulated gradients of several passes are reduced.
enum class ReduceAfter : std::uint8_t { last_pass, every_pass, inside_every_pass };

template <>
struct Choices<ReduceAfter> {
  static constexpr std::array table = {
      Choice<ReduceAfter>{"last-pass", ReduceAfter::last_pass,
                          "once a step: until then each worker adds up gradients of the whole model (FSDP's no_sync)"},
      Choice<ReduceAfter>{
          "every-pass", ReduceAfter::every_pass,
          "after each pass, so a worker adds up only its share (FSDP without no_sync, ZeRO-2 and -3): less memory, "
          "more bytes by the number of passes"},
      Choice<ReduceAfter>{
          "inside-every-pass", ReduceAfter::inside_every_pass,
          "inside groups after each pass, between them after the last (set_requires_all_reduce of FSDP2): with group_size"},
  };
};

/// Parameters that travel as integer codes: each worker encodes its share in blocks, and the others decode all shares.
/// A share of d elements has ceil(d·bits/8) + 4·ceil(d/block) bytes. ZeRO++'s qwZ has 8 bits (Wang et al. 2023, section
/// 3.1), QSDP's weights have 8 (Markov et al., ICML 2023); the blocks' sizes are recalled.
struct QuantizedGather {
  int bits = 8;
  int block = 2048;

  template <class V>
  static void describe(V& v, QuantizedGather& x) {
    v.optional("bits", x.bits, "bits of an element's code", between(1, 16));
    v.optional("block", x.block, "elements that share one fp32 scale", at_least(1));
  }
  bool operator==(const QuantizedGather&) const = default;
};

}  // namespace stepcast
