// The prices of a cluster's hosts.
#pragma once

#include <optional>

#include "models/describe/describe.hpp"

namespace stepcast {

/// Prices of hosts per hour, in any currency.
struct HourlyPrices {
  double worker = 0.0;
  std::optional<double> server{};

  template <class V>
  static void describe(V& v, HourlyPrices& x) {
    v.required("worker", x.worker, "price of an hour of one worker, in any currency", non_negative);
    v.optional("server", x.server,
               "price of an hour of one dedicated parameter server, in the same currency; null: a "
               "worker's",
               non_negative);
  }
  bool operator==(const HourlyPrices&) const = default;
};

}  // namespace stepcast
