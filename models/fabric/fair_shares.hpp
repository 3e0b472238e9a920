// Max-min fair rates of flows.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "models/fabric/flow_system.hpp"

namespace stepcast {

/// The max-min fair rates of a quotient's running flows, by progressive filling: all rates rise together until a link is
/// full. Its flows keep their rate, and the others rise on (Bertsekas and Gallager, "Data Networks", 6.5.2).
///
/// The time grows with the number of running flows and their links, not with the quotient.
class FairShares {
 public:
  /// @param quotient  has to live as long
  explicit FairShares(const Quotient& quotient) : quotient_(quotient), links_(quotient.links.size()) {}

  /// Sets rate[i] of running[i], in bytes per second.
  /// @param running  numbers of flows with links; a flow may run several times at once
  void share(std::span<const std::size_t> running, std::vector<double>& rate);

  /// Tolerance for sums of the same numbers in different order.
  static constexpr double kRounding = 1e-12;

 private:
  struct Link {
    double left = 0.0;  ///< bandwidth without the flows that have their rate
    int flows = 0;      ///< flows without a rate
    bool full = false;
  };

  void open(std::span<const std::size_t> running);
  double fill();
  void close(std::size_t flow, double rate);
  [[nodiscard]] bool is_stopped(std::size_t flow) const;

  const Quotient& quotient_;
  std::vector<Link> links_;
  std::vector<std::size_t> used_;  ///< links of running flows
  std::vector<std::size_t> open_;  ///< positions in `running` of flows without a rate
};

}  // namespace stepcast
