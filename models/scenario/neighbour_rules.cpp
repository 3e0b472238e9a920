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
      : neighbours_(neighbours),
        workers_(workers),
        p_(workers / neighbours.island),
        who_(neighbours.island > 1 ? "islands" : "workers"),
        faults_(faults) {}

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
            fmt::format("{}, {} ranks, for {} {}", fmt::join(neighbours_.dimensions, " x "), ranks, p_, who_),
            fmt::format("dimensions whose product is the number of {}, or []", who_));
  }

  void check_hypercube() {
    const int below = 1 << floor_log2(p_);
    if (below != p_)
      fault("/strategy/graph", fmt::format("\"{}\" of {} {}", name_of(neighbours_.graph), p_, who_),
            fmt::format("a power of two of {}", who_),
            fmt::format("use {} or {} {}, or an exponential graph", below, 2 * below, who_));
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
    if (!is_connected(neighbours_, workers_))
      fault("/strategy/edges",
            fmt::format("{} pair{} that leave{} some of {} {} apart", neighbours_.edges.size(),
                        neighbours_.edges.size() == 1 ? "" : "s", neighbours_.edges.size() == 1 ? "s" : "", p_, who_),
            fmt::format("pairs that join all {}, directly or by others", who_));
  }

  /// A ring has few messages, and no limit.
  void check_messages() {
    constexpr std::int64_t kMost = 1 << 21;
    const std::int64_t messages = message_count(neighbours_, workers_);
    if (neighbours_.graph != NeighbourGraph::ring && messages > kMost)
      fault("/strategy/graph",
            fmt::format("\"{}\" of {} {}: {} messages a step", name_of(neighbours_.graph), p_, who_, messages),
            fmt::format("at most {} messages", kMost),
            fmt::format("use fewer {}, or a graph with fewer neighbours", who_));
  }

  const Neighbours& neighbours_;
  const int workers_;
  const int p_;  ///< ranks of the graph
  const char* who_;
  std::vector<Fault>& faults_;
};

}  // namespace

void check_neighbours(const Neighbours& neighbours, int workers, std::vector<Fault>& faults) {
  NeighbourChecker(neighbours, workers, faults).run();
}

}  // namespace stepcast
