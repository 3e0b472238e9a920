// TCP's factors as an ideal cluster's links, to choose collectives by.
#pragma once

#include "models/part/cluster.hpp"

namespace stepcast {

/// The cluster on ideal transport that is nearest to `cluster` on TCP. Each latency is multiplied by its factor. Each
/// bandwidth B becomes min(f·B, f·W / (2α)) / c. Here f is the bandwidth's factor, W the window, and α the link's
/// latency without its factor. The divisor c is 1.05 where acknowledgements take 5 % of the other direction, in which
/// as much is sent. Only the replay knows how TCP flows share a link, and the latency of a whole route. Forecasts
/// therefore need the replay; these prices only serve the choices of "auto". A cluster on ideal transport stays as it
/// is. Source: Velho and Legrand, LV08; SimGrid 3.32, network/TCP-gamma and network/crosstraffic.
Cluster ideal_equivalent(Cluster cluster);

}  // namespace stepcast
