// A study's answers as one JSON document.
#pragma once

#include "models/describe/json_fwd.hpp"
#include "models/report/report.hpp"
#include "models/study/study.hpp"
#include "sim/program/command.hpp"

namespace stepcast {

/// The report's document (report/writers.hpp) with its manifest and the answer in a sentence.
Json whole_document(const Study& study, const Report& report, const Invocation& invocation);

}  // namespace stepcast
