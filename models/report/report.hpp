// The report: for every point of a study its step time, its ratios to others, and the breakdown of the time.
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
#include "models/study/axis_range.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// Version of the JSON report's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kReportSchemaVersion = 4;

/// If the forecast is this many times the lower bound, the scenario is worth a second look.
inline constexpr double kLargeGap = 2.0;

/// The answers of the chosen evaluators for one scenario.
struct Answers {
  std::optional<StepForecast> equations;
  std::optional<StepForecast> replay;

  /// The answer that the report shows: the replay's, if there is one.
  [[nodiscard]] const StepForecast& shown() const { return replay ? *replay : *equations; }
  /// Relative difference of the replay's step time from the equations', if both were asked.
  [[nodiscard]] std::optional<double> difference() const;
};

/// "equations", "replay" or "both".
constexpr std::string_view evaluators_of(const Answers& answers) {
  return answers.equations && answers.replay ? "both" : answers.replay ? "replay" : "equations";
}

/// The mean breakdown of a step, for workers of one kind.
struct KindReport {
  WorkerKind kind;
  Breakdown breakdown;
};

struct PointReport {
  std::vector<Coordinate> coordinates;
  Evaluator evaluator = Evaluator::automatic;  ///< the evaluator asked for
  int workers = 1;
  std::string strategy;   ///< its kind
  std::string algorithm;  ///< of its collectives, with chosen parameters; empty without collectives
  Answers answers;
  double samples_per_second = 0.0;  ///< throughput of all workers; 0 without a workload
  /// Sequences of a transformer per second, of all workers, divided by their number.
  std::optional<double> tokens_per_worker;
  std::optional<double> mfu;                 ///< model FLOPs (layer_work.hpp) per second over the sum of all peaks
  std::optional<double> speedup;             ///< throughput over the baseline's
  std::optional<double> cost_per_million;    ///< cost of a million samples, in the currency of the cluster's prices
  std::optional<double> scaling_efficiency;  ///< throughput / (p · throughput of one worker computing alone)
  std::string compressor;                    ///< its kind, or kinds
  Bytes payload{};          ///< a worker's messages of a step, after compression; 0 if only a collective runs
  Bytes message_size{};     ///< n: bytes that a step's collectives (or pushes) exchange
  Bytes sent_per_worker{};  ///< bytes a worker puts on the wire in a step, mean over workers
  std::optional<BytesPerSecond> algbw;       ///< n over the time of the exchange alone
  std::optional<BytesPerSecond> busbw;       ///< algbw times nccl-tests' factor, 2(p-1)/p for an all-reduce
  std::optional<std::int64_t> global_batch;  ///< samples of a step of all workers, if given
  std::int64_t batch = 0;                    ///< samples of a worker's pass; 0 without training
  int accumulation = 0;                      ///< passes of a worker in a step; 0 without training
  std::optional<WorkerMemory> memory;        ///< memory that a worker needs, if it trains
  bool shares_state = false;                 ///< whether workers share out the state of the model
  bool recomputes = false;                   ///< whether activations are computed again to save memory
  std::optional<double> memory_share{};      ///< of the device's memory, if that is known
  std::string lacks_memory{};                ///< if the known memory exceeds the device's: by how much; else empty
  std::optional<Band> band;                  ///< of the step time, if a profile or stack knows its spread
  Bound bound;                               ///< all zero in a search without jitter
  double gap = 0.0;               ///< step time over the bound, minus 1; 0 if the bound leaves communication out
  double tolerance = 0.0;         ///< of the difference, when both evaluators were asked
  std::optional<RunReport> run;   ///< of the whole training, if the scenario is a run
  std::vector<KindReport> kinds;  ///< breakdown of each kind, if workers are of several kinds
  /// Why the equations' answer may differ from the replay's. Empty if it may not, or they were not asked.
  std::string estimate;
  Notes notes;  ///< facts to know before trusting the number
};

/// Whether the point trains something: a benchmark of a collective moves bytes alone.
inline bool is_trained(const PointReport& p) { return p.samples_per_second > 0; }

/// A point without an answer, and the reason.
struct FailedPoint {
  std::size_t index = 0;  ///< its number in the study
  std::vector<Coordinate> coordinates;
  std::string reason;
};

/// The dimension of each axis; null without one.
using AxisUnits = std::vector<const ValueUnit*>;

struct Report {
  std::string name;
  std::string description;
  std::string baseline;  ///< the baseline of speedups
  /// Whether the scenario gives it. Otherwise, a row's baseline is one worker that trains the same alone.
  bool given_baseline = false;
  std::vector<std::string> axes;
  AxisUnits axis_units{};                   ///< of each axis (axis_columns.hpp); empty: none has a unit
  std::string answer{};                     ///< the study's answer in a sentence (answer_sentence.hpp); may be empty
  std::vector<std::string> answer_notes{};  ///< what to know before trusting that answer
  std::vector<PointReport> points;          ///< points with an answer, in the study's order
  std::vector<FailedPoint> failed{};        ///< the others, in that order too
};

/// A scenario's workload and the answers for its step.
struct Answered {
  const Workload& workload;
  Answers answers;
};

/// All inputs of a point's report; mirrors StudyPoint.
struct AnsweredPoint {
  Answered own;
  const StepGraph& graph;  ///< of its own step, like the exchange, the band and the notes
  ExchangeSummary exchange;
  ErrorBand band{};
  std::span<const Note> timing_notes{};  ///< about the workload (workload/timing_notes.hpp)
  std::vector<Answered> phases{};
  std::optional<Answered> baseline{};
  std::vector<Answered> baseline_phases{};
  /// worker_memory() of its own scenario, if that is known already.
  std::optional<WorkerMemory> memory{};
  Details details = Details::made;
};

/// Assembles a point's report.
/// @pre each scenario of the point is answered
PointReport make_point_report(const StudyPoint& point, const AnsweredPoint& answered);

/// The baseline of the points' speedups: the name that all of them give, or default_baseline. If they have several,
/// says that each row has a separate one, and names all.
std::string baseline_of(const std::vector<StudyPoint>& points);

/// The baseline if none is given: "one worker computing alone". If points differ in network, batch, accumulation or
/// recomputation, the text says whose the baseline has, since speedups then do not rank the points.
std::string default_baseline(const std::vector<StudyPoint>& points);

/// Throughput of all workers, p·samples / step; 0 without training.
double throughput(const Scenario& scenario, const Workload& workload, Seconds step);

}  // namespace stepcast
