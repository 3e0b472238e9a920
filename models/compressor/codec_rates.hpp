// The rates of a compressor's kernels from a device profile.
#pragma once

#include <optional>
#include <string_view>

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/compressor.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// The rates of a method's kernels: rates_of for each kernel in the profile; device_rates for all others. An entry such
/// as "decode/qsgd" is that method's "decode", before the entry "decode" of all methods. Two methods run another's kernels:
/// SIGNUM those of SignSGD, Qsparse-local-SGD those of QSGD.
/// @param method  a compressor's kind
/// @throws ModelError when the profile has no peak
CodecRates codec_rates(const DeviceProfile& profile, std::string_view method);

/// The profile's entry for a method's kernel by the same rule; null if there is none.
const KernelEntry* find_codec_kernel(const DeviceProfile& profile, std::string_view kernel, std::string_view method);

/// The least evidence among the entries of a compressor's kernels: transferred if one of them is, else measured. Empty if
/// one of them has no entry, or an assumed one.
std::optional<Evidence> evidence_of_codec(const DeviceProfile& profile, const Compressor& compressor);

}  // namespace stepcast
