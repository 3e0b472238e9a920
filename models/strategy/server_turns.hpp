// The order in which links carry pushes and pulls of parts by priority.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/strategy/step_graph.hpp"
#include "models/unit/units.hpp"

namespace stepcast {

/// The times of a part's messages and of the shards' work between them, if all workers exchange it at once.
struct PartTimes {
  Seconds push{}, pull{};
  std::vector<std::optional<Seconds>> serve;  ///< by shard; none: it has nothing of the part
};

/// Shards that serve one push after another, side by side.
class Shards {
 public:
  explicit Shards(int count) : free_(static_cast<std::size_t>(count)) {}
  /// Returns the end of the work on a push that ended at `pushed`.
  Seconds serve(const PartTimes& part, Seconds pushed);

 private:
  std::vector<Seconds> free_;
};

struct Turn;

/// A push or a pull of a part.
struct Exchanged {
  ShardExchange exchange = ShardExchange::push;
  std::size_t part = 0;
};

/// The order in which links take the ready push or pull of the highest priority (parts.hpp).
/// @param pushes    by part: when it may be pushed, the time of its push, its priority
/// @param one_link  pushes and pulls share a link; else all pushes come first in the list, since only the order within
///                  each kind matters
std::vector<Exchanged> order_by_priority(std::vector<Turn> pushes, const std::vector<PartTimes>& times, int shards,
                                         bool one_link);

}  // namespace stepcast
