// The links of a cluster whose library changes its protocol with the size.
#pragma once

#include <optional>
#include <vector>

#include "calibrate/link/joint_fit.hpp"

namespace stepcast::calibrate {

struct ProtocolFit {
  LinkPrices links;
  double setup = 0;  ///< S
  std::vector<Protocol> protocols;
};

/// The least squares of the relative deviations of all rows of collectives, each row alike, from
///
///   S + min over protocols of (messages·a·α + bytes·β/b), of both kinds of links
///
/// and of a latency benchmark's time of no bytes from the same for one message without S,
/// over S, over α and β of each kind of link, and over each protocol's a >= 1 and b <= 1, of which one of each is 1. In
/// turn: α and β, given a and b and which protocol each row goes by; a and b, given α and β; then each row goes by the
/// quickest. From `joint` and several starts, which part the rows by their bytes a message, of which the best is kept.
///
/// As many protocols, at most `most` <= kMostProtocols, as lower N·ln(squares/N) + k·ln N (BIC; deviations below 0.01 %
/// count as none), each the quickest for three rows at least. Nothing where that is one.
std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, const JointFit& joint, int most);

}  // namespace stepcast::calibrate
