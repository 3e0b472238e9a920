// The rows of suites that constants are fitted to, and the fit.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/override.hpp"
#include "models/study/suite.hpp"
#include "models/validation/fit.hpp"
#include "models/validation/row_selection.hpp"
#include "sim/answer/field.hpp"

namespace stepcast {

/// Suites at values of the constants, and the rows that are trained.
class Training {
 public:
  Training(std::vector<Suite> suites, std::vector<Override> changes, std::vector<Field> fields, int jobs)
      : suites_(std::move(suites)), changes_(std::move(changes)), fields_(std::move(fields)), jobs_(jobs) {}

  /// Trains only rows for which this holds, too.
  void train(RowCondition condition) { conditions_.push_back(std::move(condition)); }

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

  /// Without values: as the suites and --set have them. A constant changes the suites that have its field.
  [[nodiscard]] std::vector<Suite> suites_at(const std::vector<double>& values) const;

  [[nodiscard]] std::vector<Validation> at(const std::vector<double>& values) const;

  [[nodiscard]] bool is_trained(const Validation& validation, const ValidationRow& row) const;

  /// The values of trained rows on an axis, each once.
  /// @throws UsageError if there are fewer than two
  [[nodiscard]] std::vector<std::string> values_on(const std::string& axis,
                                                   const std::vector<Validation>& validations) const;

  [[nodiscard]] std::vector<double> residuals(const std::vector<Validation>& validations) const;

  /// Root mean square of the published spreads of trained rows; 0 if none is known.
  [[nodiscard]] double published_spread(const std::vector<Validation>& validations) const;

  /// The validations with their trained rows alone, or with the others that no constant was fitted to.
  [[nodiscard]] std::vector<Validation> part(const std::vector<Validation>& validations, bool trained) const;

 private:
  std::vector<Suite> suites_;
  std::vector<Override> changes_;
  std::vector<Field> fields_;
  std::vector<RowCondition> conditions_;
  int jobs_;
};

/// Refuses suites that the equations do not forecast.
/// @throws UsageError
void require_equations(const std::vector<Suite>& suites);

/// The constants fitted to a training's rows.
struct Fitted {
  Fit fit;
  std::vector<double> values;
};

/// @param before  the validations without values
/// @throws UsageError for constants that the rows do not determine; ScenarioError if no tried value is possible
Fitted fitted(const Training& training, const std::vector<Validation>& before);

}  // namespace stepcast
