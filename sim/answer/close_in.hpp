// Searches along a field, run together. One batch answers all their requests of a round.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/answer/field_points.hpp"

namespace stepcast {

/// Answers the searches' requests until none has more. A search has requests() and answer(requests, scores), like
/// CrossoverSearch and GoalSearch.
/// @param search   search number i, in [0, count)
/// @param asked    the point and the value of a request of search i
/// @param rounds   limit that only a broken search exceeds
/// @returns whether all searches have ended
template <class SearchOf, class AskedBy>
bool close_in(FieldPoints& points, std::size_t count, SearchOf&& search, AskedBy&& asked, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<decltype(search(0).requests())> requests;
    FieldPoints::Wanted wanted;
    for (std::size_t i = 0; i < count; ++i) {
      requests.push_back(search(i).requests());
      for (const auto& request : requests.back()) {
        const auto [point, value] = asked(i, request);
        wanted[point].insert(value);
      }
    }
    if (wanted.empty()) return true;
    points.know(wanted);
    for (std::size_t i = 0; i < count; ++i) {
      if (requests[i].empty()) continue;
      std::vector<double> scores;
      for (const auto& request : requests[i]) {
        const auto [point, value] = asked(i, request);
        scores.push_back(points.score(point, value));
      }
      search(i).answer(requests[i], scores);
    }
  }
  return false;
}

}  // namespace stepcast
