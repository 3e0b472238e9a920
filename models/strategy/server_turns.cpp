#include "models/strategy/server_turns.hpp"

#include <algorithm>
#include <utility>

#include "models/strategy/parts.hpp"

namespace stepcast {

Seconds Shards::serve(const PartTimes& part, Seconds pushed) {
  Seconds last = pushed;
  for (std::size_t j = 0; j < free_.size(); ++j) {
    if (!part.serve[j]) continue;
    free_[j] = std::max(free_[j], pushed) + *part.serve[j];
    last = std::max(last, free_[j]);
  }
  return last;
}

std::vector<Exchanged> order_by_priority(std::vector<Turn> pushes, const std::vector<PartTimes>& times, int shards,
                                         bool one_link) {
  Shards serving(shards);
  std::vector<Turn> pulls(times.size());
  std::vector<Exchanged> turns;  // by number
  for (std::size_t i = 0; i < times.size(); ++i) turns.push_back({ShardExchange::push, i});
  const std::vector<Turn> of_part = pushes;
  const auto pushed = [&](std::size_t turn, Seconds end) -> std::optional<Turn> {
    if (turn >= times.size()) return {};  // a pull
    pulls[turn] = {serving.serve(times[turn], end), times[turn].pull, of_part[turn].priority};
    if (!one_link) return {};
    turns.push_back({ShardExchange::pull, turn});
    return pulls[turn];
  };
  std::vector<Exchanged> order;
  for (const std::size_t turn : order_by_priority(std::move(pushes), pushed)) order.push_back(turns[turn]);
  if (!one_link)
    for (const std::size_t part : order_by_priority(pulls)) order.push_back({ShardExchange::pull, part});
  return order;
}

}  // namespace stepcast
