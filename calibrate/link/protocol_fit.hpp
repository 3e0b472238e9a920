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
/// A latency benchmark's time of no bytes deviates from the same for one message without S. The variables are S, α and β
/// of each kind of link, and each protocol's a >= 1 and b <= 1; one a and one b are 1.
///
/// Three steps repeat. The first fits α and β, given a, b and each row's protocol. The second fits a and b, given α and
/// β. The third gives each row its fastest protocol. It starts from `joint` and from several divisions of the rows by
/// their bytes a message, and keeps the best result.
///
/// Protocols are added, up to `most` <= kMostProtocols, while they lower N·ln(squares/N) + k·ln N (BIC; deviations below
/// 0.01 % count as none). Each must be the fastest for at least three rows. Empty if only one is left.
std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, const JointFit& joint, int most);

}  // namespace stepcast::calibrate
