// The unknowns of a link's fits.
#pragma once

#include <cstddef>

namespace stepcast::calibrate {

/// S, α and β inside a host, what a message between hosts takes beyond that latency, and its β.
enum Column : std::size_t { kSetup, kInnerAlpha, kInnerBeta, kAlpha, kBeta, kColumns };

}  // namespace stepcast::calibrate
