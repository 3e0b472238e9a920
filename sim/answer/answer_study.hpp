// Answers a whole study at once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/answer/answer.hpp"

namespace stepcast {

/// Called now and then with the number of answers.
using PointProgress = std::function<void(const AnswerCount&)>;

/// Each point's answer.
/// @param jobs      replay processes at a time
/// @param answerer  of AnswerOptions
std::vector<PointAnswer> answer_points(std::span<const StudyPoint> points, int jobs, const PointProgress& progress = {},
                                       PointAnswerer* answerer = nullptr);

/// The report of all points; failed points are listed apart.
Report answer_study(const Study& study, int jobs, const PointProgress& progress = {},
                    PointAnswerer* answerer = nullptr);

/// The report if every point must have an answer.
/// @throws std::runtime_error for the first point without one, naming it
Report answer_whole_study(const Study& study, int jobs, const PointProgress& progress = {},
                          PointAnswerer* answerer = nullptr);

}  // namespace stepcast
