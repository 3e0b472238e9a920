// Along one field: where does each alternative pay, and which is the fastest?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/report/alternatives.hpp"
#include "models/report/crossover_search.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// Version of the JSON document's shape; rises when a field changes its meaning or goes away.
inline constexpr int kCrossoverSchemaVersion = 1;

/// What alternatives are compared by; more is better.
enum class Worth {
  throughput,      ///< samples of all workers per second
  step_time,       ///< 1 / step time, where nothing is trained
  run_time,        ///< 1 / time of the whole run
  time_to_target,  ///< 1 / time until the run's target is reached; 0 where the run ends before
};

/// To the target where every point knows when that is reached, else the run's time where every point is a run, else throughput
/// where every point trains.
Worth choose_worth(const std::vector<PointReport>& points);

/// @pre the point has such a worth, as all have that choose_worth has seen
double worth_of(Worth worth, const PointReport& point);

/// One situation's answer.
struct SituationCrossovers {
  std::vector<Coordinate> coordinates;
  std::vector<std::size_t> alternatives;  ///< those that it has, of all, in order; the search knows them by their place here
  CrossoverSearch search;
};

struct Crossovers {
  std::string name;
  std::string axis, pointer;  ///< the field
  AxisRange range;
  std::size_t grid = 0;       ///< values of it
  Worth worth = Worth::throughput;
  bool replayed = false;      ///< by the replay, not by the equations
  Arrangement arrangement;
  std::size_t reference = 0;  ///< of the arrangement's alternatives
  std::vector<SituationCrossovers> situations;
  std::vector<std::string> notes;
};

/// Headline, one row for each alternative in each situation, notes.
std::string to_text(const Crossovers& crossovers);
/// One line for each stretch, numbers in SI.
std::string to_csv(const Crossovers& crossovers);
/// The stretches, and every value that was evaluated with its worth.
Json crossover_document(const Crossovers& crossovers, const Json& manifest);

}  // namespace stepcast
