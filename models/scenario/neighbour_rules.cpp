#include "models/scenario/neighbour_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepcast {
namespace {

class NeighbourChecker {
 public:
  NeighbourChecker(const Neighbours& neighbours, int workers, std::vector<Fault>& faults)
      : neighbours_(neighbours), p_(workers), faults_(faults) {}

  void run() {
    const std::size_t before = faults_.size();
    switch (neighbours_.graph) {
      case NeighbourGraph::torus: check_torus(); break;
      case NeighbourGraph::hypercube:
      case NeighbourGraph::one_peer_hypercube: check_hypercube(); break;
      case NeighbourGraph::edges: check_edges(); break;
      default: break;
    }
    if (faults_.size() == before) check_messages();
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void check_torus() {
    std::int64_t ranks = 1;
    for (const int size : neighbours_.dimensions) ranks = std::min<std::int64_t>(ranks * size, INT32_MAX);
    if (!neighbours_.dimensions.empty() && ranks != p_)
      fault("/strategy/dimensions",
            fmt::format("{}, {} ranks, for {} workers", fmt::join(neighbours_.dimensions, " x "), ranks, p_),
            "dimensions whose product is the number of workers, or []");
  }

  void check_hypercube() {
    const int below = 1 << floor_log2(p_);
    if (below != p_)
      fault("/strategy/graph", fmt::format("\"{}\" of {} workers", name_of(neighbours_.graph), p_),
            "a power of two of workers",
            fmt::format("use {} or {} workers, or an exponential graph", below, 2 * below));
  }

  void check_edges() {
    std::set<std::pair<int, int>> seen;
    for (std::size_t i = 0; i < neighbours_.edges.size(); ++i) {
      const auto& [a, b] = neighbours_.edges[i];
      std::string allowed;
      if (a == b) allowed = "two different ranks";
      else if (std::max(a, b) >= p_) allowed = fmt::format("ranks from 0 to {}", p_ - 1);
      else if (!seen.insert(std::minmax(a, b)).second) allowed = "each pair once";
      if (!allowed.empty())
        return fault(fmt::format("/strategy/edges/{}", i), fmt::format("ranks {} and {}", a, b), allowed);
    }
    if (!is_connected(neighbours_, p_))
      fault("/strategy/edges",
            fmt::format("{} pair{} that leave{} some of {} workers apart", neighbours_.edges.size(),
                        neighbours_.edges.size() == 1 ? "" : "s", neighbours_.edges.size() == 1 ? "s" : "", p_),
            "pairs that join all workers, directly or by others");
  }

  /// A ring has few messages, and no limit.
  void check_messages() {
    constexpr std::int64_t kMost = 1 << 21;
    const std::int64_t messages = message_count(neighbours_, p_);
    if (neighbours_.graph != NeighbourGraph::ring && messages > kMost)
      fault("/strategy/graph",
            fmt::format("\"{}\" of {} workers: {} messages a step", name_of(neighbours_.graph), p_, messages),
            fmt::format("at most {} messages", kMost), "use fewer workers, or a graph with fewer neighbours");
  }

  const Neighbours& neighbours_;
  const int p_;
  std::vector<Fault>& faults_;
};

}  // namespace

void check_neighbours(const Neighbours& neighbours, int workers, std::vector<Fault>& faults) {
  NeighbourChecker(neighbours, workers, faults).run();
}

}  // namespace stepcast
