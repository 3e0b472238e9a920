// Finds along one field where each alternative pays, and which one is the fastest.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/goal.hpp"
#include "models/search/crossover_search.hpp"
#include "models/study/alternatives.hpp"

namespace stepcast {

/// Version of the JSON document's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kCrossoverSchemaVersion = 1;

/// The stack's part of a step as a share of it: the least and the most over evaluated values of the field.
struct StackShares {
  double least = 0.0, most = 0.0;
};

/// One situation's answer.
struct SituationCrossovers {
  std::vector<Coordinate> coordinates;
  /// All its alternatives, in order. The search refers to them by their index here.
  std::vector<std::size_t> alternatives;
  CrossoverSearch search;
  std::vector<StackShares> stack{};  ///< by alternative, like `search`
};

struct Crossovers {
  std::string name;
  std::string axis, pointer;  ///< the field
  AxisRange range;
  std::size_t grid = 0;                               ///< values of it
  const Metric* metric = &find_metric("throughput");  ///< a metric that choose_metric may choose
  bool replayed = false;                              ///< by the replay, not by the equations
  Arrangement arrangement;
  std::size_t reference = 0;  ///< among the arrangement's alternatives
  std::vector<SituationCrossovers> situations;
  Notes notes;
};

/// Headline, one row for each alternative in each situation, notes.
std::string to_text(const Crossovers& crossovers);
/// One line for each interval, numbers in SI.
std::string to_csv(const Crossovers& crossovers);
/// The intervals, and every evaluated value with its score.
Json crossover_document(const Crossovers& crossovers, const Json& manifest);

}  // namespace stepcast
