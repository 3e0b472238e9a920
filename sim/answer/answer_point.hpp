// Makes the report of one point of a study. Equations run here; replays are given.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/price/recent_prices.hpp"
#include "models/report/report.hpp"
#include "models/study/study.hpp"
#include "sim/answer/kept_graphs.hpp"
#include "sim/answer/timed_workloads.hpp"

namespace stepcast {

/// The result of a replay: a forecast, or the reason for having none.
struct ReplayAnswer {
  std::optional<StepForecast> forecast;
  std::string error;
};

/// A point's report, or the reason for having none.
struct PointAnswer {
  std::optional<PointReport> report;
  std::string reason;
};

/// Keeps workloads and prices that points share. Not thread-safe.
class PointAnswerer {
 public:
  explicit PointAnswerer(Details details = Details::made) : details_(details) {}

  /// The result of the replay of one of the point's scenarios; null if it was not replayed.
  using Replays = std::function<const ReplayAnswer*(const Scenario&)>;

  /// @param missing  if given, takes the scenarios that need a replay and have none. If it took any, the answer has
  /// neither report nor reason. Without it, they are replayed now, in separate processes
  PointAnswer answer(const StudyPoint& point, const Replays& replays, std::vector<const Scenario*>* missing);

  /// The scenario's step graph, by the prices and graphs kept from earlier points.
  StepGraph graph_of(const Scenario& scenario);

 private:
  PointReport report(const StudyPoint& point, const Replays& replays, std::vector<const Scenario*>* missing);
  /// The same graph without the stack's shares of exchanges, which the equations compute with their prices.
  std::shared_ptr<KeptGraph> kept_graph_of(const Scenario& scenario);

  Details details_;
  TimedWorkloads workloads_;
  SidedWorkloads sides_;
  RecentPrices prices_;
  KeptGraphs graphs_;
};

}  // namespace stepcast
