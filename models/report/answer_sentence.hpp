// The answer of a study in one sentence.
#pragma once

#include <string>
#include <vector>

#include "models/report/report.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// Says which alternative is the best, where, and how far it scales: "pipelined, K = 2 is the fastest from 2 workers
/// on; 9.36x on 64". Alternatives are those of usual_alternatives, compared by choose_metric. Without alternatives it
/// says the best point; for one point its step. Empty without an answered point.
/// @pre the report's points are the study's
std::string answer_sentence(const Study& study, const Report& report);

/// Cautions about that sentence: its alternatives may not be the same training.
std::vector<std::string> answer_notes(const Study& study);

}  // namespace stepcast
