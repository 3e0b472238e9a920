// Searches along a field, carried on together: all that they want to know in a round is answered in one batch.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/answer/field_points.hpp"

namespace stepcast {

/// Asks the points what the searches want to know until none wants more. A search has requests() and answer(requests,
/// scores), as CrossoverSearch and GoalSearch do.
/// @param search   of number i, in [0, count)
/// @param asked    the point and the value that a request of search i is for
/// @param rounds   after which a search has gone astray
/// @returns whether all has been found
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
