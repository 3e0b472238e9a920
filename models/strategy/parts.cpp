#include "models/strategy/parts.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <utility>

namespace stepcast {

std::vector<BucketPart> parts_of(const std::vector<Bucket>& buckets, const std::optional<Bytes>& partition) {
  std::vector<BucketPart> parts;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Bytes bytes = buckets[b].bytes;
    const double count = partition ? std::max(1.0, std::ceil(bytes / *partition)) : 1.0;
    parts.insert(parts.end(), static_cast<std::size_t>(count), {b, bytes / count, static_cast<int>(count)});
  }
  return parts;
}

std::vector<std::size_t> order_by_priority(
    std::vector<Turn> turns, const std::function<std::optional<Turn>(std::size_t turn, Seconds end)>& then) {
  const auto readier = [&](std::size_t a, std::size_t b) {
    return std::pair(turns[a].ready, a) < std::pair(turns[b].ready, b);
  };
  const auto weaker = [&](std::size_t a, std::size_t b) {
    return std::pair(turns[a].priority, b) < std::pair(turns[b].priority, a);
  };
  std::set<std::size_t, decltype(readier)> coming(readier);
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(weaker)> waiting(weaker);
  for (std::size_t i = 0; i < turns.size(); ++i) coming.insert(i);
  std::vector<std::size_t> order;
  Seconds free{};
  while (!coming.empty() || !waiting.empty()) {
    if (waiting.empty()) free = std::max(free, turns[*coming.begin()].ready);
    for (; !coming.empty() && turns[*coming.begin()].ready <= free; coming.erase(coming.begin()))
      waiting.push(*coming.begin());
    const std::size_t next = waiting.top();
    waiting.pop();
    order.push_back(next);
    free += turns[next].time;
    if (const auto more = then ? then(next, free) : std::nullopt) {
      turns.push_back(*more);
      coming.insert(turns.size() - 1);
    }
  }
  return order;
}

}  // namespace stepcast
