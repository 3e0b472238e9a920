// A device profile's spread: how far its times may be from the ones it states.
#pragma once

#include "models/scenario/profile.hpp"

namespace stepcast {

/// Whether any entry knows its spread.
bool has_spread(const DeviceProfile& profile);

enum class Side { fast, slow };

/// The profile with every time at one side of its band: t/(1 + s) or t·(1 + s), rates r·(1 + s) or r/(1 + s).
/// Entries without a spread stay.
DeviceProfile at_side(DeviceProfile profile, Side side);

}  // namespace stepcast
