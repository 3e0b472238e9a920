// TCP's factors as an ideal cluster's links, to choose collectives by.
#pragma once

#include "models/part/cluster.hpp"

namespace stepcast {

/// The cluster on ideal transport that is nearest to `cluster` on TCP: each latency times its factor; each bandwidth B
/// becomes min(f·B, f·W / (2α)) / c, where f is the bandwidth's factor, W the window, α the link's latency without its
/// factor, and c = 1.05 where acknowledgements take 5 % of the other direction, in which as much is sent. Only the
/// replay knows how TCP flows share a link, and the latency of a whole route. So forecasts need the replay, and
/// "auto" is a choice by these prices. A cluster on ideal transport stays as it is.
/// Source: Velho and Legrand, LV08; SimGrid 3.32, network/TCP-gamma and network/crosstraffic.
Cluster ideal_equivalent(Cluster cluster);

}  // namespace stepcast
