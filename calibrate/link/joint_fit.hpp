// The numbers of one cluster from several benchmarks of it.
#pragma once

#include <vector>

#include "calibrate/link/link_fit.hpp"

namespace stepcast::calibrate {

/// The benchmarks that a cluster is made of.
struct LinkSources {
  std::vector<const BenchmarkFit*> collectives;  ///< between hosts, or all of them where nothing tells links apart
  std::vector<const BenchmarkFit*> inside;       ///< collectives inside one host, of links of its own
  std::vector<const BenchmarkFit*> latency, bandwidth;  ///< benchmarks of a message

  /// Whether the fit distinguishes links inside hosts from links between them.
  [[nodiscard]] bool two_kinds() const { return !inside.empty(); }
};

/// α and β of a message between hosts and of one inside a host, in s and s/B. A message between hosts passes both
/// links.
struct JointFit {
  Interval alpha, beta;
  Interval inner_alpha, inner_beta;  ///< 0 where nothing was measured inside
  double setup = 0;                  ///< S
  bool tells_setup = false;          ///< whether S is told from latency; otherwise 0
};

/// α and β as a fit takes them.
LinkPrices prices_of(const JointFit& joint);

/// Minimises the squares of the relative deviations from these values, with α, β and S of at least 0:
///   S + rounds·α  from a collective's time of no bytes, by its smallest range. Rings between hosts and inside use the
///                 mean of their hops' α (models/collective/ring_latencies.hpp)
///   factor·β      from its time per byte, by its largest range
///   α             from a message's time of no bytes, by the smallest range of a latency benchmark
///   β             from a message's time per byte, without collectives
/// Each file therefore counts alike. If segments or the algorithm depend on the size, there are no lines, and each row
/// counts:
///   S + messages·α + bytes·β, with the messages and bytes that are the cheapest at this α and β
/// The cheapest time changes with α and β as if the choice were fixed, so this is the method of Gauss and Newton. It
/// has several starts. A latency benchmark, or collectives with different rounds, separate S from latency.
/// @throws std::invalid_argument if time does not grow with size
JointFit fit_jointly(const LinkSources& sources);

}  // namespace stepcast::calibrate
