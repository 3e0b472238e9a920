// A device profile's spread: how far its times may be from the ones it states.
//
// A part of a layer that was measured has the spread of its entry. One that was not is priced by the roofline, which is
// further off than its constants are noisy: they say what large kernels reach, not what this one does. How far is known
// where both are: of every measured part i, time t_i against the roofline's r_i, the factor f_i = max(t_i/r_i,
// r_i/t_i). With f_(1) <= ... <= f_(n) those of a type, its spread is
//
//     1 + s = f_(k),   k = min(n, ceil(0.9 · (n + 1)))
//
// the 90 % quantile of split conformal prediction (Lei et al., JASA 113, 2018): a further part that is as likely to be
// any of the ranks as those measured, is within f_(k) with probability k/(n + 1) at least, 90 % from nine parts on, 1/2
// by one part. A factor, since errors of a model are; both ways, as every spread; each part once, however many layers
// it serves and however long it takes.
//
// Each type by itself, since tensor cores are further from their peak than the rest. A type of which nothing was
// measured takes the widest of the others: the update of a table in tf32, which moves fp32, is one.
#pragma once

#include <optional>
#include <vector>

#include "models/part/profile.hpp"

namespace stepcast {

/// How far the roofline is from the profile's measured layers, one for each type of theirs; none without any.
/// @pre the profile has a peak for each of these types, or a ModelError is thrown
std::vector<RooflineSpread> judge_roofline(const DeviceProfile& profile);

/// The spread of times by the roofline with operands of a type: the type's, else the widest of any; null where none is
/// known.
const RooflineSpread* find_roofline_spread(const DeviceProfile& profile, Dtype dtype);

/// Whether any entry knows its spread.
bool has_spread(const DeviceProfile& profile);

enum class Side { fast, slow };

/// The profile with every time at one side of its band: t/(1 + s) or t·(1 + s), rates r·(1 + s) or r/(1 + s). Entries
/// without a spread stay. Launch overhead, memory bandwidth and peaks move by their own spread and by the roofline's
/// for `dtype`; so does every time that follows from them, since the roofline scales as launch, 1/bandwidth and 1/peak
/// do together: times of layers, update and compressors' kernels without an entry.
DeviceProfile at_side(DeviceProfile profile, Side side, Dtype dtype);

}  // namespace stepcast
