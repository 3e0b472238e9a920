// Settings of compressing: between whom, and where and when the compressor's kernels run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// Sharing of the GPU between compression kernels and training kernels that are ready at the same time.
enum class GpuSharing : std::uint8_t { serial, fair };

template <>
struct Choices<GpuSharing> {
  static constexpr std::array table = {
      Choice<GpuSharing>{"serial", GpuSharing::serial,
                         "one after the other: an encode kernel holds up back-propagation until it ends"},
      Choice<GpuSharing>{"fair", GpuSharing::fair,
                         "at the same time on separate streams, each at half speed (replay only)"},
  };
};

/// The senders and receivers of compressed messages.
enum class CodecScope : std::uint8_t { workers, machines };

template <>
struct Choices<CodecScope> {
  static constexpr std::array table = {
      Choice<CodecScope>{"workers", CodecScope::workers, "every worker compresses its own gradients"},
      Choice<CodecScope>{
          "machines", CodecScope::machines,
          "a machine's workers first reduce-scatter their gradients, as they are or by messages of inner_compressor. "
          "Each compresses its share of the sum, exchanges it with those of the same share on other machines, and they gather the results "
          "(ByteGrad, DALL-E's PowerSGD; strategy sharded gathers none). Servers with sum_in_machine get these shares "
          "(BytePS). One machine alone sends nothing by compressor, except to servers"},
  };
};

struct CodecSettings {
  Shared<DeviceProfile> device;
  double slowdown = 1;
  bool overlap = true;
  CodecScope scope = CodecScope::workers;
  GpuSharing sharing = GpuSharing::serial;
  bool whole_vectors = false;
  int min_elements = 0;
  Shared<std::vector<std::string>> whole;

  template <class V>
  static void describe(V& v, CodecSettings& x) {
    v.optional("device", x.device,
               "device profile that prices the compressor's kernels; null: the workload's, or the cluster's gpu");
    v.optional(
        "slowdown", x.slowdown,
        "factor on the times of all compressor kernels beyond their launches, above the device's rates, for code "
        "composed of a framework's operations. It does not apply to times that compressor ratio or the device's codecs "
        "give",
        Limits{0.0, true, 1e6});
    v.optional("overlap", x.overlap, "encode a gradient while back-propagation computes the next ones, not after it");
    v.optional("scope", x.scope, "between whom messages are compressed");
    v.optional(
        "min_elements", x.min_elements,
        "tensors of fewer elements are summed as they are, by a collective of each bucket's own; 0: all are compressed",
        at_least(0));
    v.optional("whole_vectors", x.whole_vectors,
               "the same for tensors of one dimension, such as those of norms and biases");
    v.optional(
        "whole", x.whole,
        "the same for tensors whose names match one of these patterns, such as *norm* or block.0.*: * stands for "
        "any characters, ? for one, !(a|b) for all but a and b. With a layer's kind before: batch_norm:*. null: none");
    v.optional("sharing", x.sharing, "how kernels that are ready at the same time divide the GPU");
  }
  bool operator==(const CodecSettings&) const = default;
};

}  // namespace stepcast
