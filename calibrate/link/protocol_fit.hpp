// The links of a cluster whose library changes its protocol with the size.
#pragma once

#include <optional>
#include <vector>

#include "calibrate/link/joint_fit.hpp"

namespace stepcast::calibrate {

struct ProtocolFit {
  LinkPrices links;
  double setup = 0;                 ///< S
  double buffer = 0;                ///< κ
  std::vector<Protocol> protocols;  ///< none if one is enough
};

/// The least squares of the relative deviations of all rows of collectives, each row alike, from
///
///   S + κ·n + min over protocols of (s + messages·a·α + bytes·β/b), of both kinds of links
///
/// A latency benchmark's time of no bytes deviates from the same for one message without S, κ and s. The variables are
/// S, κ, α and β of each kind of link, and each protocol's s >= 0, a >= 1 and b <= 1; one s is 0, one a and one b are 1.
/// Without runs that separate S from latency, S and all s are 0. κ is a variable if runs send unlike shares of their
/// buffers, such as rings of 2 and 4 ranks; otherwise it is part of β.
///
/// Three steps repeat. The first fits S, s, κ, α and β, given a, b and each row's protocol. The second fits S, s, κ, a
/// and b, given α and β. The third gives each row its fastest protocol. It starts from `joint` and from several
/// divisions of the rows by their bytes a message, and keeps the best result.
///
/// κ, protocols, up to `most` <= kMostProtocols, and their s are added where they lower N·ln(squares/N) + k·ln N (BIC; deviations
/// below 0.01 % count as none). Each protocol must be the fastest for at least three rows. Empty if neither is.
std::optional<ProtocolFit> fit_protocols(const LinkSources& sources, const JointFit& joint, int most);

}  // namespace stepcast::calibrate
