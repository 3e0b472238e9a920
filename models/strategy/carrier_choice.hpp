// The carrier that `auto` takes for compressed messages: the one with the shorter step.
#pragma once

#include <functional>

#include "models/strategy/builder.hpp"

namespace stepcast {

/// The step graph by this carrier, or with `auto` by the cheapest one that encodes each gradient once. The graph says
/// which that is. Messages that can be summed have no choice: a sum is never dearer than a gather, since recursive
/// doubling sends lg p messages where a gather gets p-1. Others are gathered, or summed in parts at their owners.
/// With other compressors, messages that can be summed are summed, and all others have one carrier.
/// The steps of both are compared in the long run, on workers of speed 1, with all that overlaps.
/// @param build  the step graph by a carrier that is not `auto`
StepGraph with_cheapest_carrier(const GraphInput& input, Carrier carrier,
                                const std::function<StepGraph(Carrier)>& build);

}  // namespace stepcast
