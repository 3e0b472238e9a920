// How far a study's answers are, on standard error.
#pragma once

#include "program/progress.hpp"
#include "sim/answer/answer_study.hpp"

namespace stepcast {

/// Points, and the runs of replays beside them where there are any.
void show(Progress& progress, const AnswerCount& count, std::size_t failed = 0);

/// Shows it until the last copy is gone.
PointProgress shown_progress();

}  // namespace stepcast
