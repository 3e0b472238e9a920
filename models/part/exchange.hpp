// Messages of gradients: their grouping, their overlap with back-propagation, and the carrier of compressed ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "models/describe/describe.hpp"

namespace stepcast {

enum class Grouping { whole_model, per_tensor, bucketed, per_block };

template <>
struct Choices<Grouping> {
  static constexpr std::array table = {
      Choice<Grouping>{"whole-model", Grouping::whole_model, "one message set with all gradients"},
      Choice<Grouping>{"per-tensor", Grouping::per_tensor, "one message set for each gradient tensor"},
      Choice<Grouping>{"bucketed", Grouping::bucketed, "tensors gathered into buckets of bounded size"},
      Choice<Grouping>{
          "per-block", Grouping::per_block,
          "tensors of one block together, the usual way of FSDP: consecutive tensors whose names agree up to their "
          "first number"},
  };
};

/// The grouping of gradients into messages, and their overlap with back-propagation.
struct Exchange {
  Grouping grouping = Grouping::whole_model;
  Bytes bucket_cap = 25_MiB;
  OrAuto<Bytes> first_bucket{};
  bool overlap = true;
  bool priority = false;
  std::optional<Bytes> partition{};

  template <class V>
  static void describe(V& v, Exchange& x) {
    v.optional("grouping", x.grouping, "gradients that travel together");
    v.optional("bucket_cap", x.bucket_cap,
               "bucketed: a bucket is closed by the tensor that fills it to this size (as PyTorch DDP does)", positive);
    v.optional(
        "first_bucket", x.first_bucket,
        "bucketed: cap of the first bucket, for an early start of communication; auto: 1 MiB (PyTorch DDP's), or "
        "bucket_cap if that is less",
        positive);
    v.optional("overlap", x.overlap, "exchange while back-propagation runs, not after it (whole-model never overlaps)");
    v.optional("partition", x.partition,
               "a message set is cut into equal parts of at most this size, each compressed and exchanged by itself; "
               "null: not cut",
               positive);
    v.optional("priority", x.priority,
               "parts of the first layers go first, and a layer's next forward pass waits for its own parts alone "
               "(ByteScheduler, Peng et al., SOSP 2019; P3, Jayarajan et al., SysML 2019)");
  }
  bool operator==(const Exchange&) const = default;

  /// The size in bytes at which bucket number `bucket` closes. Numbers start at 0.
  [[nodiscard]] Bytes cap_of(std::size_t bucket) const {
    return bucket > 0 ? bucket_cap : first_bucket.value.value_or(std::min(1_MiB, bucket_cap));
  }
};

/// The collective that carries compressed gradients.
enum class Carrier { automatic, sum_or_gather, all_reduce, all_gather, all_to_all_once, all_to_all, in_collective };

template <>
struct Choices<Carrier> {
  static constexpr std::array table = {
      Choice<Carrier>{
          "auto", Carrier::automatic,
          "the cheapest one that encodes each gradient once, by the equations: all-reduce, all-gather or all-to-all-once, "
          "and all-to-all for votes of packed signs. In a pipeline: sum-or-gather"},
      Choice<Carrier>{"sum-or-gather", Carrier::sum_or_gather,
                      "all-reduce if messages can be summed, otherwise all-gather, as Horovod and GRACE do"},
      Choice<Carrier>{"all-reduce", Carrier::all_reduce, "messages are summed on the way"},
      Choice<Carrier>{"all-gather", Carrier::all_gather, "every worker gets every message, decodes and adds them all"},
      Choice<Carrier>{"all-to-all-once", Carrier::all_to_all_once,
                      "each worker decodes and adds one part of all messages, and all-gathers the sum as it is"},
      Choice<Carrier>{
          "all-to-all", Carrier::all_to_all,
          "each worker decodes and adds one part of all messages, encodes the sum again, with its error, and all-gathers it"},
      Choice<Carrier>{
          "in-collective", Carrier::in_collective,
          "inside a ring all-reduce: every hop decodes, adds and encodes again, each with its error (Pipe-SGD)"},
  };
};

}  // namespace stepcast
