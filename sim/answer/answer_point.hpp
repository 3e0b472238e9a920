// One point of a study to its report: equations here, replays as they are handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/price/recent_prices.hpp"
#include "models/report/report.hpp"
#include "models/study/study.hpp"
#include "sim/answer/timed_workloads.hpp"

namespace stepcast {

/// What a replay came to: a forecast, or why there is none.
struct ReplayAnswer {
  std::optional<StepForecast> forecast;
  std::string error;
};

/// A point's report, or why it has none.
struct PointAnswer {
  std::optional<PointReport> report;
  std::string reason;
};

/// Keeps what points share of workloads and prices. Not for several threads.
class PointAnswerer {
 public:
  /// What the replay of one of the point's scenarios came to; null for one that was not replayed.
  using Replays = std::function<const ReplayAnswer*(const Scenario&)>;

  /// @param missing  where it is given: takes the scenarios that a replay has to answer and none has; if it took any, the
  ///                 answer is neither report nor reason. Without it they are replayed now, in processes of their own
  PointAnswer answer(const StudyPoint& point, const Replays& replays, std::vector<const Scenario*>* missing);

 private:
  PointReport report(const StudyPoint& point, const Replays& replays, std::vector<const Scenario*>* missing);

  TimedWorkloads workloads_;
  RecentPrices prices_;
};

}  // namespace stepcast
