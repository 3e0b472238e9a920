// A device profile's spread: the possible distance of its times from the true ones.
//
// A measured part of a layer has the spread of its entry. A kernel whose kind has a model has the model's spread. The
// roofline prices a part without either. Its error is
// larger than the noise of its constants, because they describe large kernels and not this one. The error is known
// where both times exist. For each measured part i with time t_i and roofline time r_i, the factor is f_i =
// max(t_i/r_i, r_i/t_i). With the sorted factors of one type f_(1) <= ... <= f_(n), its spread is
//
//     1 + s = f_(k),   k = min(n, ceil(0.9 · (n + 1)))
//
// This is the 90 % quantile of split conformal prediction (Lei et al., JASA 113, 2018). Assume that a new part is
// equally likely to have any rank among the measured ones. It is then within f_(k) with probability at least k/(n + 1):
// 90 % from nine parts on, 1/2 with one part. The spread is a factor because model errors are, and it holds both ways
// like every spread. Each part counts once, independent of its duration and of the number of layers that use it.
//
// Each type has its own spread, since tensor cores are further from their peak than other units. A type without
// measurements takes the widest spread of the others. An example is the update of a table in tf32, which moves fp32.
#pragma once

#include <optional>
#include <vector>

#include "models/part/profile.hpp"

namespace stepcast {

/// The roofline's deviation from the profile's measured layers, for each of their types; empty without such layers.
/// @throws ModelError when the profile lacks a peak for one of these types
std::vector<RooflineSpread> judge_roofline(const DeviceProfile& profile);

/// The spread of roofline times for an operand type: the type's own, else the widest of any type. Null if none is
/// known.
const RooflineSpread* find_roofline_spread(const DeviceProfile& profile, Dtype dtype);

/// Whether any entry has a spread.
bool has_spread(const DeviceProfile& profile);

enum class Side { fast, slow };

/// The profile with every time at one side of its band: t/(1 + s) or t·(1 + s), rates r·(1 + s) or r/(1 + s). Entries
/// without a spread stay unchanged. Launch overhead, memory bandwidth and peaks move by their own spread and by the
/// roofline's spread for `dtype`. Kernels with a model move by the model's spread alone. All other times without an entry follow, since the roofline is linear in launch,
/// 1/bandwidth and 1/peak: layers, update and compressor kernels.
DeviceProfile at_side(DeviceProfile profile, Side side, Dtype dtype);

}  // namespace stepcast
