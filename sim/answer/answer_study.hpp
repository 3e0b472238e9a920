// All answers to a study at once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/answer/answer.hpp"

namespace stepcast {

/// Told now and then how far the answers are.
using PointProgress = std::function<void(const AnswerCount&)>;

/// Each point's answer.
/// @param jobs  replay processes at a time
std::vector<PointAnswer> answer_points(std::span<const StudyPoint> points, int jobs,
                                       const PointProgress& progress = {});

/// The report of all points, those that fail apart.
Report answer_study(const Study& study, int jobs, const PointProgress& progress = {});

/// The same where every point has to have an answer.
/// @throws std::runtime_error of the first that has none, naming the point
Report answer_whole_study(const Study& study, int jobs, const PointProgress& progress = {});

}  // namespace stepcast
