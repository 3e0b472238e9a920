// SimGrid's settings for a transport, without SimGrid's headers.
#pragma once

#include "models/describe/json_fwd.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// SimGrid's settings for the cluster's transport, as names and values for the manifest.
///
/// Ideal: CM02 without factors, cross traffic, TCP window and round-trip-time weights. TCP: LV08 with its latency and
/// bandwidth factors, acknowledgements, window and round-trip-time weights.
Json transport_settings(const Transport& transport);

}  // namespace stepcast
