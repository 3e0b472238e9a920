// How a round of a collective follows the one before: copies, wire and delays of slices overlap.
//
// A host copies a message of n bytes in C, the wire carries it in W, and it arrives α later. Libraries cut a message
// into slices of s bytes. Let σ = min(1, s/n). A slice is sent on as soon as it has arrived, and the next slice is on
// the wire meanwhile. Copies and wire each handle one slice at a time. So the first slice of a round leaves
//
//     P = max(W, C, α + σ(W + C))
//
// after that of the round before, and a round that starts at 0 has arrived everywhere at
//
//     L = α + max(W, C) + σ·min(W, C).
//
// R equal rounds take ·P + L: for a ring, and for a tree whose inner ranks send on what they get. Without slices
// σ = 1, and both are α + W + C. R delays stay below every result.
#pragma once

#include <algorithm>

#include "models/part/stack.hpp"

namespace stepcast {

struct RoundPace {
  Seconds next{};  ///< P: until the next round may start
  Seconds last{};  ///< L: until all has arrived
};

/// @param share  σ
inline RoundPace pace_of(Seconds latency, Seconds wire, Seconds copies, double share) {
  const Seconds slower = std::max(wire, copies), faster = std::min(wire, copies);
  return {std::max(slower, latency + (wire + copies) * share), latency + slower + faster * share};
}

/// σ of a message.
inline double slice_share(const Stack& stack, Bytes message) {
  return stack.slice && message > *stack.slice ? *stack.slice / message : 1.0;
}

}  // namespace stepcast
