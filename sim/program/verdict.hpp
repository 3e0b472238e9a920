// The verdict on a study's answers as a whole.
#pragma once

#include <cstddef>
#include <string>

#include "models/report/report.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// Counts failed points, and collects the differences where both evaluators were asked.
struct Verdict {
  std::size_t points = 0, failed = 0, compared = 0, beyond_tolerance = 0;
  double largest_difference = 0;

  void add_difference(double difference, double tolerance);
  /// Reports the largest difference, if there is any.
  /// @returns the exit code
  [[nodiscard]] int judge() const;
};

/// Reports on standard error why a point has no answer.
void tell_failure(const std::string& file, const Study& study, std::size_t point, const std::string& reason);

/// Reports all failed points, and the difference between evaluators. @returns the exit code
int judge_report(const std::string& file, const Study& study, const Report& report);

}  // namespace stepcast
