#include "models/price/recent_prices.hpp"

#include <algorithm>

namespace stepcast {

const ClusterPrices& RecentPrices::of(const Cluster& cluster) {
  const auto known =
      std::find_if(recent_.begin(), recent_.end(), [&](const Priced& priced) { return priced.cluster == cluster; });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
  } else {
    recent_.emplace_front(cluster);
    if (recent_.size() > kMost) recent_.pop_back();
  }
  return recent_.front().prices;
}

}  // namespace stepcast
