// The report: for every point of a study what a step takes, how that compares, and where the time goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/describe/note.hpp"
#include "models/equation/error_band.hpp"
#include "models/equation/exchange_summary.hpp"
#include "models/equation/lower_bound.hpp"
#include "models/forecast/forecast.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/report/run_time.hpp"
#include "models/report/worker_memory.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// Version of the JSON report's shape; rises when a field changes its meaning or goes away.
inline constexpr int kReportSchemaVersion = 3;

/// A lower bound this many times below the forecast is worth a second look at the scenario.
inline constexpr double kLargeGap = 2.0;

/// The answers of the evaluators that were asked, for one scenario.
struct Answers {
  std::optional<StepForecast> equations;
  std::optional<StepForecast> replay;

  /// The one that the report shows: the replay where there is one.
  [[nodiscard]] const StepForecast& shown() const { return replay ? *replay : *equations; }
  /// Relative difference of the replay's step time from the equations', where both were asked.
  [[nodiscard]] std::optional<double> difference() const;
};

/// "equations", "replay" or "both".
constexpr std::string_view evaluators_of(const Answers& answers) {
  return answers.equations && answers.replay ? "both" : answers.replay ? "replay" : "equations";
}

/// What workers of one kind spend a step on, their mean.
struct KindReport {
  WorkerKind kind;
  Breakdown breakdown;
};

struct PointReport {
  std::vector<Coordinate> coordinates;
  Evaluator evaluator = Evaluator::automatic;  ///< that was asked
  int workers = 1;
  std::string strategy;   ///< its kind
  std::string algorithm;  ///< of its collectives, with parameters that were decided; empty without any
  Answers answers;
  double samples_per_second = 0.0;           ///< throughput of all workers; 0 without a workload
  std::optional<double> tokens_per_worker;   ///< of a transformer, a second: all workers' sequences over their number
  std::optional<double> mfu;                 ///< model FLOPs (layer_work.hpp) a second over what all peaks add up to
  std::optional<double> speedup;             ///< throughput over the baseline's
  std::optional<double> cost_per_million;    ///< samples, in the currency of the cluster's prices
  std::optional<double> scaling_efficiency;  ///< throughput / (p · throughput of one worker computing alone)
  std::string compressor;                    ///< its kind
  Bytes payload{};       ///< a worker's messages of a step as the compressor makes them; 0 where only a collective runs
  Bytes message_size{};  ///< n: bytes that a step's collectives (or pushes) exchange
  Bytes sent_per_worker{};                   ///< bytes a worker puts on the wire in a step, mean over workers
  std::optional<BytesPerSecond> algbw;       ///< n over the time the exchange takes on its own
  std::optional<BytesPerSecond> busbw;       ///< algbw times nccl-tests' factor, 2(p-1)/p for an all-reduce
  std::optional<std::int64_t> global_batch;  ///< samples of a step that all workers share, where that is given
  std::int64_t batch = 0;                    ///< samples of a worker's pass; 0 where nothing is trained
  int accumulation = 0;                      ///< passes of a worker in a step; 0 where nothing is trained
  std::optional<WorkerMemory> memory;        ///< that a worker needs, where something is trained
  bool recomputes = false;                   ///< whether activations are computed again to save memory
  std::optional<double> memory_share{};      ///< of what the device has, where that is known
  std::string lacks_memory{};  ///< not empty: what is known of that is more than the device has, and how much it is
  std::optional<Band> band;    ///< of the step time, where a profile knows its spread
  Bound bound;
  double gap = 0.0;               ///< step time over the bound, minus 1; 0 where the bound leaves communication out
  double tolerance = 0.0;         ///< of the difference, when both evaluators were asked
  std::optional<RunReport> run;   ///< of the whole training, where the scenario is a run
  std::vector<KindReport> kinds;  ///< where workers are of several kinds, each one's part in the breakdown
  /// Why the equations' answer may not be the replay's; empty where it is, or they were not asked.
  std::string estimate;
  Notes notes;  ///< what a reader should know before trusting the number
};

/// A point that has no answer, and why.
struct FailedPoint {
  std::size_t index = 0;  ///< in the study
  std::vector<Coordinate> coordinates;
  std::string reason;
};

struct Report {
  std::string name;
  std::string description;
  std::string baseline;  ///< what speedups are against
  /// Whether the scenario says it; otherwise a row's is one worker that computes alone what the row trains.
  bool given_baseline = false;
  std::vector<std::string> axes;
  std::vector<PointReport> points;    ///< that have an answer, in the study's order
  std::vector<FailedPoint> failed{};  ///< the others, in that order too
};

/// A scenario's workload and what its step came to.
struct Answered {
  const Workload& workload;
  Answers answers;
};

/// All that a point's report is made of; mirrors StudyPoint.
struct AnsweredPoint {
  Answered own;
  const StepGraph& graph;  ///< of its own step, as are the exchange, the band and the notes
  ExchangeSummary exchange;
  ErrorBand band{};
  std::span<const Note> timing_notes{};  ///< on the workload (workload/timing_notes.hpp)
  std::vector<Answered> phases{};
  std::optional<Answered> baseline{};
  std::vector<Answered> baseline_phases{};
};

/// Assembles a point's report.
/// @pre each scenario of the point is answered
PointReport make_point_report(const StudyPoint& point, const AnsweredPoint& answered);

/// What the points' speedups are against: the name of the baseline that all of them give, or what default_baseline
/// says; where they have several, that each row has its own, and all their names.
std::string baseline_of(const std::vector<StudyPoint>& points);

/// What speedups are against where no baseline is given: "one worker computing alone", and whose network, or else
/// batch, accumulation and recomputation, where points differ in that, since then speedups do not rank them.
std::string default_baseline(const std::vector<StudyPoint>& points);

/// Throughput of all workers, p·samples / step; 0 where nothing is trained.
double throughput(const Scenario& scenario, const Workload& workload, Seconds step);

}  // namespace stepcast
