#include "models/collective/schedule.hpp"

#include <algorithm>
#include <map>

namespace stepcast {

std::vector<SecondsPerByte> copies_by_rank(const Round& round, const HostCosts& costs) {
  std::vector<SecondsPerByte> sent(static_cast<std::size_t>(costs.workers)), received(sent.size());
  for (const Message& message : round) {
    const SecondsPerByte copies = costs.of(message.from, message.to) * static_cast<double>(message.slice.count);
    sent[message.from] += copies;
    received[message.to] += copies;
  }
  for (std::size_t rank = 0; rank < sent.size(); ++rank) sent[rank] = std::max(sent[rank], received[rank]);
  return sent;
}

RoundLoad load_of(const Round& round, const HostCosts& costs) {
  RoundLoad load;
  if (costs.any())
    for (const SecondsPerByte copies : copies_by_rank(round, costs)) load.copies = std::max(load.copies, copies);
  std::vector<double> reduced(static_cast<std::size_t>(costs.workers));
  for (const Message& message : round) {
    load.largest = std::max(load.largest, static_cast<double>(message.slice.count));
    load.in_network |= message.in_network;
    if (message.reduce) load.reduced = std::max(load.reduced, reduced[message.to] += message.slice.count);
  }
  return load;
}

std::vector<LikeRounds> unlike_rounds(const Schedule& schedule) {
  std::vector<LikeRounds> all;
  std::map<int, std::size_t> number;  // key: the first round of the kind
  int last_like = -1;
  std::size_t last = 0;
  for (int r = 0; r < schedule.rounds; ++r) {
    if (const int like = schedule.like_round(r); like != last_like) {
      last_like = like;
      const auto [entry, is_first] = number.try_emplace(like, all.size());
      last = entry->second;
      if (is_first) all.push_back({r, 0});
    }
    ++all[last].times;
  }
  return all;
}

std::int64_t message_count(const Schedule& schedule) {
  std::map<int, std::int64_t> known;  // key: the first round of the kind
  std::int64_t sum = 0;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [entry, is_new] = known.try_emplace(schedule.is_even ? 0 : schedule.like_round(r));
    if (is_new) entry->second = static_cast<std::int64_t>(schedule.round(r).size());
    sum += entry->second;
  }
  return sum;
}

}  // namespace stepcast
