// Settings for a compressor's kernels: where they run and when.
#pragma once

#include <optional>

#include "models/describe/describe.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// Sharing of the GPU between compression kernels and training kernels that are ready at the same time.
enum class GpuSharing { serial, fair };

template <>
struct Choices<GpuSharing> {
  static constexpr std::array table = {
      Choice<GpuSharing>{"serial", GpuSharing::serial,
                         "one after the other: an encode kernel holds up back-propagation until it ends"},
      Choice<GpuSharing>{"fair", GpuSharing::fair,
                         "at the same time on separate streams, each at half speed (replay only)"},
  };
};

struct CodecSettings {
  Shared<DeviceProfile> device;
  double slowdown = 1;
  bool overlap = true;
  GpuSharing sharing = GpuSharing::serial;

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
    v.optional("sharing", x.sharing, "how kernels that are ready at the same time divide the GPU");
  }
  bool operator==(const CodecSettings&) const = default;
};

}  // namespace stepcast
