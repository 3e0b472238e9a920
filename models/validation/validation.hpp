// Predictions beside measurements: the error of the forecast, and whether it ranks the alternatives as measured.
//
//   error              predicted/measured - 1
//   summaries          over the rows that set no constant of the study; the others are met by construction
//   median |error|     the middle |error|, or the mean of the middle two of an even number
//   ordered pairs      of two rows of one quantity, the one measured larger is also predicted larger, strictly.
//                      The rows of a pair differ on the suite's axis of alternatives and on no other. Rows measured
//                      within their spreads of each other, |m - m'| <= s·m + s'·m', rank nothing and make no pair.
//                      (2·ordered/pairs - 1 is Kendall's tau of one such set without ties.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/report/metrics.hpp"
#include "models/study/suite.hpp"

namespace stepcast {

/// Version of the JSON document's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kValidationSchemaVersion = 1;

/// One measured value beside the predicted one, both in SI.
struct ValidationRow {
  std::vector<Coordinate> coordinates;
  MeasuredQuantity quantity = MeasuredQuantity::step_time;
  double measured = 0;
  std::optional<double> spread;
  double predicted = 0;
  Evidence evidence = Evidence::measured;
  std::optional<std::string> fitted;  ///< the constant that was fitted to this row

  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

struct ValidationSummary {
  std::size_t predictions = 0;          ///< rows that were not fitted
  std::optional<double> median_error;   ///< of |error|; empty without predictions, like the next
  std::optional<double> largest_error;  ///< the error of the largest magnitude, with its sign
  std::size_t worst = 0;                ///< its row
  std::size_t pairs = 0, ordered = 0;
};

struct Validation {
  std::string name;
  std::string description;
  std::string source;
  std::string assumes;
  std::vector<std::string> axes;
  std::optional<std::string> alternatives;
  ErrorLimits tolerance;
  std::vector<ValidationRow> rows;  ///< in the suite's order
  ValidationSummary summary;
  std::size_t unmeasured = 0;     ///< points of the study without any measurement
  Notes notes;                    ///< of the measured points' forecasts, each once
  std::vector<std::string> sets;  ///< changes of the suite's study; empty: these are the suite's own errors
  std::size_t changed = 0;        ///< rows whose scenarios differ by that
};

/// The suite's name and its changes: "hkbu-10gbe with --set /cluster/host_cost=1ns/B".
std::string title_of(const Validation& validation);

/// The metric that suites measure under the quantity's name.
const Metric& metric_of(MeasuredQuantity quantity);

/// @param alternatives  the axis of alternatives to rank; empty: there are no pairs
ValidationSummary summary_of(const std::vector<ValidationRow>& rows, const std::optional<std::string>& alternatives);

/// @param report  of the suite's study
/// @throws ModelError when the report lacks the prediction of a measured quantity, naming it
Validation validate(const Suite& suite, const Report& report);

/// Why the errors exceed the suite's tolerance, one sentence each. Empty if they do not, or no tolerance is given.
std::vector<std::string> missed_limits(const Validation& validation);

/// "workers = 8, variant = ring"; "the study's one point" without coordinates.
std::string describe_point(const std::vector<Coordinate>& coordinates);

}  // namespace stepcast
