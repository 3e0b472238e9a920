#include "models/collective/direct.hpp"

#include <algorithm>
#include <vector>

namespace stepcast {

CostTerms shard_exchange_cost(std::span<const Bytes> shard_bytes, int p, bool co_located) {
  CostTerms terms;
  const double flows = co_located ? p - 1 : p;
  std::vector<Bytes> sizes;
  for (const Bytes bytes : shard_bytes)
    if (bytes > Bytes{}) sizes.push_back(bytes);
  if (flows < 1 || sizes.empty()) return terms;
  std::sort(sizes.begin(), sizes.end());
  Bytes wire{}, previous{}, total{};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double running = co_located ? 0.0 : static_cast<double>(sizes.size() - k);
    wire += (sizes[k] - previous) * std::max(flows, running);
    previous = sizes[k];
    total += sizes[k];
  }
  terms.add(Path::shard, 1, wire);
  terms.sent = total * flows / p;
  // With a shard on every worker's host, each worker keeps its own share locally.
  terms.copied[static_cast<int>(Path::shard)] =
      co_located && static_cast<std::size_t>(p) == sizes.size() ? total - sizes.front() : total;
  return terms;
}

}  // namespace stepcast
