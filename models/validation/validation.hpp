// Predictions beside measurements: the error of the forecast, and whether it ranks the alternatives as measured.
//
//   error              forecast over measured time, minus 1: negative if the forecast is too fast. A rate (throughput,
//                      speedup, bandwidth) counts as the time that it is inverse to: measured/predicted - 1.
//   summaries          over the rows that set no constant of the study; the others are met by construction
//   ordered pairs      of two rows of one quantity, the one measured larger is also predicted larger, strictly.
//                      The rows of a pair differ on the suite's axis of alternatives and on no other. Rows measured
//                      within their spreads of each other, |m - m'| <= s·m + s'·m', rank nothing and make no pair.
//   tau                Kendall's: 2·ordered/pairs - 1, which is 1 if all are in order and 0 by chance
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/report/metrics.hpp"
#include "models/study/suite.hpp"
#include "models/validation/error_summary.hpp"

namespace stepcast {

/// Version of the JSON document's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kValidationSchemaVersion = 2;

/// One measured value beside the predicted one, both in SI.
struct ValidationRow {
  std::vector<Coordinate> coordinates;
  MeasuredQuantity quantity = MeasuredQuantity::step_time;
  double measured = 0;
  std::optional<double> spread;
  double predicted = 0;
  Evidence evidence = Evidence::measured;
  std::optional<std::string> fitted;  ///< the constant that was fitted to this row
  int workers = 1;                    ///< of the point's cluster
  std::optional<Band> band{};         ///< of forecast times, the forecast itself being 1 s

  [[nodiscard]] double error() const;
  /// Whether the measurement is within the forecast's error band. Empty without one.
  [[nodiscard]] std::optional<bool> is_inside() const;
};

struct ValidationSummary {
  ErrorSummary errors;                  ///< of the rows that were not fitted
  std::optional<double> largest_error;  ///< the error of the largest magnitude, with its sign
  std::size_t worst = 0;                ///< its row
  std::size_t pairs = 0, ordered = 0;
  std::size_t banded = 0, inside = 0;  ///< rows that were not fitted with an error band, and those within it

  [[nodiscard]] std::optional<double> tau() const {
    if (pairs == 0) return {};
    return 2.0 * static_cast<double>(ordered) / static_cast<double>(pairs) - 1;
  }
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

/// The suite's name and its changes: "hkbu-10gbe with --set /stack/host_cost=1ns/B".
std::string title_of(const Validation& validation);

/// The metric that suites measure under the quantity's name.
const Metric& metric_of(MeasuredQuantity quantity);

/// @param alternatives  the axis of alternatives to rank; empty: there are no pairs
ValidationSummary summary_of(const std::vector<ValidationRow>& rows, const std::optional<std::string>& alternatives);

/// All suites as one: the errors of all rows, and the pairs of each suite. Its `worst` is void.
ValidationSummary summary_of_all(const std::vector<Validation>& validations);

/// The errors by number of workers.
std::map<int, ErrorSummary> errors_by_workers(const std::vector<Validation>& validations);

/// @param report  of the suite's study
/// @throws ModelError when the report lacks the prediction of a measured quantity, naming it
Validation validate(const Suite& suite, const Report& report);

/// Why the errors exceed the suite's tolerance, one sentence each. Empty if they do not, or no tolerance is given.
std::vector<std::string> missed_limits(const Validation& validation);

/// "workers = 8, variant = ring"; "the study's one point" without coordinates.
std::string describe_point(const std::vector<Coordinate>& coordinates);

}  // namespace stepcast
