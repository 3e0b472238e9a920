// All answers to a study at once.
#pragma once

#include <span>
#include <vector>

#include "sim/answer/answer.hpp"

namespace stepcast {

/// Each point's answer.
/// @param jobs  replay processes at a time
std::vector<PointAnswer> answer_points(std::span<const StudyPoint> points, int jobs);

/// The report of all points, those that fail apart.
Report answer_study(const Study& study, int jobs);

/// The same where every point has to have an answer.
/// @throws std::runtime_error of the first that has none, naming the point
Report answer_whole_study(const Study& study, int jobs);

}  // namespace stepcast
